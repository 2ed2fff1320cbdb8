// In which repositories of git the sandbox has made changes, so that hutch looks at them after a command.
#include "guest/worked_repositories.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/text.h"
#include "plan/git_files.h"

namespace hutch::guest {

namespace {

constexpr std::string_view kConfig = "/config";

bool is_known(const plan::GuardedNames& names, std::string_view directory) {
  return std::ranges::binary_search(names.configs, cat({directory, kConfig}));
}

}  // namespace

WorkedRepositories::Told WorkedRepositories::tell(std::string_view path, const plan::GuardedNames& names) {
  const std::string_view directory = plan::checked_git_directory(path);
  if (directory.empty() || told_.contains(directory) || known_.contains(directory) || is_known(names, directory))
    return {};
  if (told_.size() >= kDirectoriesMax) return {std::exchange(told_too_many_, true) ? Knows::kYes : Knows::kTooMany};
  told_.emplace(directory);
  return {Knows::kNo, std::string(directory)};
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
  return has_moved;
}

}  // namespace hutch::guest
