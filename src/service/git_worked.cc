// The repositories in which a sandbox has changed something, as its supervisor names them.
#include "service/git_worked.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "service/git_after.h"
#include "service/git_work_tree.h"
#include "service/prepare.h"
#include "service/sandbox_repositories.h"
#include "sys/files.h"
#include "sys/tree.h"

namespace hutch::service {

// Where the host has what the sandbox sees at `path`.
std::string host_path(const plan::SandboxPlan& plan, const std::string& path) {
  const plan::MountStep* mount = nullptr;
  for (const plan::MountStep& step : plan.mounts) {
    if (step.kind != plan::MountKind::kBind || !is_within(path, step.target)) continue;
    if (mount == nullptr || step.target.size() >= mount->target.size()) mount = &step;
  }
  return mount == nullptr ? path : cat({mount->source, path.substr(mount->target.size())});
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
  const std::string directory = host_path(prepared_.plan, repository.path);
  if (repository.path.empty()) {
    knows_all_worked_in_ = false;
    add_to_mark({std::string(kAnyPlace)});
  } else if (repository.event == kMoved) {
    moved(host_path(prepared_.plan, repository.from), directory);
  } else if (!came_along(directory)) {
    host::Listings seen;
    const std::vector<std::string> added = add_worked_in(directory, seen);
    if (repository.event == kFirstChange) remember(added);
    if (repository.event == kMade) forget(directory);
    if (repository.event == kMade) made_.insert(repository.identity);
  }
}

// The repositories that were not known.
std::vector<std::string> GitBefore::add_worked_in(const std::string& directory, host::Listings& seen) {
  if (std::ranges::find(worked_in_, directory) != worked_in_.end()) return {};
  worked_in_.push_back(directory);
  std::vector<std::string> found = repositories_at({directory}, seen).directories;
  // It may be about to be made.
  if (std::ranges::find(found, directory) == found.end()) found.push_back(directory);
  std::erase_if(found, [&](const std::string& one) { return std::ranges::binary_search(repositories_, one); });
  add_to_mark(found);
  for (const std::string& one : found) repositories_.insert(std::ranges::lower_bound(repositories_, one), one);
  return found;
}

void GitBefore::moved(const std::string& from, const std::string& to) {
  const auto move_all = [&](auto& states) {
    FoundStates now;
    for (auto& [path, state] : states) now.insert_or_assign(path_after_move(path, from, to), std::move(state));
    states = std::move(now);
  };
  std::vector<std::string> moved;
  for (std::vector<std::string>* paths : {&repositories_, &worked_in_}) {
    for (std::string& path : *paths) {
      if (!is_within(path, from)) continue;
      path = path_after_move(path, from, to);
      moved.push_back(path);
    }
  }
  std::ranges::sort(repositories_);
  move_all(states_);
  move_all(links_);
  indexes_.moved(from, to);
  add_to_mark(moved);
}

// The sandbox made this directory a repository: nothing that it contains is a state of the user's repository.
void GitBefore::forget(const std::string& directory) {
  const auto is_there = [&](const auto& one) { return is_within(one.first, directory); };
  std::erase_if(states_, is_there);
  std::erase_if(links_, is_there);
  indexes_.remember_of_other(cat({directory, "/index"}));
}

// A sandbox chooses how many there are. Where the mark does not name all, the next start says so of a killed run.
void GitBefore::add_to_mark(const std::vector<std::string>& repositories) {
  static constexpr std::size_t kBytesMax = 1 << 20;
  if (marked_ > kBytesMax) return;
  for (const std::string& one : repositories) marked_ += one.size();
  mark_->works_in(marked_ > kBytesMax ? std::vector{std::string(kAnyPlace)} : repositories);
}

// A configuration that somebody outside has changed meanwhile is kept as the sandbox's: while it runs, the sandbox may
// replace it.
void GitBefore::keep_made() const {
  if (made_.empty()) return;
  SandboxRepositories repositories(data_);
  for (const std::string& directory : worked_in_) {
    const auto identity = repository_identity(directory);
    if (identity && made_.contains(*identity)) repositories.keep({directory, *identity});
  }
}

}  // namespace hutch::service
