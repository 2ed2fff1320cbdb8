// Which repositories of git the sandbox has made itself.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>

#include "guest/access_place.h"

namespace hutch::guest {

// What hutch finds when it looks for repositories while the sandbox runs is the user's, but for these. A directory is
// known by its inode number and its birth time (statx(2), stx_btime), because file systems reuse inode numbers. If the
// file system has no birth time, no directory is known, and each repository counts as the user's.
class MadeRepositories {
 public:
  // The supervisor has made the directory `entry` for the sandbox.
  void made(const Entry& entry);
  // `directory`, which is open, has become a repository by a change of the sandbox's. That of somebody else, from which
  // the sandbox has taken a part and put it back, was not made by it.
  void completed(int directory);
  // The sandbox takes a part of a repository away: if it is not known as the sandbox's by now, it will not be.
  void taken_apart(int directory);
  // Whether `directory`, which is open, is such a repository.
  bool contains(int directory) const;
  // As contains(), and also for a directory that the supervisor has made and that is not yet a repository.
  bool knows(int directory) const;

 private:
  struct Made {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t born_ns = 0;
    auto operator<=>(const Made&) const = default;
  };
  static std::optional<Made> look(int directory);

  // A repository's other directories come before what completes it: of an archive hundreds below "objects".
  static constexpr std::size_t kDirectoriesMax = 1024;
  static constexpr std::size_t kRepositoriesMax = 4096;
  std::deque<Made> directories_;
  std::set<Made> repositories_;
};

}  // namespace hutch::guest
