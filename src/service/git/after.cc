// Checks repositories of git after a command has ended.
#include "service/git/after.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <optional>
#include <set>

#include "base/text.h"
#include "host/paths/expand.h"
#include "host/paths/paths.h"
#include "plan/git/state.h"
#include "policy/decide.h"
#include "service/common/prepared.h"
#include "service/git/aside.h"
#include "service/git/deep_repositories.h"
#include "service/git/state_text.h"
#include "service/git/work_tree.h"
#include "service/git/worked.h"
#include "service/git/worktree_link.h"
#include "sys/files/beneath.h"
#include "sys/files/changed.h"
#include "sys/files/files.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

// Each directory costs a few lstat(2).
constexpr std::size_t kDirectoriesMax = 4096;

constexpr std::array<std::string_view, 2> kSteps = {"/git-rebase-todo", "/sequencer/todo"};

bool is_own_directory(const std::string& path) {
  const auto status = sys::status_of(path);
  return status && *status && (*status)->kind == sys::EntryKind::kDirectory;
}

// The directory of the repository that contains `path` (gitrepository-layout(5)).
std::optional<std::string> repository_above(const std::string& path) {
  for (std::string above = directory_of(path); !above.empty(); above = directory_of(above)) {
    const auto has = [&](std::string_view name) { return sys::exists(cat({above, "/", name})); };
    if (has("HEAD") && has("objects") && has("refs")) return above;
  }
  return std::nullopt;
}

// 0: nobody knows.
std::int64_t changed_at(const std::string& path) {
  const auto version = sys::file_version(path);
  return version ? version->changed_ns : 0;
}

// Whether `path` is in one of the directories, which are sorted.
bool lies_in_one_of(std::string_view path, const std::vector<std::string>& directories) {
  while (path.size() > 1) {
    if (std::ranges::binary_search(directories, path)) return true;
    path = path.substr(0, path.rfind('/'));
  }
  return false;
}

// Whether no component of the path is a link, so that the directory lies where its path says.
bool is_plain_directory(const std::string& path) { return sys::open_exact(path).has_value() && is_own_directory(path); }

// The directories of repositories, derived from the protected names in them. Hooks that a link or a setting names lie
// in any directory.
std::vector<std::string> repositories_of(const std::vector<policy::Rule>& rules) {
  std::set<std::string> found;
  for (const policy::Rule& rule : rules) {
    if (rule.origin != policy::Origin::kMandatory) continue;
    for (const std::string_view path : {std::string_view(rule.path), std::string_view(rule.text)}) {
      for (const std::string_view name : {"/hooks", "/config"}) {
        if (!path.ends_with(name)) continue;
        std::string directory(path.substr(0, path.size() - name.size()));
        if (rule.text.empty() || may_be_repository(directory)) found.insert(std::move(directory));
      }
    }
  }
  return {found.begin(), found.end()};
}

// The directories that have the references.
std::vector<std::string> with_common(const std::vector<std::string>& repositories) {
  std::set<std::string> found;
  for (const std::string& one : repositories) found.insert(git_common_directory(one));
  return {found.begin(), found.end()};
}

// Those that no search below `roots` finds: the directories of a repository that has come along, and what contains a
// root or is one.
std::vector<std::string> not_below(const std::vector<std::string>& roots, std::vector<std::string> repositories) {
  std::erase_if(repositories, [&](const std::string& one) {
    return std::ranges::any_of(roots, [&](const std::string& root) { return one != root && is_within(one, root); });
  });
  return repositories;
}

std::unique_ptr<RunMark> begin_mark(std::unique_ptr<RunMark> earlier, const std::string& data,
                                    const std::vector<std::string>& written) {
  if (!earlier) return std::make_unique<RunMark>(cat({data, "/running"}), written);
  earlier->again(written);
  return earlier;
}

GitCommits::Keeps keeps_of(const Prepared& prepared) {
  return prepared.committed == plan::CommittedFiles::kLand ? GitCommits::Keeps::kAll : GitCommits::Keeps::kWhereBegun;
}

}  // namespace

std::string GitBefore::After::incomplete_line() const {
  static constexpr std::string_view kWhat =
      "not all repositories were searched for what git would run or write by itself";
  return not_searched.empty() ? std::string(kWhat)
                              : cat({kWhat, ": hutch cannot look below ", printable(not_searched)});
}

