// The repositories in which a sandbox has changed something, as its supervisor names them.
#include "service/git/worked.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "policy/decide.h"
#include "service/common/prepared.h"
#include "service/common/sandbox_repositories.h"
#include "service/git/after.h"
#include "service/git/deep_repositories.h"
#include "service/git/work_tree.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"

namespace hutch::service {

std::vector<MadeRepository> find_directories(const std::map<plan::RepositoryIdentity, std::string>& wanted,
                                             const std::vector<std::string>& roots) {
  static constexpr std::size_t kEntriesMax = 200'000;
  std::vector<MadeRepository> found;
  std::vector<std::string> to_list = roots;
  std::size_t entries = 0;
  while (!to_list.empty() && found.size() < wanted.size()) {
    const std::string directory = std::move(to_list.back());
    to_list.pop_back();
    const auto listing = sys::open_listing(directory);
    const auto names = listing ? sys::names_in(listing->get(), directory) : Result<std::vector<sys::TreeEntry>>();
    if (!listing || !names) continue;
    if ((entries += names->size()) > kEntriesMax) break;
    for (const sys::TreeEntry& entry : *names) {
      const auto status = sys::status_at(listing->get(), entry.name);
      if (!status || !*status || (*status)->kind != sys::EntryKind::kDirectory) continue;
      const std::string path = cat({directory, "/", entry.name});
      to_list.push_back(path);
      const auto may_be = wanted.lower_bound({(*status)->device, (*status)->inode, 0});
      if (may_be == wanted.end() || may_be->first.inode != (*status)->inode) continue;
      if (repository_identity(path) == may_be->first) found.push_back({path, may_be->first});
    }
  }
  return found;
}

bool is_within_any(const std::string& path, const std::set<std::string>& directories) {
  return std::ranges::any_of(directories, [&](const std::string& one) { return is_within(path, one); });
}

// Where the host has what the sandbox sees at `path`.
std::string host_path(const plan::SandboxPlan& plan, const std::string& path) {
  const plan::MountStep* mount = nullptr;
  for (const plan::MountStep& step : plan.mounts) {
    if (step.kind != plan::MountKind::kBind || !is_within(path, step.target)) continue;
    if (mount == nullptr || step.target.size() >= mount->target.size()) mount = &step;
  }
  return mount == nullptr ? path : cat({mount->source, path.substr(mount->target.size())});
}

std::string sandbox_path(const plan::SandboxPlan& plan, const std::string& path) {
  const plan::MountStep* mount = nullptr;
  for (const plan::MountStep& step : plan.mounts) {
    if (step.kind != plan::MountKind::kBind || step.source.empty() || !is_within(path, step.source)) continue;
    if (mount == nullptr || step.source.size() >= mount->source.size()) mount = &step;
  }
  return mount == nullptr ? path : cat({mount->target, path.substr(mount->source.size())});
}

std::vector<std::string> outer_directories(const Prepared& prepared) {
  const std::vector<policy::Rule>& rules = prepared.rules;
  const auto is_held = [&](const std::string& path) {
    return std::ranges::any_of(rules, [&](const policy::Rule& rule) {
      return rule.origin == policy::Origin::kRepository && rule.verb == policy::Verb::kDenyWrite && rule.path == path;
    });
  };
  const auto may_write = [&](const std::string& path) {
    return policy::decide(rules, policy::Access::kWrite, path).allowed;
  };
  std::vector<std::string> found;
  for (const policy::Rule& rule : rules) {
    if (rule.origin != policy::Origin::kRepository || rule.verb != policy::Verb::kAllowWrite) continue;
    const bool is_git_directory = is_held(cat({rule.path, "/commondir"}));
    const bool counts = is_git_directory || prepared.plan.supervisor == plan::Supervisor::kNone;
    if (counts && may_write(cat({rule.path, "/index"}))) found.push_back(rule.path);
  }
  return found;
}

std::vector<plan::MountStep> agents_own_places(const Prepared& prepared) {
  std::vector<plan::MountStep> found;
  std::ranges::copy_if(prepared.plan.mounts, std::back_inserter(found), [&](const plan::MountStep& step) {
    return std::ranges::find(prepared.plan.names.own, step.target) != prepared.plan.names.own.end();
  });
  return found;
}

std::vector<std::string> written_of(const Prepared& prepared) {
  std::vector<std::string> written = outer_directories(prepared);
  for (const plan::MountStep& own : agents_own_places(prepared)) written.push_back(own.source);
  for (const policy::Rule& rule : prepared.rules) {
    const bool is_outer = rule.origin == policy::Origin::kRepository;
    if (rule.verb == policy::Verb::kAllowWrite && !is_outer) written.push_back(rule.path);
  }
  return written;
}

void add_known_repositories(Prepared& prepared, const SandboxRepositories& made) {
  prepared.made = made.taken();
  plan::GuardedNames& names = prepared.plan.names;
  names.made = made.identities();
  std::vector<std::string> worked =
      DeepRepositories(made.data()).below(written_of(prepared), DeepRepositories::Which::kThere);
  for (const MadeRepository& one : prepared.made) worked.push_back(one.directory);
  // Of the others hutch finds out itself where they are.
  static constexpr std::size_t kToldBytesMax = 1 << 20;
  std::size_t bytes = 0;
  for (const std::string& one : worked) {
    bytes += one.size();
    if (bytes <= kToldBytesMax) names.worked.push_back(sandbox_path(prepared.plan, one));
  }
}

// Whether git may take the directory for a repository's, or a linked worktree's. Others may have the same names in
// them.
bool may_be_repository(const std::string& directory) {
  const auto has = [&](std::string_view name) { return sys::exists(cat({directory, "/", name})); };
  return directory.ends_with("/.git") || (has("HEAD") && (has("commondir") || (has("objects") && has("refs"))));
}

// In a directory that has come along others work at the same time, and what the run may write there is known.
bool GitBefore::came_along(const std::string& directory) const {
  return std::ranges::any_of(prepared_.rules, [&](const policy::Rule& rule) {
    if (rule.origin != policy::Origin::kRepository) return false;
    if (!is_within(directory, rule.path)) return is_within(rule.path, directory);
    return !std::string_view(directory).substr(rule.path.size()).contains("/.git");
  });
}

void GitBefore::works_in(const wire::Repository& repository) {
  using enum wire::Repository::Event;
  if (note_touched(repository)) return;
  const std::string directory = host_path(prepared_.plan, repository.path);
  if (repository.path.empty()) {
    knows_all_worked_in_ = false;
    no_longer_knows_touched();
    add_to_mark({std::string(kAnyPlace)});
  } else if (repository.event == kMoves) {
    moves(host_path(prepared_.plan, repository.from), directory);
  } else if (repository.event == kMoved) {
    moved(host_path(prepared_.plan, repository.from), directory);
  } else if (!came_along(directory)) {
    follow({directory});
    host::Listings seen;
    const std::vector<std::string> before = repositories_;
    const std::vector<std::string> added = add_worked_in(directory, seen);
    // One of that name that the supervisor knows by now, if it is the one that was there.
    const bool is_first = told_.insert(directory).second;
    const auto watched = watched_.find(directory);
    const bool is_watched = watched != watched_.end();
    if (is_watched && repository_identity(directory) == watched->second) {
      watched_.erase(watched);
    } else if (is_watched && is_first) {
      // hutch's memory of this path belongs to the repository that was there.
      find_moved();
    }
    DeepRepositories(data_).keep(added, written_);
    // The sandbox can have made a directory of the user's a repository, or have put back a part of one.
    const bool is_sandboxes = repository.event == kMade && repository.identity != plan::RepositoryIdentity();
    if (repository.event == kMade) becoming_ = directory;
    // What lay there before is an operation by what the sandbox does.
    if (repository.event == kMade || !may_be_repository(directory)) touch_what_is_there(directory);
    if (!is_sandboxes && !added.empty()) remember(added, before);
    note_place(directory);
    becoming_.clear();
    if (!is_sandboxes) return;
    forget(directory);
    made_.insert(repository.identity);
    places_.insert_or_assign(directory, repository.identity);
  }
}

// The repositories that were not known.
std::vector<std::string> GitBefore::add_worked_in(const std::string& directory, host::Listings& seen) {
  if (!worked_in_.insert(directory).second) return {};
  std::vector<std::string> found = repositories_at({directory}, seen).directories;
  // It may be about to be made.
  if (std::ranges::find(found, directory) == found.end()) found.push_back(directory);
  std::erase_if(found, [&](const std::string& one) { return std::ranges::binary_search(repositories_, one); });
  add_to_mark(found);
  for (const std::string& one : found) repositories_.insert(std::ranges::lower_bound(repositories_, one), one);
  return found;
}

namespace {

// A name that nothing has, on the way of what is exchanged.
bool is_between(const std::string& path) { return path.contains("//") || path.ends_with('/'); }

}  // namespace

// The mark has the names from before and after: the run can be killed in between.
void GitBefore::moves(const std::string& from, const std::string& to) {
  std::set<std::string> moving;
  for (const auto& path : repositories_) {
    if (is_within(path, from)) moving.insert(path_after_move(path, from, to));
  }
  for (const auto& path : worked_in_) {
    if (is_within(path, from)) moving.insert(path_after_move(path, from, to));
  }
  FoundStates found;
  for (const auto& [path, state] : found_) {
    if (is_within(path, from)) found.insert_or_assign(path_after_move(path, from, to), state);
  }
  for (const std::string& path : touched_) {
    if (is_within(path, from)) mark_touched(path_after_move(path, from, to));
  }
  const std::vector<std::string> repositories(moving.begin(), moving.end());
  for (const auto& [path, state] : found) marked_ += path.size() + state.size();
  add_to_mark(repositories);
  if (marked_ > kMarkedBytesMax) {
    mark_->found_more_than_it_says();
  } else {
    mark_->found(found);
  }
  std::erase_if(moving, is_between);
  DeepRepositories(data_).keep({moving.begin(), moving.end()}, written_);
}

void GitBefore::moved(const std::string& from, const std::string& to) {
  const auto move_all = [&](auto& states) {
    FoundStates now;
    for (auto& [path, state] : states) now.insert_or_assign(path_after_move(path, from, to), std::move(state));
    states = std::move(now);
  };
  for (std::string& path : repositories_) path = path_after_move(path, from, to);
  std::ranges::sort(repositories_);
  const auto same = std::ranges::unique(repositories_);
  repositories_.erase(same.begin(), same.end());
  std::set<std::string> worked;
  for (const std::string& path : worked_in_) {
    if (is_within(path, from)) gone_.insert(path);
    worked.insert(path_after_move(path, from, to));
  }
  worked_in_ = std::move(worked);
  std::set<std::string> told;
  for (const std::string& path : told_) told.insert(path_after_move(path, from, to));
  told_ = std::move(told);
  std::set<std::string> touched;
  for (const std::string& path : touched_) touched.insert(path_after_move(path, from, to));
  touched_ = std::move(touched);
  std::map<std::string, plan::RepositoryIdentity> places;
  for (const auto& [path, identity] : places_) places.insert_or_assign(path_after_move(path, from, to), identity);
  places_ = std::move(places);
  for (std::string& path : of_start_) path = path_after_move(path, from, to);
  std::ranges::sort(of_start_);
  std::map<std::string, std::vector<std::string>> commands;
  for (auto& [path, lines] : commands_) commands.insert_or_assign(path_after_move(path, from, to), std::move(lines));
  commands_ = std::move(commands);
  move_all(states_);
  move_all(links_);
  move_all(found_);
  indexes_.moved(from, to);
  module_trees_.moved(from, to);
  // Where it failed to keep them before the move, or was not asked to.
  std::vector<std::string> all(worked_in_.begin(), worked_in_.end());
  std::erase_if(all,
                [&](const std::string& one) { return !is_within(one, to) || is_between(one) || !sys::exists(one); });
  DeepRepositories(data_).keep(all, written_);
}

// The sandbox made this directory, and made it a repository: nothing in it is a state of the user's repository, but for
// what lies in another one.
void GitBefore::forget(const std::string& directory) {
  const auto is_in_other = [&](const std::string& path) {
    return std::ranges::any_of(repositories_, [&](const std::string& other) {
      return other != directory && is_within(other, directory) && is_within(path, other);
    });
  };
  const auto is_of_it = [&](const auto& one) { return is_within(one.first, directory) && !is_in_other(one.first); };
  touch_what_is_there(directory);
  std::erase_if(states_, is_of_it);
  std::erase_if(links_, is_of_it);
  FoundStates none;
  for (auto& one : found_) {
    if (is_of_it(one)) none.emplace(one.first, kNoState);
  }
  std::erase_if(found_, is_of_it);
  if (!none.empty()) mark_->found(none);
  indexes_.remember_of_other(cat({directory, "/index"}));
}

// Those of earlier sandboxes, by the list, and by a search from where these began.
void GitBefore::add_deep(host::Listings& seen) {
  DeepRepositories deep(data_);
  knows_all_worked_in_ = deep.are_all_below(written_);
  deep.keep({}, written_);
  using enum DeepRepositories::Which;
  std::vector<std::string> found = deep.below(written_, kThere);
  for (const std::string& one : deep.below(written_, kAll)) {
    if (std::ranges::find(found, one) == found.end()) gone_.insert(one);
  }
  const Repositories below = repositories_below(deep.roots_below(written_), seen);
  std::ranges::copy(below.directories, std::back_inserter(found));
  // Also one that is gone by now: the supervisor tells of no change at its path.
  for (const std::string& one : prepared_.plan.names.worked) {
    const std::string directory = host_path(prepared_.plan, one);
    told_.insert(directory);
    if (!came_along(directory)) (void)add_worked_in(directory, seen);
  }
  for (const std::string& one : found) {
    const bool is_of_search = std::ranges::binary_search(repositories_, one);
    if (is_of_search || came_along(one)) continue;
    (void)add_worked_in(one, seen);
    if (!told_.contains(one)) watched_.emplace(one, repository_identity(one));
  }
}

// The supervisor began before another sandbox worked there, and does not tell where these move.
void GitBefore::find_moved() {
  std::map<plan::RepositoryIdentity, std::string> lost;
  for (const auto& [directory, identity] : watched_) {
    if (identity && repository_identity(directory) != identity) lost.emplace(*identity, directory);
  }
  if (lost.empty()) return;
  // By way of names that nothing has: they can have exchanged their places.
  const std::vector<MadeRepository> all = find_directories(lost, written_);
  const auto between = [&](const MadeRepository& one) { return cat({lost.at(one.identity), "/"}); };
  for (const MadeRepository& found : all) {
    const std::string from = lost.at(found.identity);
    moved(from, between(found));
    watched_.erase(from);
  }
  for (const MadeRepository& found : all) {
    moved(between(found), found.directory);
    watched_.insert_or_assign(found.directory, found.identity);
  }
}

// What another sandbox found meanwhile, this run does not know; and where the supervisor was not told of one, it does
// not say where that moves.
void GitBefore::note_deep(Repositories& now) const {
  const auto note = [&](const std::string& directory) {
    now.are_all = false;
    if (now.not_searched.empty()) now.not_searched = directory;
  };
  for (const auto& [directory, identity] : watched_) {
    const bool is_it = sys::exists(directory) && repository_identity(directory) == identity;
    if (!is_it) note(directory);
  }
  for (const std::string& directory : DeepRepositories(data_).below(written_, DeepRepositories::Which::kAll)) {
    if (told_.contains(directory) || watched_.contains(directory)) continue;
    if (gone_.contains(directory) && !sys::exists(directory)) continue;
    if (worked_in_.contains(directory) || came_along(directory)) continue;
    if (std::ranges::binary_search(repositories_, directory)) continue;
    if (!sys::exists(directory) || may_be_repository(directory)) note(directory);
  }
}

// A sandbox chooses how many there are. Where the mark does not name all, the next start says so of a killed run.
void GitBefore::add_to_mark(const std::vector<std::string>& repositories) {
  if (marked_ > kMarkedBytesMax) return;
  for (const std::string& one : repositories) marked_ += one.size();
  mark_->works_in(marked_ > kMarkedBytesMax ? std::vector{std::string(kAnyPlace)} : repositories);
}

// A configuration that somebody outside has changed meanwhile is kept as the sandbox's if it is harmless: while it
// runs, the sandbox may replace it.
void GitBefore::keep_made() const {
  if (made_.empty()) return;
  SandboxRepositories repositories(data_);
  for (const std::string& directory : worked_in_) {
    const auto identity = repository_identity(directory);
    if (identity && made_.contains(*identity)) repositories.keep({directory, *identity});
  }
}

}  // namespace hutch::service
