// Where a caller's path leads: in the sandbox as it sees it, and in the writable copy.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sys/delegate.h"

namespace hutch::guest {

// A path as a caller gave it: to its current directory (AT_FDCWD) or to a directory that it has open.
struct CallerPath {
  pid_t caller = 0;
  int directory = 0;
  std::string text;
};

// A name in a directory of a supervised tree, there or not.
struct Entry {
  UniqueFd directory;  // in the writable copy
  std::string name;    // one component, with the slashes that the caller put behind it
  std::string path;    // as the sandbox sees it, canonical
};

// Something that is there, in a supervised tree.
struct Object {
  Entry entry;
  UniqueFd handle;  // O_PATH, in the writable copy
  sys::Resolved what;
};

class Places {
 public:
  // `tree` is the writable copy of the sandbox's root, `proc` a proc(5) that knows the callers.
  Places(UniqueFd tree, UniqueFd proc) : tree_(std::move(tree)), proc_(std::move(proc)) {}

  int proc() const { return proc_.get(); }

  // Absent: it does not lead into a supervised tree, or nowhere at all, and the kernel shall say so.
  Result<std::optional<Entry>> entry(const CallerPath& path, std::uint64_t resolve) const;
  Result<std::optional<Object>> object(const CallerPath& path, sys::LastLink last, std::uint64_t resolve) const;
  // What an open descriptor of a caller is.
  Result<std::optional<Object>> object(pid_t caller, int descriptor) const;
  // EBADF for one that was opened with O_PATH, by which nothing can be changed.
  Status check_is_open(pid_t caller, int descriptor) const;
  // What the symbolic link at `path` says, where it is one.
  std::optional<std::string> link_at(const CallerPath& path) const;

 private:
  struct From {
    UniqueFd base;
    std::string path;
  };
  Result<From> start_of(const CallerPath& path, std::uint64_t resolve) const;
  Result<UniqueFd> base_of(const CallerPath& path, std::uint64_t resolve) const;
  Result<std::optional<Object>> in_copy(const UniqueFd& seen) const;
  Result<std::optional<Entry>> directory_in_copy(const UniqueFd& seen) const;

  UniqueFd tree_;
  UniqueFd proc_;
};

}  // namespace hutch::guest
