// Where a caller's path leads: in the sandbox as it sees it, and in the writable copy.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "guest/access_directories.h"
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
  Directories::Shared directory;
  std::string name;  // one component, with the slashes that the caller put behind it
  std::string path;  // as the sandbox sees it, canonical

  int at() const { return directory->copy.get(); }  // the directory in the writable copy
};

// A name whose directory may be in no supervised tree: that one has no copy then, and `path` is empty.
using NamedPlace = Entry;

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

  // Absent: it does not lead into a supervised tree, or the kernel shall say what is wrong with it. An error: it leads
  // nowhere, and that is what the caller is told. Were the kernel asked, it might find what was made meanwhile,
  // read-only.
  Result<std::optional<Entry>> entry(const CallerPath& path, std::uint64_t resolve);
  // Likewise; absent as well where it has no last component.
  Result<std::optional<NamedPlace>> named(const CallerPath& path, std::uint64_t resolve);
  Result<std::optional<Object>> object(const CallerPath& path, sys::LastLink last, std::uint64_t resolve) const;
  // What it leads to in the sandbox, as O_PATH, supervised or not.
  Result<UniqueFd> seen(const CallerPath& path, sys::LastLink last) const;
  // What an open descriptor of a caller is.
  Result<std::optional<Object>> object(pid_t caller, int descriptor) const;
  // EBADF for one that was opened with O_PATH, by which nothing can be changed.
  Status check_is_open(pid_t caller, int descriptor) const;
  // Whether the error of a path that led nowhere is what the caller would get. Not where a link, or proc(5), could lead
  // the caller elsewhere than this process.
  bool is_final(const CallerPath& path, const Error& error) const;
  // What the symbolic link at `path` says, where it is one.
  std::optional<std::string> link_at(const CallerPath& path) const;

 private:
  // `held` where `base` was opened for it.
  struct From {
    int base = -1;
    UniqueFd held;
    std::string path;
  };
  Result<From> start_of(const CallerPath& path, std::uint64_t resolve) const;
  Result<UniqueFd> base_of(const CallerPath& path) const;
  Result<Directories::Shared> directory(const CallerPath& path, std::uint64_t resolve);
  Result<Directories::Shared> known(UniqueFd seen);
  Result<std::optional<Object>> in_copy(const UniqueFd& seen) const;

  UniqueFd tree_;
  UniqueFd proc_;
  Directories directories_;
};

}  // namespace hutch::guest
