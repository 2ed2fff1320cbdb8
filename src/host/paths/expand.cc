// Bounded walks of the host's tree, by descriptor, so that a tree that changes meanwhile cannot lead elsewhere.
#include "host/paths/expand.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "base/limits.h"
#include "base/text.h"
#include "host/paths/listings.h"
#include "host/paths/paths.h"
#include "host/reach.h"
#include "plan/git/files.h"
#include "policy/defaults.h"
#include "policy/glob.h"
#include "policy/obeyed/obeyed.h"
#include "sys/files/beneath.h"
#include "sys/files/identity.h"
#include "sys/files/tree.h"

namespace hutch::host {

namespace {

// Walks for one pattern.
class Expansion {
 public:
  Expansion(std::string_view pattern, Doubt doubt)
      : pattern_(pattern), parts_(split(pattern.substr(1), '/')), doubt_(doubt) {}
  Result<std::vector<std::string>> run();

 private:
  using Parts = std::span<const std::string_view>;
  Status walk(int directory, const std::string& path, Parts parts, std::size_t depth);
  Status visit(int directory, const std::string& path, const sys::TreeEntry& entry, Parts parts, std::size_t depth);
  bool matches(std::string_view part, std::string_view name) const;
  Status too_much(std::string_view what) const;

  std::string_view pattern_;
  std::vector<std::string_view> parts_;
  Doubt doubt_;
  std::size_t entries_ = 0;
  std::set<std::string> found_;
  std::set<std::pair<std::string, std::size_t>> walked_;  // with "**" a directory is met again with the same rest
};

// Walks for mandatory names.
class MandatoryWalk {
 public:
  explicit MandatoryWalk(const MandatorySearch& search) : search_(search) {}
  Result<MandatoryFound> run();

 private:
  Result<std::vector<sys::TreeEntry>> names_of(int directory, const std::string& path) const;
  Status walk(int directory, const std::string& path, int depth);
  Status check_names(int directory, const std::string& path, const sys::TreeEntry& entry);
  Status check_git(int directory, const std::string& path);
  Result<bool> check_linked_git(const std::string& git);
  Status add_git_names(int directory, const std::string& path);
  Status check_modules(int directory, const std::string& path, int depth);
  struct Module {
    int directory;
    const std::string& path;
    const std::vector<sys::TreeEntry>& entries;
    int depth;  // below "modules", each nested one counted
  };
  Status check_modules(const Module& place);
  Status check_module(const Module& module);
  Status check_inside(const Module& module, int levels);
  Status check_inner(const Module& inner, int levels);
  void note_not_searched(const std::string& path);
  Status add_if_there(int directory, const std::string& path, const std::string& name);
  bool is_sandboxes(const std::string& path) const { return search_.is_sandboxes && search_.is_sandboxes(path); }
  bool is_sandboxes_file(const std::string& path) const;
  void note_closed(int directory, const std::string& path, const std::string& name);

