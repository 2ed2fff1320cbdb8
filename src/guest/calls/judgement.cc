// Judges the changes that the callers of the access supervisor ask for, and reports them.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/text.h"
#include "guest/calls/calls.h"
#include "guest/places/kept_places.h"
#include "plan/git/files.h"
#include "plan/paths/names.h"
#include "sys/files/beneath.h"

namespace hutch::guest {

Status AccessCalls::judge(const AccessCall& call, const std::string& path) const {
  if (!asked_.still_waits(call)) return call_error(EINTR);
  return judge_rules(call, path);
}

Status AccessCalls::judge_rules(const AccessCall& call, const std::string& path) const {
  TRY(want_turn(call, path));
  const auto rule = plan::denied_name(names_, path);
  if (rule) return refuse(call, path, *rule);
  tell_instructions(call, path);
  return {};
}

Status AccessCalls::judge_name(const AccessCall& call, const std::string& path) const {
  // git-init(1) tries whether it can make links. Its link leads to the name beside it, and refused it would take links
  // for files from then on.
  const bool is_probe = call.kind == AccessKind::kMakeSymlink && plan::is_probe_of_git(path, call.text);
  const std::string beside = cat({std::string_view(path).substr(0, path.rfind('/') + 1), call.text});
  const auto rule = is_probe ? plan::moves_to_name(names_, beside, path, plan::Moved::kDirectoryOrLink)
                             : plan::leads_to_name(names_, path);
  if (rule) return refuse(call, path, *rule);
  const auto told = plan::moves_to_told(names_, "", path);
  if (told) asked_.instructs(call, path, *told);
  return {};
}

// A name that does not exist moves nothing: the kernel reports the error.
Status AccessCalls::judge_move(const AccessCall& call, const Entry& from, const Entry& to) const {
  const auto moved = sys::look_at_name(from.at(), from.name);
  if (!moved) return {};
  const mode_t mode = moved->mode;
  tell_rights(call, mode, to.path);
  const auto what = S_ISDIR(mode) || S_ISLNK(mode) ? plan::Moved::kDirectoryOrLink : plan::Moved::kFile;
  if (S_ISDIR(mode)) {
    const auto held = plan::holds_name(names_, from.path);
    if (held) return refuse(call, from.path, *held);
    if (moves_worktrees(from, to.path)) return refuse_git(call, from.path);
    // Programs that move files copy them after this error, and the supervisor judges each name.
    if (plan::leaves_packages(names_, from.path, to.path)) return call_error(EXDEV);
  }
  const auto rule = plan::moves_to_name(names_, from.path, to.path, what);
  if (rule) return refuse(call, to.path, *rule);
  if (S_ISREG(mode) && plan::judged_file(to.path) == plan::JudgedFile::kJujutsuRepository)
    return refuse_git(call, to.path);
  // git outside would follow a link, and wait for the other end of a pipe.
  if (S_ISLNK(mode)) TRY(judge_git_link(call, to.path, {}));
  if (!S_ISREG(mode) && !S_ISDIR(mode) && !S_ISLNK(mode)) TRY(judge_special(call, to.path));
  const bool leads = what == plan::Moved::kDirectoryOrLink;
  const auto told = leads ? plan::moves_to_told(names_, from.path, to.path) : std::nullopt;
  if (told) asked_.instructs(call, to.path, *told);
  return {};
}

// Any file of a judged name that can be removed was made in this sandbox: the host's own is a mount, or a configuration
// with a rule of its own.
Status AccessCalls::judge_removal(const AccessCall& call, const Entry& entry) const {
  if (!asked_.still_waits(call)) return call_error(EINTR);
  TRY(judge_lock(call, entry));
  const auto rule = plan::denied_name(names_, entry.path);
  const bool made_here = rule && rule->except.empty() && rule->pattern.starts_with("/**/.") &&
                         (plan::judged_file(entry.path) != plan::JudgedFile::kNone || is_own_git_config(entry));
  if (rule && !made_here) return refuse(call, entry.path, *rule);
  tell_instructions(call, entry.path);
  const std::string_view above = std::string_view(entry.path).substr(0, entry.path.rfind('/'));
  const auto kept = is_part(entry) ? plan::held_directory(names_, above) : std::nullopt;
  if (kept) return refuse(call, entry.path, *kept);
  return is_kept(entry) ? refuse_git(call, entry.path) : Status();
}

bool AccessCalls::is_kept(const Entry& entry) const {
  const std::string_view above = std::string_view(entry.path).substr(0, entry.path.rfind('/'));
  return is_kept_part(entry) || (is_part(entry) && plan::is_kept_repository(names_, above));
}

bool AccessCalls::is_config_lock(const Entry& entry) const {
  static constexpr std::string_view kLock = ".lock";
  if (!entry.path.ends_with("/config.lock") && !entry.path.ends_with("/config.worktree.lock")) return false;
  Entry config = entry;
  config.path.resize(config.path.size() - kLock.size());
  config.name = config.path.substr(config.path.rfind('/') + 1);
  return is_new_git_config(entry, config);
}

Status AccessCalls::judge_lock(const AccessCall& call, const Entry& entry, const sys::Resolved& what) const {
  const bool is_outside = S_ISREG(what.mode) && is_config_lock(entry) && !configs_.is_own_lock(what);
  return is_outside ? refuse_git(call, entry.path) : Status();
}

Status AccessCalls::judge_lock(const AccessCall& call, const Entry& entry) const {
  if (!is_config_lock(entry)) return {};
  const auto there = sys::look_at_name(entry.at(), entry.name);
  return there ? judge_lock(call, entry, *there) : Status();
}

Status AccessCalls::judge_linked(const AccessCall& call, const Entry& entry, const sys::Resolved& what) const {
  if (what.links < 2 || plan::is_lifted_path(names_, entry.path)) return {};
  const auto rule = plan::rule_of_linked(names_, what.device, what.inode);
  return rule ? refuse(call, entry.path, *rule) : Status();
}

Status AccessCalls::keep_lock(const Entry& entry, const UniqueFd& made) const {
  return is_config_lock(entry) ? configs_.keep_lock(made) : Status();
}

// A process must write a file that is judged by its content through the pipe; it must not link or rename it into place.
Status AccessCalls::judge_link(const AccessCall& call, const Entry& entry) const {
  const bool judged = plan::judged_file(entry.path) != plan::JudgedFile::kNone;
  return judged && !plan::is_lifted_path(names_, entry.path) ? refuse_git(call, entry.path) : Status();
}

// Rules are about the planned path. Where the host has the directory elsewhere by now, those about names in its root
// are about that path too, and so is what makes a repository.
Status AccessCalls::judge_outside(const AccessCall& call, const Entry& entry,
                                  const Result<std::optional<Outside>>& outside, const JudgeGit& judge_there) const {
  if (!outside) return refuse_git(call, entry.path);
  if (!*outside) return {};
  const auto& [root, root_path, path, has_moved] = **outside;
  const bool in_root = root >= 0;
  if (!in_root && !has_moved) return {};
  TRY(want_turn(call, path));
  if (plan::is_lifted_path(names_, entry.path)) return {};
  const auto rule = in_root && has_moved ? plan::denied_name(names_, path) : std::nullopt;
  if (rule) return refuse(call, path, *rule);
  Status judged = has_moved ? judge_there({entry.directory, entry.name, path}) : Status();
  if (judged && in_root) judged = judge_hooks_outside(root, root_path, entry.name);
  return judged || judged.error().sys_errno != EPERM ? judged : refuse_git(call, path);
}

Result<MadeName> AccessCalls::judge_git(const AccessCall& call, const Entry& entry, MadeOf what,
                                        Places::Outlook outlook) const {
  const auto outside = places_.outside_of(entry, outlook);
  TRY(judge_outside(call, entry, outside, [&](const Entry& there) { return judge_git_name(there, what); }));
  const bool was_repository = is_repository(entry);
  const Status judged = judge_git_name(entry, what);
  if (!judged && judged.error().sys_errno != EPERM) return fail(judged.error());
  const bool lifted = !judged && plan::is_lifted_path(names_, entry.path);
  if (!judged && !lifted) return fail(refuse_git(call, entry.path).error());
  return MadeName{what, was_repository};
}

// Another supervisor makes calls in the same directory at the same time. Names that mean nothing to git take no turn:
// the directory can get a name that does, such as "hooks", between the judgement of a name and the call. Each
// supervisor therefore judges a name again after it has made it, in a turn if the name is one for git by now. Where
// there are no turns, whichever comes second sees what both have made.
Status AccessCalls::judge_made(const AccessCall& call, const Entry& entry, const MadeName& made) const {
  Entry now = entry;
  // Without a name that the sandbox sees it was moved out of what the sandbox may write.
  const auto look = [&]() -> Status {
    auto path = places_.path_of(entry);
    if (!path) return refuse_git(call, entry.path);
    now.path = std::move(*path);
    return {};
  };
  TRY(look());
  auto outside = places_.outside_of(now, Places::Outlook::kNow);
  const auto is_for_git = [&] {
    return plan::is_known_to_git(now.path) || !outside || (*outside && plan::is_known_to_git((*outside)->path));
  };
  if (!asked_.turns.is_mine() && is_for_git()) {
    TRY(take_turn(call, now.path));
    TRY(look());
    outside = places_.outside_of(now, Places::Outlook::kNow);
  }
  TRY(judge_outside(call, now, outside, [&](const Entry& there) { return judge_made_git_name(there, made); }));
  if (now.path != entry.path) {
    if (const auto rule = plan::denied_name(names_, now.path)) return refuse(call, now.path, *rule);
  }
  const Status judged = judge_made_git_name(now, made);
  if (judged && !made.was_repository && is_part(now) && is_repository(now)) {
    asked_.made_repository(now.path.substr(0, now.path.rfind('/')), repositories_.completed(now.at()));
  }
  if (judged || judged.error().sys_errno != EPERM) return judged;
  return plan::is_lifted_path(names_, now.path) ? Status() : refuse_git(call, now.path);
}

Status AccessCalls::keep_made(const AccessCall& call, const Entry& entry, const MadeName& made) const {
  Status kept = judge_made(call, entry, made);
  if (!kept) take_back(entry);
  return kept;
}

Status AccessCalls::judge_git_link(const AccessCall& call, const std::string& path, std::string_view text) const {
  const bool leads = plan::is_link_for_git(path, text) && !plan::is_lifted_path(names_, path);
  return leads ? refuse_git(call, path) : Status();
}

Status AccessCalls::judge_special(const AccessCall& call, const std::string& path) const {
  const bool stops = plan::is_read_by_git(path) && !plan::is_lifted_path(names_, path);
  return stops ? refuse_git(call, path) : Status();
}

Status AccessCalls::refuse_git(const AccessCall& call, const std::string& path) const {
  return refuse(call, path, plan::git_rule());
}

Status AccessCalls::refuse(const AccessCall& call, const std::string& path, const plan::NameRule& rule) const {
  if (const int error = error_outside(places_, call); error != 0) return call_error(error);
  asked_.refused(call, path, rule);
  return call_error(EPERM);
}

// A directory itself instructs nobody; files made in it are reported.
void AccessCalls::tell_instructions(const AccessCall& call, const std::string& path) const {
  if (call.kind == AccessKind::kMakeDirectory) return;
  if (const auto name = plan::told_name(names_, path)) asked_.instructs(call, path, *name);
}

void AccessCalls::tell_rights(const AccessCall& call, mode_t mode, const std::string& path) const {
  if (S_ISREG(mode) && (mode & kGiveRights) != 0) asked_.gives_rights(call, path);
}

}  // namespace hutch::guest
