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
  if (directory.empty() || told_.contains(directory) || is_known(names, directory)) return {};
  if (told_.size() >= kDirectoriesMax) return {std::exchange(told_too_many_, true) ? Knows::kYes : Knows::kTooMany};
  told_.emplace(directory);
  return {Knows::kNo, std::string(directory)};
}

// With the names that they get.
std::vector<std::string> WorkedRepositories::below(const std::string& from, const std::string& to,
                                                   const plan::GuardedNames& names) const {
  std::vector<std::string> found;
  const auto add = [&](std::string_view directory) {
    if (is_within(directory, from)) found.push_back(cat({to, directory.substr(from.size())}));
  };
  std::ranges::for_each(told_, add);
  for (const std::string_view config : names.configs) add(config.substr(0, config.size() - kConfig.size()));
  return found;
}

bool WorkedRepositories::moves(const std::string& from, const std::string& to, const plan::GuardedNames& names) {
  if (moves_.erase({from, to}) > 0 || below(from, to, names).empty()) return false;
  if (moves_.size() == kMovesMax) moves_.clear();
  moves_.emplace(from, to);
  return true;
}

bool WorkedRepositories::moved(const std::string& from, const std::string& to, const plan::GuardedNames& names) {
  std::vector<std::string> found = below(from, to, names);
  std::erase_if(told_, [&](const std::string& directory) { return is_within(directory, from); });
  const bool has_moved = !found.empty();
  std::ranges::move(found, std::inserter(told_, told_.end()));
  return has_moved;
}

}  // namespace hutch::guest
