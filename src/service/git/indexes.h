// Checks, once a command has ended, the indexes of git that it wrote: git later writes files from them, outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "plan/git/index.h"
#include "plan/plan.h"
#include "sys/files/changed.h"

namespace hutch::service {

struct IndexesLeft {
  std::vector<plan::GitStaged> files{};
  std::vector<plan::GitIndexReader::CachedTree> trees{};
  bool are_all = true;
};

class GitIndexes {
 public:
  GitIndexes();

  // Remembers the index `file` of a repository, or of a linked worktree, before the command starts.
  void remember(const std::string& file, const sys::FileVersion& version);
  // Remembers only that there is an index, which another run may have written: all of it counts as new.
  void remember_of_other(const std::string& file) { before_[file] = Before(); }

  // What was remembered at `from`, or below it, is at `to` by now.
  void moved(const std::string& from, const std::string& to);

  struct Found {
    std::string file;  // the index
    // kOutside: git would write `names` outside of the work tree. kUnknown: git may read something that hutch cannot.
    // kStaged: the command may not write `names` in the work tree, but "git restore" would.
    enum class What : std::uint8_t { kOutside, kUnknown, kStaged } what = What::kOutside;
    std::vector<std::string> names;
    std::string text() const;  // the finding, for a person
  };
  struct Look {
    std::vector<Found> found;
    bool is_complete = true;
  };
  // What the indexes of these directories have at protected names: only those that have changed, without the files that
  // the earlier index had too, or all.
  enum class Which { kChanged, kAll };
  IndexesLeft left_in(const std::vector<std::string>& directories, Which which) const;
  std::int64_t start_ns() const { return start_ns_; }  // since the epoch; later changes have a later time

  // Checks the indexes that have changed, or are new. `held` are the names that the command may not write.
  Look look(const std::vector<std::string>& directories, const plan::GuardedNames& held) const;

 private:
  // git writes each new index to a new file, so the earlier one stays open here. The checksum at its end tells whether
  // a command has changed it.
  struct Before {
    sys::FileVersion version;
    UniqueFd file;
    std::string end;
  };
  void add_left(const std::string& directory, Which which, std::size_t& left, IndexesLeft& all) const;
  std::optional<Found> look_at(const std::string& file, const std::string& directory, std::size_t& left,
                               const plan::GuardedNames& held) const;
  void drop_earlier(const std::string& file, plan::GitHash hash, std::vector<plan::GitStaged>& staged,
                    std::vector<plan::GitIndexReader::CachedTree>& cached) const;
  bool is_as_before(const std::string& file) const;

  std::int64_t start_ns_;
  std::map<std::string, Before> before_;
  std::size_t open_ = 0;  // how many of the files are open
};

}  // namespace hutch::service
