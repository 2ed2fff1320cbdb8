// The work trees of submodules' repositories, which the user's git writes.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace hutch::service {

// git finds such a repository by a ".git" file, and writes the work tree that the repository's configuration names
// (core.worktree of git-config(1)), whatever directory the file lies in.
struct GitModuleTree {
  // kOwn: a directory whose ".git" file leads back to the repository. kNone: nothing is there. kLink: a symbolic link
  // is on the way.
  enum class Leads { kNone, kOwn, kLink, kElsewhere } leads = Leads::kNone;
  std::string tree{};  // absolute
  std::string link{};  // kLink: that link
};

// Of the repository's directory, which is absolute and has no link on the way; kNone where it is no submodule's.
GitModuleTree git_module_tree(const std::string& directory);

// The user's, as they are when a command starts; and afterwards what has come to lead elsewhere.
class GitModuleTrees {
 public:
  void remember(const std::vector<std::string>& directories);
  // What was at `from`, or below it, is at `to` by now.
  void moved(const std::string& from, const std::string& to);
  // What to take away, so that git writes nothing elsewhere: the configuration, or a link on the way.
  struct Found {
    std::string directory;
    std::string path;
    std::string tree;
  };
  std::vector<Found> look(const std::vector<std::string>& directories) const;

 private:
  std::map<std::string, GitModuleTree> users_;  // by directory
  std::map<std::string, std::string> absolute_;  // the trees of those that have moved, if their paths are absolute
};

}  // namespace hutch::service
