// In which repositories of git the sandbox has made changes, so that hutch looks at them after a command.
#include "guest/git/worked_repositories.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/text.h"
#include "plan/git/files.h"

namespace hutch::guest {

namespace {

constexpr std::string_view kConfig = "/config";

bool is_known(const plan::GuardedNames& names, std::string_view directory) {
  return std::ranges::binary_search(names.configs, cat({directory, kConfig}));
}

}  // namespace

std::optional<wire::Repository> WorkedRepositories::to_tell(std::string_view path, const plan::GuardedNames& names) {
  using enum wire::Repository::Event;
  const std::string_view directory = plan::checked_git_directory(path);
  if (directory.empty()) return std::nullopt;
  if (!told_.contains(directory) && !known_.contains(directory) && !is_known(names, directory)) {
    const bool is_one = told_.size() < kDirectoriesMax && told_.emplace(directory).second;
    if (is_one) return wire::Repository{kFirstChange, std::string(directory)};
    if (!std::exchange(told_too_many_, true)) return wire::Repository{kFirstChange, {}};
  }
  const std::string_view operation = plan::checked_git_operation(path);
  if (operation.empty() || operations_.contains(operation)) return std::nullopt;
  const bool is_one = operations_.size() < kOperationsMax && operations_.emplace(operation).second;
  if (is_one) return wire::Repository{kWrites, std::string(operation)};
  if (std::exchange(told_too_many_operations_, true)) return std::nullopt;
  return wire::Repository{kWrites, {}};
}

bool WorkedRepositories::is_any_below(const std::string& from, const plan::GuardedNames& names) const {
  const auto is_below = [&](std::string_view path) { return is_within(path, from); };
  return std::ranges::any_of(told_, is_below) || std::ranges::any_of(known_, is_below) ||
         std::ranges::any_of(names.configs, is_below);
}

bool WorkedRepositories::moves(std::uint64_t call, const std::string& from, const std::string& to,
                               const plan::GuardedNames& names) {
  if (moves_.erase({call, from, to}) > 0 || !is_any_below(from, names)) return false;
  if (moves_.size() == kMovesMax) moves_.clear();
  moves_.emplace(call, from, to);
  return true;
}

bool WorkedRepositories::moved(const std::string& from, const std::string& to, const plan::GuardedNames& names) {
  std::vector<std::string> found;
  const auto add = [&](std::string_view directory) {
    if (is_within(directory, from)) found.push_back(cat({to, directory.substr(from.size())}));
  };
  bool has_moved = false;
  for (auto* set : {&known_, &told_}) {
    std::ranges::for_each(*set, add);
    if (set == &told_) {
      for (const std::string_view config : names.configs) add(config.substr(0, config.size() - kConfig.size()));
    }
    std::erase_if(*set, [&](const std::string& directory) { return is_within(directory, from); });
    has_moved = has_moved || !found.empty();
    std::ranges::move(std::exchange(found, {}), std::inserter(*set, set->end()));
  }
  // The host does the same. Nothing that it knows is to be told again: the call that moved it would begin anew.
  std::set<std::string, std::less<>> operations;
  for (const std::string& one : operations_) {
    const bool moves_along = has_moved && is_within(one, from);
    operations.insert(moves_along ? cat({to, std::string_view(one).substr(from.size())}) : one);
  }
  operations_ = std::move(operations);
  return has_moved;
}

}  // namespace hutch::guest