GitBefore::GitBefore(const Prepared& prepared, const std::string& data, Known known)
    : prepared_(prepared),
      written_(written_of(prepared)),
      mark_(begin_mark(std::move(known.mark), data, written_)),
      commits_(cat({data, "/git-commits"}), keeps_of(prepared)),
      data_(data) {
  std::ranges::copy(known.more, std::back_inserter(written_));
  if (!known.more.empty()) mark_->may_write(known.more);
  const std::vector<std::string> outer = outer_directories(prepared);
  repositories_ = repositories_of(prepared.rules);
  for (const MadeRepository& made : prepared.made) {
    made_.insert(made.identity);
    repositories_.push_back(made.directory);
    worked_in_.insert(made.directory);
  }
  mark_->works_in(outer);
  mark_->works_in(not_below(written_, repositories_));
  std::ranges::copy(outer, std::back_inserter(repositories_));
  std::ranges::sort(repositories_);
  host::Listings own;
  add_deep(known.seen != nullptr ? *known.seen : own);
  since_ns_ = indexes_.start_ns();
  tells_each_made_ = known.seen == nullptr;
  knows_all_touched_ = is_announced(prepared);
  is_late_ = true;
  for (const wire::Repository& one : known.worked_in) {
    if (note_touched(one)) continue;
    const std::string directory = host_path(prepared.plan, one.path);
    told_.insert(directory);
    if (one.event == wire::Repository::Event::kMade) {
      made_.insert(one.identity);
      places_.insert_or_assign(directory, one.identity);
      touch_what_is_there(directory);
    }
    if (one.path.empty())
      knows_all_worked_in_ = knows_all_touched_ = false;
    else if (!came_along(directory))
      (void)add_worked_in(directory, known.seen != nullptr ? *known.seen : own);
  }
  is_late_ = false;
  bool are_all = prepared.searched_all;
  if (known.seen != nullptr) {
    Repositories now = repositories_now(*known.seen);
    are_all = now.are_all;
    repositories_ = std::move(now.directories);
  }
  remember(repositories_, {});
  for (const std::string& one : repositories_) note_place(one);
  const bool tells = are_all && knows_all_touched_ && knows_all_worked_in_;
  mark_->tells_touched(tells ? RunMark::Tells::kAll : RunMark::Tells::kSome);
  std::ranges::copy_if(repositories_, std::back_inserter(of_start_), [&](const std::string& one) {
    const auto identity = repository_identity(one);
    return !identity || !made_.contains(*identity);
  });
}

GitBefore::GitBefore(const Prepared& nothing, const std::string& data, const OtherRun& cut_off)
    : prepared_(nothing),
      written_(cut_off.written),
      mark_(begin_mark({}, data, written_)),
      commits_(cat({data, "/git-commits"}), GitCommits::Keeps::kWhereBegun),
      repositories_(cut_off.repositories),
      worked_in_(cut_off.repositories.begin(), cut_off.repositories.end()),
      is_cut_off_(true),
      links_(cut_off.found),
      states_(cut_off.found) {
  data_ = data;
  since_ns_ = cut_off.since_ns;
  knows_all_touched_ = cut_off.tells_touched;
  touched_ = cut_off.touched;
  places_ = cut_off.places;
  knows_all_worked_in_ = worked_in_.erase(std::string(kAnyPlace)) == 0;
  (void)std::erase(repositories_, kAnyPlace);
  std::ranges::sort(repositories_);
  for (const auto& [path, state] : cut_off.found) {
    if (!path.ends_with("/index")) continue;
    const auto version = sys::file_version(path);
    if (version && has_state(cut_off.found, path, found_state(*version))) {
      indexes_.remember(path, *version);
    } else {
      indexes_.remember_of_other(path);
    }
  }
}

bool GitBefore::is_announced(const Prepared& prepared) {
  return plan::supervises_changes(prepared.plan, written_of(prepared));
}

void GitBefore::widen(const std::string& root) {
  if (std::ranges::find(written_, root) != written_.end()) return;
  mark_->may_write({root});
  host::Listings seen;
  std::vector<std::string> made = repositories_below({root}, seen).directories;
  if (auto above = repository_above(root)) made.push_back(std::move(*above));
  std::erase_if(made, [&](const std::string& one) { return std::ranges::binary_search(repositories_, one); });
  written_.push_back(root);
  mark_->works_in(not_below(written_, made));
  const std::vector<std::string> before = repositories_;
  repositories_.insert(repositories_.end(), made.begin(), made.end());
  std::ranges::sort(repositories_);
  remember(made, before);
}

