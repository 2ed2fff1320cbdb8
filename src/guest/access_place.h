// Where a caller's path leads: in the sandbox as it sees it, and in the writable copy.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
  std::string path;  // canonical, below where its mount was planned: what rules are about

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

// What is there of a path, and what is not.
struct Whereabouts {
  std::string path;         // canonical as far as it is there, then names
  bool is_there = false;    // all of it
  bool is_writable = true;  // by its mount, or that of the deepest directory that is there
};

// What somebody who looks finds.
struct Sight {
  UniqueFd there;        // O_PATH; absent: nothing
  bool is_bare = false;  // nothing is there, and nothing of the host's can be hidden there
};

class Places {
 public:
  // A supervised mount. Without `root` it was not found where it was planned.
  struct Mount {
    enum class Above { kFixed, kMovable };  // whether the sandbox can move a directory that it is in
    std::string target;
    UniqueFd root{};  // O_PATH, as the sandbox sees it
    std::uint64_t id = 0;
    Above above = Above::kMovable;
  };
  // `tree` is the writable copy of the sandbox's root, `proc` a proc(5) that knows the callers, `descriptors` the
  // directory of this process's own in it.
  Places(UniqueFd tree, UniqueFd proc, UniqueFd descriptors, std::vector<Mount> mounts);

  int proc() const { return proc_.get(); }

  // Changes of `only` and what is below it are made in `tree` from here on, which shows what the sandbox sees at
  // `root`. What is in `closed` is not.
  struct Grant {
    std::string root;
    std::string only;
    std::vector<std::string> closed;
    UniqueFd tree;
  };
  void grant(Grant grant);
  // Grants of `path`, and of what is below it, end; mounts may have changed.
  void revoke(const std::string& path);

  // Absent: it does not lead into a supervised tree, or the kernel shall say what is wrong with it. An error: it leads
  // nowhere, as the caller is told. The kernel, were it asked, might find what was made meanwhile, read-only.
  Result<std::optional<Entry>> entry(const CallerPath& path, std::uint64_t resolve);
  // Of two paths of one call, which are often in one directory.
  using EntryPair = std::pair<Entry, Entry>;
  Result<std::optional<EntryPair>> entries(const CallerPath& from, const CallerPath& to);
  // Likewise; absent as well where it has no last component.
  Result<std::optional<NamedPlace>> named(const CallerPath& path, std::uint64_t resolve);
  Result<std::optional<Object>> object(const CallerPath& path, sys::LastLink last, std::uint64_t resolve) const;
  // The ordinary case of it, with few calls: in a directory that is known, and no link. Absent: it is not that case.
  std::optional<Object> plain_object(const CallerPath& path);
  // What it leads to in the sandbox, as O_PATH, supervised or not.
  Result<UniqueFd> seen(const CallerPath& path, sys::LastLink last) const;
  // Likewise for one who looks, where what is not there is no error.
  Result<Sight> sight(const CallerPath& path, sys::LastLink last) const;
  // What an open descriptor of a caller is.
  Result<std::optional<Object>> object(pid_t caller, int descriptor) const;
  // EBADF for one that was opened with O_PATH, by which nothing can be changed.
  Status check_is_open(pid_t caller, int descriptor) const;
  // Whether the error of a path that led nowhere is what the caller would get. Not where a link, or proc(5), could lead
  // the caller elsewhere than this process.
  bool is_final(const CallerPath& path, const Error& error) const;
  // Where it leads, as far as anything is there. Absent: into proc(5), or nowhere that a path says.
  std::optional<Whereabouts> whereabouts(const CallerPath& path, sys::LastLink last) const;
  bool is_writable(const std::string& path) const;  // whether a change of it could be made here
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
  // The very same file in the writable copy.
  struct Twin {
    UniqueFd handle;
    sys::Resolved what;
    std::string path;  // as the sandbox sees it
    std::string name;  // as rules have it
    int tree = -1;
    std::string root{};  // what the sandbox sees of `tree`
  };
  const Grant* grant_for(const std::string& path) const;
  Result<std::string> name_of(const UniqueFd& seen, std::string path, std::uint64_t mount) const;
  std::optional<std::string> innermost_name(const UniqueFd& seen, const std::string& path) const;
  std::optional<std::string> name_below(const Mount& mount, const UniqueFd& seen, const std::string& path) const;
  Result<std::optional<Twin>> twin_of(const UniqueFd& seen) const;
  bool is_own(const std::string& path, const sys::Resolved& what) const;
  Result<std::optional<Directory>> granted_directory(const UniqueFd& seen, const sys::Resolved& what) const;

  UniqueFd tree_;
  UniqueFd proc_;
  UniqueFd descriptors_;
  std::vector<Mount> mounts_;
  std::vector<Grant> grants_;
  Directories directories_;
};

}  // namespace hutch::guest
