// In which repositories of git the sandbox has made changes, so that hutch looks at them after a command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "plan/guarded_names.h"
#include "wire/access.h"

namespace hutch::guest {

// hutch finds repositories by a search of limited depth, and a sandbox chooses how deep it works. The host is told of
// each directory before the first change there, and remembers what is the user's in it. Those of GuardedNames::configs
// it knows by its search. Paths are as the sandbox sees them.
class WorkedRepositories {
 public:
  // The host is to be told this before `path` changes: the directory, if hutch checks the change of `path` in it, and
  // then the operation that `path` belongs to, each once. An empty path, also once: there are more than are remembered.
  std::optional<wire::Repository> to_tell(std::string_view path, const plan::GuardedNames& names);
  // The sandbox has removed `path`. Whether the host has been told of it as an operation.
  bool ends(const std::string& path) { return operations_.erase(path) > 0; }
  // The host is told of it. Returns whether it is remembered.
  bool add(const std::string& directory) {
    if (told_.size() < kDirectoriesMax) told_.insert(directory);
    return told_.contains(directory);
  }
  // The host knows them from earlier sandboxes.
  void know(const std::vector<std::string>& directories) { known_.insert(directories.begin(), directories.end()); }
  // Whether the host is to be told, before `from` gets the name `to` by the call with the number `call`, that such a
  // directory moves with it: once for each call, which then comes again.
  bool moves(std::uint64_t call, const std::string& from, const std::string& to, const plan::GuardedNames& names);
  // `from` has the name `to` by now. Whether such a directory has moved with it.
  bool moved(const std::string& from, const std::string& to, const plan::GuardedNames& names);

 private:
  bool is_any_below(const std::string& from, const plan::GuardedNames& names) const;

  static constexpr std::size_t kDirectoriesMax = 1024;
  static constexpr std::size_t kOperationsMax = 1024;
  static constexpr std::size_t kMovesMax = 256;  // calls that wait meanwhile, and those that were given up
  std::set<std::string, std::less<>> known_;
  std::set<std::string, std::less<>> told_;
  std::set<std::tuple<std::uint64_t, std::string, std::string>> moves_;
  bool told_too_many_ = false;
  std::set<std::string, std::less<>> operations_;  // which the host knows that the sandbox has changed
  bool told_too_many_operations_ = false;
};

}  // namespace hutch::guest