  const MandatorySearch& search_;
  std::size_t entries_ = 0;
  std::size_t inner_directories_ = 0;
  std::vector<std::string> found_;
  std::vector<std::string> told_links_;
  std::vector<std::string> sandbox_links_;
  std::vector<std::string> git_links_;
  std::vector<std::string> repositories_;
  std::string not_searched_;
};

// Of the repositories below "modules", with each nested one.
constexpr int kModuleDepthMax = 4;
// Below such a repository: git and its extensions have fewer levels there, apart from objects and references.
constexpr int kInnerLevelsMax = 6;
constexpr std::size_t kInnerDirectoriesMax = std::size_t{1} << 16;

Result<bool> is_repository(int directory, const std::vector<sys::TreeEntry>& entries);
Result<bool> is_inner_repository(int directory, const std::vector<sys::TreeEntry>& entries);
bool has_any(const std::vector<sys::TreeEntry>& entries, std::initializer_list<std::string_view> names);
// Of views: they differ by their lengths first. A large tree has most of its names compared with each of these.
bool is_any_of(std::string_view name, std::initializer_list<std::string_view> names);
std::string below(const std::string& path, std::string_view name);
Result<std::optional<UniqueFd>> open_if_allowed(int directory, const std::string& name);
Result<sys::EntryKind> kind_of(int directory, const sys::TreeEntry& entry);

}  // namespace

Result<std::vector<std::string>> expand_pattern(std::string_view pattern, Doubt doubt) {
  return Expansion(pattern, doubt).run();
}

Result<MandatoryFound> find_mandatory(const MandatorySearch& search) { return MandatoryWalk(search).run(); }

namespace {

Result<std::vector<std::string>> Expansion::run() {
  std::string start;
  std::size_t literal = 0;
  while (literal + 1 < parts_.size() && !policy::has_wildcard(parts_[literal])) {
    start = below(start, policy::unescape(parts_[literal++]));
  }
  if (start.empty()) start = "/";
  auto directory = sys::open_listing(start);
  if (!directory) {
    if (is_out_of_reach(directory.error())) return std::vector<std::string>();
    return fail(std::move(directory).error());
  }
  TRY(walk(directory->get(), start, Parts(parts_).subspan(literal), 0));
  return std::vector<std::string>(found_.begin(), found_.end());
}

Status Expansion::walk(int directory, const std::string& path, Parts parts, std::size_t depth) {
  if (depth > limits::kWalkDepthMax) return too_much("a tree deeper than can be searched");
  if (!walked_.emplace(path, parts.size()).second) return {};
  for (const sys::TreeEntry& entry : TRY(sys::names_in(directory, path))) {
    if (++entries_ > limits::kWalkEntriesMax) return too_much("more files to look through than can be searched");
    TRY(visit(directory, path, entry, parts, depth));
  }
  return {};
}

Status Expansion::visit(int directory, const std::string& path, const sys::TreeEntry& entry, Parts parts,
                        std::size_t depth) {
  const bool any_depth = parts.front() == "**";
  if (any_depth) TRY(visit(directory, path, entry, parts.subspan(1), depth));
  if (!any_depth && !matches(parts.front(), entry.name)) return {};
  const std::string here = below(path, entry.name);
  if (parts.size() == 1) {
    found_.insert(here);
    if (found_.size() > limits::kMatchesMax) return too_much("more files than one rule can name");
    // What lies below a match is covered by it.
    return {};
  }
  if (path == "/" && (entry.name == "proc" || entry.name == "sys" || entry.name == "dev")) return {};
  if (TRY(kind_of(directory, entry)) != sys::EntryKind::kDirectory) return {};
  const std::optional<UniqueFd> child = TRY(open_if_allowed(directory, entry.name));
  if (!child) {
    if (doubt_ == Doubt::kIsMatch) found_.insert(here);
    return {};
  }
  return walk(child->get(), here, any_depth ? parts : parts.subspan(1), depth + 1);
}

bool Expansion::matches(std::string_view part, std::string_view name) const {
  return policy::matches_component(part, name) || (doubt_ == Doubt::kIsMatch && part == name);
}

Status Expansion::too_much(std::string_view what) const {
  return fail(
      Error::invalid(cat({"\"", printable(pattern_), "\" matches ", what, "; name a smaller part of the tree"})));
}

Result<MandatoryFound> MandatoryWalk::run() {
  auto directory = sys::open_listing(search_.root);
  if (!directory) {
    if (is_out_of_reach(directory.error())) return MandatoryFound();
    return fail(std::move(directory).error());
  }
  TRY(walk(directory->get(), search_.root, 1));
  return MandatoryFound{.denied = std::move(found_),
                        .told_links = std::move(told_links_),
                        .sandbox_links = std::move(sandbox_links_),
                        .git_links = std::move(git_links_),
                        .repositories = std::move(repositories_),
                        .not_searched = std::move(not_searched_)};
}

Status MandatoryWalk::walk(int directory, const std::string& path, int depth) {
  const std::vector<sys::TreeEntry> entries = TRY(names_of(directory, path));
  if (TRY(is_repository(directory, entries))) TRY(add_git_names(directory, path));
  for (const sys::TreeEntry& entry : entries) {
    if (++entries_ > limits::kWalkEntriesMax) {
      return fail(Error::invalid(cat({printable(search_.root),
                                      ": too many files to look for names that may never be "
                                      "written; allow writing a smaller tree"})));
    }
    TRY(check_names(directory, path, entry));
    if (depth >= search_.depth || TRY(kind_of(directory, entry)) != sys::EntryKind::kDirectory) continue;
    if (is_any_of(entry.name, {"node_modules", ".git"})) continue;
    if (path == "/" && is_any_of(entry.name, {"proc", "sys", "dev"})) continue;
    if (std::ranges::find(search_.closed, below(path, entry.name)) != search_.closed.end()) continue;
    const std::optional<UniqueFd> child = TRY(open_if_allowed(directory, entry.name));
    if (child) {
      TRY(walk(child->get(), below(path, entry.name), depth + 1));
    } else {
      note_closed(directory, path, entry.name);
      found_.push_back(below(path, entry.name));
    }
  }
  return {};
}

Result<std::vector<sys::TreeEntry>> MandatoryWalk::names_of(int directory, const std::string& path) const {
  if (search_.repositories_by != nullptr) return search_.repositories_by->of_repositories(directory, path);
  return search_.kept_in != nullptr ? search_.kept_in->read(directory, path) : sys::names_in(directory, path);
}

Status MandatoryWalk::check_names(int directory, const std::string& path, const sys::TreeEntry& entry) {
  if (is_any_of(entry.name, {".git"})) return check_git(directory, path);
  if (search_.repositories_by != nullptr) return {};
  for (const policy::ObeyedFile* file : policy::obeyed_from(entry.name)) {
    const bool whole = file->name == entry.name || file->name.starts_with('*');
    if (std::ranges::find(search_.allowed, file->name) != search_.allowed.end()) continue;
    if (file->treatment == policy::ObeyedTreatment::kTold) {
      if (whole && TRY(kind_of(directory, entry)) == sys::EntryKind::kSymlink) {
        told_links_.push_back(below(path, entry.name));
      }
    } else if (whole) {
      found_.push_back(below(path, entry.name));
    } else if (TRY(kind_of(directory, entry)) == sys::EntryKind::kSymlink) {
      // The link's target has another name, under which a command could make it.
      found_.push_back(below(path, file->name));
    } else {
      TRY(add_if_there(directory, path, std::string(file->name)));
    }
  }
  return {};
}

// Nothing is there then.
bool leads_in_a_circle(const std::string& link) {
  const auto target = canonical_path(link);
  return !target && target.error().code == Code::kInvalidArgument;
}

// A ".git" file or link says where a worktree's repository lies: whoever writes it chooses the hooks.
Status MandatoryWalk::check_git(int directory, const std::string& path) {
  const std::optional<sys::PathStatus> status = TRY(sys::status_at(directory, ".git"));
  const std::string git = below(path, ".git");
  if (!status) return {};
  if (status->kind == sys::EntryKind::kSymlink && TRY(check_linked_git(git))) return {};
  if (status->kind != sys::EntryKind::kDirectory) {
    const bool is_link = status->kind == sys::EntryKind::kFile && is_sandboxes_file(git);
    (is_link ? sandbox_links_ : found_).push_back(git);
    if (status->kind != sys::EntryKind::kSymlink || leads_in_a_circle(git)) return {};
  }
  repositories_.push_back(git);
  if (!is_sandboxes(git)) {
    for (const std::string_view name : policy::mandatory_git_names(search_.git_config)) {
      TRY(add_if_there(directory, path, cat({".git/", name})));
    }
  }
  for (const char* inner : {"modules", "worktrees"}) {
    const auto there = sys::status_at(directory, cat({".git/", inner}));
    if (!there && is_out_of_reach(there.error())) continue;
    if (!TRY(there)) continue;
    const std::optional<UniqueFd> child = TRY(open_if_allowed(directory, cat({".git/", inner})));
    if (child) {
      TRY(check_modules(child->get(), below(git, inner), 1));
    } else {
      note_closed(directory, path, cat({".git/", inner}));
      found_.push_back(below(git, inner));
    }
  }
  return {};
}

// The repository that a link named ".git" leads to, as Google's repo makes such links. Returns whether there is one
// that the sandbox may write.
Result<bool> MandatoryWalk::check_linked_git(const std::string& git) {
  const auto target = canonical_path(git);
  if (!target || target->type != plan::FileType::kDirectory) return false;
  const auto holds = [&](const std::string& root) { return is_within(target->path, root); };
  if (!holds(search_.root) && std::ranges::none_of(search_.roots, holds)) return false;
  const auto opened = sys::open_listing(target->path);
  if (!opened) return false;
  const std::vector<sys::TreeEntry> entries = TRY(sys::names_in(opened->get(), target->path));
  if (!TRY(is_repository(opened->get(), entries))) return false;
  git_links_.push_back(git);
  TRY(check_module({opened->get(), target->path, entries, 1}));
  return true;
}

// In the directory of a repository itself: a bare one, a submodule's, or ".git" as the writable tree.
Status MandatoryWalk::add_git_names(int directory, const std::string& path) {
  repositories_.push_back(path);
  if (is_sandboxes(path)) return {};
  for (const std::string_view name : policy::mandatory_git_names(search_.git_config)) {
    TRY(add_if_there(directory, path, std::string(name)));
  }
  return {};
}

// The repositories of submodules: modules/NAME, where NAME may hold slashes (gitsubmodules(7)), and worktrees/NAME.
// What is protected tells one as well: a sandbox could have moved the rest away, for the next one.
Status MandatoryWalk::check_modules(int directory, const std::string& path, int depth) {
  const std::vector<sys::TreeEntry> entries = TRY(sys::names_in(directory, path));
  return check_modules(Module{directory, path, entries, depth});
}

Status MandatoryWalk::check_modules(const Module& place) {
  for (const sys::TreeEntry& entry : place.entries) {
    if (TRY(kind_of(place.directory, entry)) != sys::EntryKind::kDirectory) continue;
    const std::optional<UniqueFd> child = TRY(open_if_allowed(place.directory, entry.name));
    const std::string here = below(place.path, entry.name);
    if (!child) {
      note_closed(place.directory, place.path, entry.name);
      found_.push_back(here);
      continue;
    }
    const std::vector<sys::TreeEntry> entries = TRY(sys::names_in(child->get(), here));
    if (has_any(entries, {"HEAD", "hooks", "config", "commondir"})) {
      TRY(check_module({child->get(), here, entries, place.depth}));
    } else if (place.depth < kModuleDepthMax) {
      TRY(check_modules(Module{child->get(), here, entries, place.depth + 1}));
    } else {
      note_not_searched(here);
    }
  }
  return {};
}

Status MandatoryWalk::check_module(const Module& module) {
  TRY(add_git_names(module.directory, module.path));
  const std::optional<UniqueFd> nested = TRY(open_if_allowed(module.directory, "modules"));
  if (nested && module.depth >= kModuleDepthMax) note_not_searched(module.path);
  if (nested && module.depth < kModuleDepthMax) {
    TRY(check_modules(nested->get(), below(module.path, "modules"), module.depth + 1));
  }
  return check_inside(module, 1);
}

// A sandbox can give a directory above a repository the look of one: "modules/a/HEAD" beside "modules/a/b".
Status MandatoryWalk::check_inside(const Module& module, int levels) {
  for (const sys::TreeEntry& entry : module.entries) {
    if (TRY(kind_of(module.directory, entry)) != sys::EntryKind::kDirectory) continue;
    const std::optional<UniqueFd> child = TRY(open_if_allowed(module.directory, entry.name));
    const std::string here = below(module.path, entry.name);
    if (!child) {
      note_closed(module.directory, module.path, entry.name);
      found_.push_back(here);
      continue;
    }
    if (++inner_directories_ > kInnerDirectoriesMax) {
      note_not_searched(here);
      return {};
    }
    const std::vector<sys::TreeEntry> entries = TRY(sys::names_in(child->get(), here));
    const bool is_searched = levels == 1 && entry.name == "modules";
    const Module inner{child->get(), here, entries, module.depth};
    if (TRY(is_inner_repository(child->get(), entries))) {
      TRY(check_inner(inner, levels));
    } else if (!is_searched && !plan::is_full_of_git(entry.name)) {
      if (levels >= kInnerLevelsMax) note_not_searched(here);
      if (levels < kInnerLevelsMax) TRY(check_inside(inner, levels + 1));
    }
  }
  return {};
}

// A repository inside of what looks like one.
Status MandatoryWalk::check_inner(const Module& inner, int levels) {
  if (inner.depth < kModuleDepthMax) {
    return check_module({inner.directory, inner.path, inner.entries, inner.depth + 1});
  }
  TRY(add_git_names(inner.directory, inner.path));
  if (levels >= kInnerLevelsMax) note_not_searched(inner.path);
  return levels < kInnerLevelsMax ? check_inside(inner, levels + 1) : Status();
}

void MandatoryWalk::note_not_searched(const std::string& path) {
  if (not_searched_.empty()) not_searched_ = path;
}

Status MandatoryWalk::add_if_there(int directory, const std::string& path, const std::string& name) {
  auto status = sys::status_at(directory, name);
  // A sandbox can have closed its own, for the next one not to start.
  if (!status && status.error().sys_errno == EACCES) {
    const std::size_t slash = name.rfind('/');
    const std::string closed = slash == std::string::npos ? path : below(path, name.substr(0, slash));
    note_not_searched(closed);
    if (found_.empty() || found_.back() != closed) found_.push_back(closed);
    return {};
  }
  if (!status) return fail(std::move(status).error());
  if (!*status) return {};
  std::string there = below(path, name);
  if (name != "commondir" || !is_sandboxes_file(there)) found_.push_back(std::move(there));
  return {};
}

// Whether a sandbox made the file: its supervisor wrote it, and only with a content that leads nowhere else.
bool MandatoryWalk::is_sandboxes_file(const std::string& path) const {
  if (!search_.is_sandboxes) return false;
  const auto text = sys::regular_file_text(path, plan::kJudgedBytesMax);
  return text && plan::is_marked_git_link(*text);
}

// A sandbox of this user cannot make anything in another user's directory.
void MandatoryWalk::note_closed(int directory, const std::string& path, const std::string& name) {
  const auto status = sys::file_status(directory, name);
  const bool is_own = !status || status->owner == sys::user_id();
  if (is_own && not_searched_.empty()) not_searched_ = below(path, name);
}

bool is_any_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

bool has_any(const std::vector<sys::TreeEntry>& entries, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(entries, [&](const sys::TreeEntry& entry) { return is_any_of(entry.name, names); });
}

// References and their logs have names of a repository's parts too, such as "HEAD" or a branch "config": one such name
// is not enough here.
Result<bool> is_inner_repository(int directory, const std::vector<sys::TreeEntry>& entries) {
  const bool is_worktree = has_any(entries, {"HEAD"}) && has_any(entries, {"commondir"});
  return is_worktree || TRY(is_repository(directory, entries));
}

// As git itself tells one (gitrepository-layout(5)), or by what is protected in one: a sandbox could have moved the
// rest away, for the next one not to know it.
Result<bool> is_repository(int directory, const std::vector<sys::TreeEntry>& entries) {
  int parts = 0;
  int guarded = 0;
  for (const sys::TreeEntry& entry : entries) {
    parts += is_any_of(entry.name, {"HEAD", "objects", "refs"}) ? 1 : 0;
    const bool is_guarded =
        (is_any_of(entry.name, {"hooks"}) && TRY(kind_of(directory, entry)) == sys::EntryKind::kDirectory) ||
        (is_any_of(entry.name, {"config"}) && TRY(kind_of(directory, entry)) == sys::EntryKind::kFile);
    guarded += is_guarded ? 1 : 0;
  }
  return parts == 3 || guarded == 2;
}

std::string below(const std::string& path, std::string_view name) {
  return path == "/" ? cat({"/", name}) : cat({path, "/", name});
}

Result<std::optional<UniqueFd>> open_if_allowed(int directory, const std::string& name) {
  auto child = sys::open_listing_at(directory, name);
  if (child) return std::optional<UniqueFd>(std::move(*child));
  const int err = child.error().sys_errno;
  // Gone or changed since it was listed, a link (O_NOFOLLOW: ELOOP, with O_DIRECTORY: ENOTDIR), or not ours to read.
  if (err == ENOENT || err == ENOTDIR || err == ELOOP || err == EACCES || err == EPERM)
    return std::optional<UniqueFd>();
  return fail(std::move(child).error());
}

Result<sys::EntryKind> kind_of(int directory, const sys::TreeEntry& entry) {
  if (entry.kind != sys::EntryKind::kUnknown) return entry.kind;
  const std::optional<sys::PathStatus> status = TRY(sys::status_at(directory, entry.name));
  return status ? status->kind : sys::EntryKind::kOther;
}

}  // namespace

}  // namespace hutch::host