// In the repositories `before`, what is new by now is not the user's: `repositories` can lie around them, or in them.
void GitBefore::remember(const std::vector<std::string>& repositories, const std::vector<std::string>& before) {
  if (repositories.empty()) return mark_->found({});
  std::vector<OtherRun> others = mark_->others();
  FoundStates found;
  remember_links(repositories, before, others, found);
  remember_texts(repositories, before, others, found);
  module_trees_.remember(repositories);
  // A run that had rested until this one looked may have made what it found, and rest again.
  others = mark_->others_meanwhile();
  forget_of(others, found);
  mark_->found(found);
  found_.merge(found);
  commits_.begins(with_common(repositories), [&](const std::string& repository) {
    const auto may_write = [&](const OtherRun& run) {
      const auto holds = [&](const std::string& root) {
        return is_within(repository, root) || is_within(root, repository);
      };
      return run.written.empty() || std::ranges::any_of(run.written, holds);
    };
    return std::ranges::any_of(others, may_write) ? plan::OtherRuns::kSome : plan::OtherRuns::kNone;
  });
}

void GitBefore::remember_links(const std::vector<std::string>& repositories, const std::vector<std::string>& before,
                               const std::vector<OtherRun>& others, FoundStates& found) {
  const GitLinks links = git_links(repositories);
  std::vector<std::string> others_places;
  std::ranges::copy_if(repositories, std::back_inserter(others_places),
                       [&](const auto& one) { return one == becoming_ || !may_be_repository(one); });
  // A link of the user's is one of a directory that has to become a repository first, unless git would write there.
  const auto is_for_later = [&](const std::string& path) {
    return std::ranges::any_of(others_places, [&](const std::string& place) {
      return is_within(path, place) && path != place &&
             is_written_by_git(std::string_view(path).substr(place.size() + 1));
    });
  };
  for (const auto& [path, version] : links.versions) {
    const std::string state = found_state(version);
    if (lies_in_one_of(path, before) || is_for_later(path) || is_of_other(others, path, state)) continue;
    found.emplace(path, state);
    links_.emplace(path, state);
  }
  links_are_all_ = links_are_all_ && links.is_complete;
}

void GitBefore::remember_texts(const std::vector<std::string>& repositories, const std::vector<std::string>& before,
                               const std::vector<OtherRun>& others, FoundStates& found) {
  std::vector<std::string> all = directories(repositories);
  // Where there is no repository, the user has begun nothing in it.
  std::erase_if(all, [&](const std::string& one) {
    const bool is_new = !std::ranges::binary_search(before, one);
    // A directory that was closed to hutch does not become the user's when a command opens it.
    if (is_new && is_closed_inside(one)) touch(one);
    return !is_new || !may_be_repository(one);
  });
  if (all.size() > kDirectoriesMax) no_longer_knows_touched();
  all.resize(std::min(all.size(), kDirectoriesMax));
  note_closed(repositories);
  std::size_t left = kAllBytesMax;
  for (const std::string& directory : all) {
    const std::string index = cat({directory, "/index"});
    const auto version = sys::file_version(index);
    if (version && is_of_other(others, index, found_state(*version))) {
      indexes_.remember_of_other(index);
    } else if (version) {
      indexes_.remember(index, *version);
      found.emplace(index, found_state(*version));
    }
    std::vector<std::string> files{cat({directory, kResolutions}), cat({directory, "/gitdir"})};
    for (const plan::GitStateFile& file : plan::git_state_files()) {
      files.push_back(cat({directory, "/", file.path()}));
    }
    for (const std::string& path : files) {
      std::string closed;
      auto text = state_text(path, left, &closed);
      if (!closed.empty() || (text && !*text)) touch(path);
      if (!text) continue;
      std::string state = found_state(*text);
      if (is_of_other(others, path, state)) {
        const auto has_touched = [&](const OtherRun& run) {
          return !run.tells_touched || is_within_any(path, run.touched);
        };
        if (std::ranges::any_of(others, has_touched)) touch(path);
        continue;
      }
      if (*text && std::ranges::any_of(kSteps, [&](auto steps) { return path.ends_with(steps); }))
        commands_[path] = plan::commands_of_todo(**text);
      found.emplace(path, state);
      // An earlier sandbox may have made it another name of a file in the work tree.
      if (has_other_names(path)) touch(path);
      if (path.ends_with("/gitdir")) remember_way(*text ? worktree_link(path, **text) : std::string(), others, found);
      states_.emplace(path, std::move(state));
      if (path.ends_with(kResolutions)) remember_ways_out(path, directory, others, found);
    }
  }
}

