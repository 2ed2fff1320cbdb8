// How configurations of repositories, and other files that are judged by their content, get their names.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "guest/calls/calls.h"
#include "plan/git/config.h"
#include "plan/git/files.h"
#include "plan/paths/names.h"
#include "sys/files/beneath.h"
#include "sys/io.h"

namespace hutch::guest {

// A submodule may be named "a/config". Then the rule about ".git/modules/**/config" denies its directory too, and every
// file in it, so a denied directory means that this rule is not about the file.
bool is_own_git_config_of(const OwnRepositories& own, const Entry& entry) {
  if (!entry.path.ends_with("/config") || plan::judged_file(entry.path) != plan::JudgedFile::kNone) return false;
  const std::string_view directory = std::string_view(entry.path).substr(0, entry.path.rfind('/'));
  const auto rule = plan::denied_name(own.names, entry.path);
  if (rule && (!plan::is_git_config_rule(*rule) || plan::denied_name(own.names, directory))) return false;
  if (!rule && (directory.ends_with("/.git") || plan::is_lifted_path(own.names, entry.path))) return false;
  if (!rule && !is_config_of_repository(entry)) return false;
  return plan::is_place_of_agent(own.names, entry.path) || own.repositories.knows(entry.at());
}

bool is_judged_by_content(const OwnRepositories& own, const Entry& entry, plan::JudgedFile kind) {
  if (kind == plan::JudgedFile::kGitConfig) return is_own_git_config_of(own, entry);
  const auto rule = plan::denied_name(own.names, entry.path);
  return !rule || plan::is_name_anywhere(*rule);
}

// git writes its configuration as config.lock, which then gets the name (gitrepository-layout(5)). Programs that copy a
// repository, and editors, give it another name beside it first.
bool AccessCalls::is_new_git_config(const Entry& from, const Entry& to) const {
  const auto parent = [](const Entry& entry) { return std::string_view(entry.path).substr(0, entry.path.rfind('/')); };
  if (from.path != to.path + ".lock") return parent(from) == parent(to) && !is_part(from) && is_own_git_config(to);
  if (is_git_config(to.path)) return true;
  // No rule about the configuration of a ".git": the user has lifted it.
  return !parent(to).ends_with("/.git") && !plan::is_lifted_path(names_, to.path) && is_config_of_repository(to);
}

bool AccessCalls::is_own_git_config(const Entry& entry) const {
  return is_own_git_config_of({names_, repositories_}, entry);
}

bool AccessCalls::is_git_config(const std::string& path) const {
  const auto rule = plan::denied_name(names_, path);
  const bool counts = rule && (plan::is_git_config_rule(*rule) || plan::is_kept_config(*rule));
  return counts && plan::git_name(path.substr(path.rfind('/') + 1)) == plan::GitName::kConfig;
}

// One that names nothing to run is let in, as a file that nobody else has open. Another sandbox of the same directory
// may wait for it to do so: it is written under a name that none may write, and git reads nothing under it there.
Status AccessCalls::replace_git_config(const AccessCall& call, const Entry& from, const Entry& to) const {
  const auto there = sys::look_at_name(to.at(), to.name);
  const bool is_host_file = there && there->mount != to.directory->twin.mount;
  const auto rule = plan::denied_name(names_, to.path);
  if (rule && !is_host_file && plan::is_kept_config(*rule)) return replace_kept_config(call, from, to, *rule);
  if (rule && (is_host_file || !plan::is_name_anywhere(*rule))) return refuse(call, to.path, *rule);
  const UniqueFd written = TRY(sys::open_at(from.at(), from.name, O_RDONLY, 0));
  const sys::Resolved what = TRY(sys::look_at(written.get()));
  if (!S_ISREG(what.mode)) return call_error(EPERM);
  const std::string text = TRY(sys::read_at(written.get(), 0, plan::kGitConfigBytesMax + 1));
  const std::string_view directory = std::string_view(to.path).substr(0, to.path.rfind('/'));
  const bool of_worktree = plan::judged_file(to.path) == plan::JudgedFile::kWorktreeConfig;
  const bool harmless =
      of_worktree ? plan::is_harmless_worktree_config(text, directory) : plan::is_harmless_git_config(text, directory);
  if (!harmless) return refuse_git(call, to.path);
  umasks_.take_none();
  const auto flags = static_cast<unsigned>(call.flags);
  TRY(put_judged(to.at(), to.name, text, what.mode & 0777, flags));
  if ((flags & RENAME_EXCHANGE) == 0) return sys::unlink_with(from.at(), from.name, 0);
  return sys::rename_with(from.at(), kUnderwayName, from.at(), from.name, 0);
}

Status AccessCalls::replace_kept_config(const AccessCall& call, const Entry& from, const Entry& to,
                                        const plan::NameRule& rule) const {
  if (call.flags != 0) return refuse(call, to.path, rule);
  umasks_.take_none();
  using enum GitConfigs::Repository;
  const bool is_outer =
      plan::held_directory(names_, std::string_view(to.path).substr(0, to.path.rfind('/'))).has_value();
  const auto tell = [&] { asked_.instructs(call, to.path, rule); };
  const auto held = TRY(configs_.replace(from, to, is_outer ? kOuter : kOwn, tell));
  if (!held) return {};
  plan::NameRule about = rule;
  about.rule = cat({rule.rule, ": ", *held});
  return refuse(call, to.path, about);
}

Result<std::optional<CallAnswer>> AccessCalls::open_judged(const AccessCall& call, const Entry& entry) const {
  const bool is_config = is_own_git_config(entry);
  const plan::JudgedFile kind = is_config ? plan::JudgedFile::kGitConfig : plan::judged_file(entry.path);
  if (kind == plan::JudgedFile::kNone || plan::is_lifted_path(names_, entry.path)) return std::optional<CallAnswer>();
  const auto there = sys::look_at_name(entry.at(), entry.name);
  // The kernel refuses these calls: the name is a directory, or a file that was there at the start.
  if (there && (!S_ISREG(there->mode) || there->mount != entry.directory->twin.mount))
    return std::optional<CallAnswer>();
  if (there && (call.flags & O_EXCL) != 0) return fail(call_error(EEXIST).error());
  // A rule about the very path is not about content.
  if (!is_judged_by_content({names_, repositories_}, entry, kind)) return std::optional<CallAnswer>();
  if (!asked_.still_waits(call)) return fail(call_error(EINTR).error());
  // hutch can judge only a write that replaces the whole content of the file.
  const bool replaces = !there || (call.flags & O_TRUNC) != 0;
  if (is_config && (!replaces || (call.flags & O_ACCMODE) != O_WRONLY)) return std::optional<CallAnswer>();
  if (!replaces || (call.flags & O_ACCMODE) != O_WRONLY) return fail(refuse_git(call, entry.path).error());
  const std::string root = places_.root_of(entry.path);
  const mode_t mode = (there ? there->mode : call.mode) & 0666 & ~022U;
  UniqueFd pipe = TRY(judged_.open({kind, entry, root, mode, call.raw.pid, !there}));
  return CallAnswer(Opened{std::move(pipe), on_exec(call)});
}

}  // namespace hutch::guest
