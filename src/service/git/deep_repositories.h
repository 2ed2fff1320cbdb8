// The repositories of git that no search finds, and in which sandboxes have made changes.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace hutch::service {

// What a command has prepared in one of them, a later command can complete by a change that names no repository, such
// as a write through a hard link. Therefore hutch looks at them after each command that may write there. Paths are
// those of the host.
class DeepRepositories {
 public:
  // `data` is hutch's own directory.
  explicit DeepRepositories(const std::string& data);

  // Those below `roots`: that are there, or all that were there once.
  enum class Which { kThere, kAll };
  std::vector<std::string> below(const std::vector<std::string>& roots, Which which) const;
  // False if there were more of them, below one of these, than are kept.
  bool are_all_below(const std::vector<std::string>& roots) const;
  // What earlier runs could write below `roots`, not these themselves: a search from there goes deeper.
  std::vector<std::string> roots_below(const std::vector<std::string>& roots) const;

  // They are some from here on. A run that may write `roots` has found them, or none yet.
  void keep(const std::vector<std::string>& directories, const std::vector<std::string>& roots);

 private:
  const std::string file_;
  std::set<std::string> directories_;
  std::set<std::string> roots_;
  std::set<std::string> overfull_;  // roots
};

}  // namespace hutch::service