// The user may have removed a file that it names.
void GitBefore::remember_ways_out(const std::string& resolutions, const std::string& directory,
                                  const std::vector<OtherRun>& others, FoundStates& found) {
  for (const std::string& name : resolutions_elsewhere(directory)) {
    const std::string way = cat({resolutions, "/", name});
    if (is_of_other(others, way, std::string(kWayOut))) continue;
    found.emplace(way, kWayOut);
    states_.emplace(way, kWayOut);
  }
}

// The user may have moved a worktree out of the project and put a link in its place.
void GitBefore::remember_way(const std::string& link, const std::vector<OtherRun>& others, FoundStates& found) {
  if (!may_write(link)) return;
  const std::string directory = directory_of(link);
  const std::string where = where_git_writes(link);
  const std::string state = found_state(GitStateText(where));
  if (may_write(where) || is_of_other(others, directory, state)) return;
  found.emplace(directory, state);
  states_.emplace(directory, state);
}

bool GitBefore::may_write(const std::string& path) const {
  return std::ranges::any_of(written_, [&](const std::string& root) { return is_within(path, root); });
}

void GitBefore::forget_of(const std::vector<OtherRun>& others, FoundStates& found) {
  if (others.empty()) return;
  std::erase_if(found, [&](const auto& one) {
    const auto& [path, state] = one;
    if (!is_of_other(others, path, state)) return false;
    links_.erase(path);
    states_.erase(path);
    if (path.ends_with("/index")) indexes_.remember_of_other(path);
    return true;
  });
}

// A moved directory takes its files along unchanged, so the directories above `path` are checked as well.
bool GitBefore::is_of_other(const std::vector<OtherRun>& others, const std::string& path,
                            const std::string& state) const {
  return std::ranges::any_of(others, [&](const OtherRun& run) {
    const auto may_change = [&](const std::string& place) {
      const auto holds = [&](const std::string& root) { return is_within(place, root); };
      return std::ranges::any_of(written_, holds) || std::ranges::any_of(run.written, holds);
    };
    std::int64_t changed_ns = last_change(path);
    for (std::string above = directory_of(path); !above.empty() && may_change(above); above = directory_of(above)) {
      changed_ns = std::max(changed_ns, last_change(above));
    }
    return run.may_have_made(path, state, changed_ns);
  });
}

GitBefore::LinksNow GitBefore::links_now(const std::vector<std::string>& repositories) const {
  // The user's first: a sandbox can make any number of other ones, with more than is looked through.
  std::vector<std::string> users;
  std::vector<std::string> others;
  std::ranges::partition_copy(repositories, std::back_inserter(users), std::back_inserter(others),
                              [&](const std::string& one) { return std::ranges::binary_search(of_start_, one); });
  LinksNow made;
  for (const std::vector<std::string>& some : {users, others}) {
    const GitLinks now = git_links(some);
    made.are_all = made.are_all && now.is_complete;
    for (const auto& [path, version] : now.versions) {
      const bool is_same = has_state(links_, path, found_state(version));
      // If there were too many links to remember all, only the time of change tells which are new.
      if (!is_same && (links_are_all_ || version.changed_ns >= indexes_.start_ns())) made.paths.push_back(path);
    }
  }
  return made;
}

// A linked worktree has its operations below worktrees/NAME. A symbolic link there would lead to another repository,
// whose operations are the user's. The result has at most one directory more than kDirectoriesMax.
std::vector<std::string> GitBefore::directories(const std::vector<std::string>& repositories) const {
  std::vector<std::string> all;
  for (const std::string& repository : repositories) {
    if (all.size() > kDirectoriesMax) return all;
    all.push_back(repository);
    const std::string worktrees = cat({repository, "/worktrees"});
    if (!is_own_directory(worktrees)) continue;
    const auto directory = sys::open_listing(worktrees);
    const auto names = directory ? sys::names_in(directory->get(), worktrees) : Result<std::vector<sys::TreeEntry>>();
    if (!directory || !names) continue;
    for (const sys::TreeEntry& entry : *names) {
      if (all.size() > kDirectoriesMax) return all;
      std::string place = cat({worktrees, "/", entry.name});
      if (is_own_directory(place)) all.push_back(std::move(place));
    }
  }
  return all;
}

