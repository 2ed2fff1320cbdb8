// Configurations of repositories that are not the sandbox's: what git writes there lands if it changes nothing that
// git obeys.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "guest/places/access_place.h"

namespace hutch::guest {

class GitConfigs {
 public:
  // Gives `to` the content of `from`, which git has written as config.lock, in a new file that nobody else has open,
  // and removes `from`. Returns the setting that must not change; nothing if the file has been replaced. Calls `tell`
  // before a change that the user is shown.
  // Outer: the repository comes along with a linked worktree, whose own config.worktree git could not write.
  enum class Repository { kOwn, kOuter };
  Result<std::optional<std::string>> replace(const Entry& from, const Entry& to, Repository repository,
                                             const std::function<void()>& tell);

  // git outside writes a lock, too, and renames it by its name: only a lock of the sandbox's own is the sandbox's to
  // write, to move and to remove.
  Status keep_lock(const UniqueFd& made);
  bool is_own_lock(const sys::Resolved& what) const;

 private:
  // A sandbox may undo and redo what it has done itself: the comparison is with the text before its first change. A
  // change from outside in between is the user's.
  struct Known {
    std::string path;
    std::string before;
    std::string made;
  };
  static constexpr std::size_t kKnownMax = 64;  // a longer list would hold memory for nothing

  Known& known(const std::string& path, std::string present);

  std::vector<Known> known_;

  // Held open, so that no other file gets the inode's number.
  struct Lock {
    UniqueFd file;
    sys::Resolved what;
  };
  std::vector<Lock> locks_;
};

}  // namespace hutch::guest
