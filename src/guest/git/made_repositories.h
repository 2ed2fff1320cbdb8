// Which repositories of git the sandbox has made itself.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <set>

#include "guest/places/access_place.h"
#include "plan/guarded_names.h"

namespace hutch::guest {

// What hutch finds when it looks for repositories while the sandbox runs is the user's, but for these. A directory is
// known by its inode number and its birth time (statx(2), stx_btime), because file systems reuse inode numbers. If the
// file system has no birth time, no directory is known, and each repository counts as the user's.
class MadeRepositories {
 public:
  // The supervisor has made the directory `entry` for the sandbox.
  void made(const Entry& entry);
  // `directory`, which is open, has become a repository by a change of the sandbox's. No answer: it was not made by the
  // sandbox, which has taken a part of somebody else's and put it back.
  std::optional<plan::RepositoryIdentity> completed(int directory);
  // One that a sandbox has made earlier.
  void add(const plan::RepositoryIdentity& repository);
  // The sandbox takes a part of a repository away: if it is not known as the sandbox's by now, it will not be.
  void taken_apart(int directory);
  // Whether `directory`, which is open, is such a repository.
  bool contains(int directory) const;
  // As contains(), and also for a directory that the supervisor has made and that is not yet a repository.
  bool knows(int directory) const;

 private:
  static std::optional<plan::RepositoryIdentity> look(int directory);

  // A repository's other directories come before what completes it: of an archive hundreds below "objects".
  static constexpr std::size_t kDirectoriesMax = 1024;
  static constexpr std::size_t kRepositoriesMax = 4096;
  std::deque<plan::RepositoryIdentity> directories_;
  std::set<plan::RepositoryIdentity> repositories_;
};

}  // namespace hutch::guest