// Worktrees that cannot be listed, or looked at.
void GitBefore::note_closed(const std::vector<std::string>& repositories) {
  for (const std::string& repository : repositories) {
    std::string worktrees = cat({repository, "/worktrees"});
    const bool is_closed =
        is_closed_inside(worktrees) || (is_own_directory(worktrees) && !sys::open_listing(worktrees));
    if (is_closed) touch(worktrees);
  }
}

// The repositories that were there at the start, and those that the command made, searched to the same depth.
GitBefore::Repositories GitBefore::repositories_now(host::Listings& seen) const {
  Repositories now = repositories_below(written_, seen);
  const Repositories worked = repositories_at({worked_in_.begin(), worked_in_.end()}, seen);
  now.are_all = now.are_all && worked.are_all && knows_all_worked_in_;
  if (now.not_searched.empty()) now.not_searched = worked.not_searched;
  note_deep(now);
  std::ranges::copy(worked.directories, std::back_inserter(now.directories));
  std::set<std::string> all(repositories_.begin(), repositories_.end());
  all.insert(now.directories.begin(), now.directories.end());
  now.directories.clear();
  // The command may have replaced a directory with a link since the start.
  std::ranges::copy_if(all, std::back_inserter(now.directories), [&](const std::string& one) {
    const bool is_told = worked_in_.contains(one);
    return is_plain_directory(one) && (!is_told || may_be_repository(one));
  });
  return now;
}

GitBefore::Repositories GitBefore::repositories_below(const std::vector<std::string>& roots,
                                                      host::Listings& seen) const {
  Repositories below;
  const std::vector<std::string> outer = outer_directories(prepared_);
  for (const std::string& root : roots) {
    // Directories that have come along are known, and are too large to be searched.
    const bool is_outer = std::ranges::find(outer, root) != outer.end();
    if (!is_outer) search(root, prepared_.policy.mandatory_search_depth, seen, below);
  }
  return below;
}

// Each with the repositories of its submodules.
GitBefore::Repositories GitBefore::repositories_at(const std::vector<std::string>& directories,
                                                   host::Listings& seen) const {
  Repositories found;
  for (const std::string& directory : directories) {
    const auto opened = sys::open_exact(directory);
    const int error = opened ? 0 : opened.error().sys_errno;
    const bool is_closed = (error != 0 && error != ENOENT && error != ENOTDIR && error != ELOOP) ||
                           (error == 0 && is_closed_inside(directory));
    found.are_all = found.are_all && !is_closed;
    if (is_closed && found.not_searched.empty()) found.not_searched = directory;
    if (!opened || !may_be_repository(directory)) continue;
    search(directory.ends_with("/.git") ? directory_of(directory) : directory, 1, seen, found);
    found.directories.push_back(directory);
  }
  return found;
}

void GitBefore::search(const std::string& root, int depth, host::Listings& seen, Repositories& found) const {
  if (!is_own_directory(root)) return;
  std::vector<std::string> closed;
  for (const policy::Rule& rule : prepared_.rules) {
    if (rule.verb == policy::Verb::kDenyWrite && rule.origin != policy::Origin::kMandatory) closed.push_back(rule.path);
  }
  const auto here = host::find_mandatory({.root = root, .depth = depth, .closed = closed, .repositories_by = &seen});
  found.are_all = found.are_all && here && here->not_searched.empty();
  if (here && found.not_searched.empty()) found.not_searched = here->not_searched;
  if (here) std::ranges::copy(here->repositories, std::back_inserter(found.directories));
}

// Links come first, because the later steps look at files by name.
GitBefore::After GitBefore::look(const std::string& quarantine, const KeepGitState& keep, host::Listings& seen,
                                 Ends ends) {
  std::map<std::string, std::int64_t> ways = ways_to(repositories_);
  ways.merge(ways_to({worked_in_.begin(), worked_in_.end()}));
  for (const auto& [directory, identity] : places_) ways.merge(ways_to({directory}));
  After after = look_once(quarantine, keep, seen, ends);
  const auto has_changed = [](const auto& way) { return changed_at(way.first) != way.second; };
  const auto moved = std::ranges::find_if(ways, has_changed);
  if (moved == ways.end() || !mark_->is_beside_another(written_)) return after;
  // The other one can have had each repository where the look was not.
  after.is_complete = false;
  if (after.not_searched.empty()) after.not_searched = moved->first;
  after.others_moved = true;
  if (!is_cut_off_) mark_->outlive();
  return after;
}

// The directories above these, as far as the run may write them, with the times of their last changes: of each name in
// them.
std::map<std::string, std::int64_t> GitBefore::ways_to(const std::vector<std::string>& directories) const {
  std::map<std::string, std::int64_t> ways;
  for (const std::string& directory : directories) {
    for (std::string above = directory_of(directory); !above.empty() && may_write(above); above = directory_of(above)) {
      if (!ways.emplace(above, changed_at(above)).second) break;
    }
  }
  return ways;
}

GitBefore::After GitBefore::look_once(const std::string& quarantine, const KeepGitState& keep, host::Listings& seen,
                                      Ends ends) {
  find_moved();
  After after;
  Repositories repositories = repositories_now(seen);
  find_lost(repositories);
  follow(repositories.directories);
  const auto left = [&](const std::string& repository, GitCommits::WhichIndexes which) {
    using enum GitIndexes::Which;
    return indexes_.left_in(directories({repository}), which == GitCommits::WhichIndexes::kAll ? kAll : kChanged);
  };
  if (!commits_.note(with_common(repositories.directories), left, ends)) {
    after.told.emplace_back("hutch could not note which commits the command made: a later run may take them for yours");
  }
  const LinksNow links = links_now(repositories.directories);
  for (const std::string& link : links.paths) {
    const auto leads_to = sys::tree_link_text(link);
    after.told.push_back(cat({printable(link), ", which the command made, is a link to ",
                              printable(leads_to ? *leads_to : std::string("nobody knows where")),
                              ", where git would write; ", taken_away(link, quarantine)}));
  }
  for (const GitModuleTrees::Found& found : module_trees_.look(repositories.directories)) {
    // A mark does not say what the user's are.
    const std::string where = is_cut_off_ ? std::string() : quarantine;
    after.told.push_back(cat({"git in ", printable(found.directory), " would write ", printable(found.tree),
                              ", which is no work tree of it; ", taken_away(found.path, where)}));
  }
  // A sandbox can make any number of other ones.
  std::ranges::stable_partition(repositories.directories,
                                [&](const std::string& one) { return std::ranges::binary_search(of_start_, one); });
  std::vector<std::string> all = directories(repositories.directories);
  const bool are_all = all.size() <= kDirectoriesMax;
  all.resize(std::min(all.size(), kDirectoriesMax));
  std::erase_if(all, [&](const std::string& one) {
    const bool is_closed = is_closed_inside(one);
    if (is_closed && after.not_searched.empty()) after.not_searched = one;
    return is_closed;
  });
  look_at_operations(all, quarantine, keep, after);
  look_at_references(all, quarantine, after);
  const GitIndexes::Look look = indexes_.look(all, prepared_.plan.names);
  for (const GitIndexes::Found& found : look.found) {
    const bool stays = found.what == GitIndexes::Found::What::kStaged;
    after.told.push_back(
        stays ? found.text()
              : cat({found.text(), "; ", taken_away(found.file, quarantine), "; `git reset` makes a new one"}));
  }
  keep_made();
  const bool has_closed = !after.not_searched.empty();
  if (!repositories.not_searched.empty()) after.not_searched = repositories.not_searched;
  after.is_complete =
      after.is_complete && !has_closed && repositories.are_all && are_all && links.are_all && look.is_complete;
  return after;
}

void look_at_cut_off(const std::string& data, const std::function<void(const std::string& line)>& tell) {
  for (const RunMark::CutOff& cut_off : RunMark::cut_off(cat({data, "/running"}))) {
    const Prepared nothing;
    host::Listings seen;
    GitBefore before(nothing, data, cut_off.run);
    const std::string quarantine = cut_off.run.found_all ? cat({data, "/quarantine"}) : std::string();
    const GitBefore::After after = before.look(quarantine, {}, seen);
    for (const std::string& line : after.told) tell(cat({"a run that was killed: ", line}));
    if (!after.is_complete) tell(after.incomplete_line());
    if (!after.others_moved) (void)sys::unlink_at(sys::kCwd, cut_off.path);
  }
}

}  // namespace hutch::service
