// Where a caller's path leads: in the sandbox as it sees it, and in the writable copy.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "guest/places/access_directories.h"
#include "guest/places/access_found.h"
#include "sys/files/delegate.h"

namespace hutch::guest {

class Places {
 public:
  // A supervised mount. Without `root` it was not found where it was planned.
  struct Mount {
    enum class Above { kFixed, kMovable };  // whether the sandbox can move a directory that it is in
    std::string target;
    UniqueFd root{};  // O_PATH, as the sandbox sees it
    std::uint64_t id = 0;
    Above above = Above::kMovable;
    sys::Resolved what{};  // of `root`
    std::string source{};  // the host's path of it; empty: it is none of the host's
    UniqueFd outside{};    // O_PATH, among the host's mounts; absent: it was moved before it could be opened
    std::string outside_path{};  // of that, when it was last looked at; empty: not yet
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
    bool is_handed_over = false;  // the sandbox has descriptors of files in `tree`
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
  // Whether it leads to where nothing is supervised, as far as few calls tell. No more is told of a link.
  bool leads_elsewhere(const CallerPath& path, std::uint64_t resolve);
  Result<std::optional<Object>> object(const CallerPath& path, sys::LastLink last, std::uint64_t resolve) const;
  // The ordinary case of it, with few calls: in a directory that is known, and no link. Absent: it is not that case.
  std::optional<Object> plain_object(const CallerPath& path);
  // The entry's current name: its directory may have moved since the lookup.
  Result<std::string> path_of(const Entry& entry) const;
  // Where the host has an entry in the root of a supervised mount, or in one that was planned in a ".git". Absent:
  // elsewhere. An error: nobody knows.
  enum class Outlook { kLast, kNow };  // as it was when it was last looked at, or as it is
  Result<std::optional<Outside>> outside_of(const Entry& entry, Outlook outlook);
  // What it leads to in the sandbox, as O_PATH, supervised or not.
  Result<UniqueFd> seen(const CallerPath& path, sys::LastLink last) const;
  // Likewise for one who looks, where what is not there is no error.
  Result<Sight> sight(const CallerPath& path, sys::LastLink last) const;
  // The file of an open descriptor of a caller. Its entry has no name in its directory.
  Result<std::optional<Object>> object(pid_t caller, int descriptor) const;
  Result<UniqueFd> seen(pid_t caller, int descriptor) const;
  // Whether the path that the kernel reports for `seen` leads to the same file on the sandbox's own mounts.
  Result<bool> is_of_sandbox(const UniqueFd& seen) const;
  // The caller is about to give `file` to the sandbox. It lies on `mount`, of the writable copy or of a grant's tree.
  // From here on the supervisor judges calls about descriptors on that mount by the name that the file has at that
  // time.
  Status hand_over(const UniqueFd& file, std::uint64_t mount);
  // EBADF for one that was opened with O_PATH, by which nothing can be changed.
  Status check_is_open(pid_t caller, int descriptor) const;
  // The last path found since the previous call that is read-only for everybody: the kernel refuses to change it.
  std::optional<std::string> take_covered() { return std::exchange(covered_, std::nullopt); }
  // The content of the regular file at a canonical path of the sandbox. An error if it is not a regular file, or is
  // longer than `bytes_max`.
  Result<std::string> text_at(const std::string& path, std::size_t bytes_max) const;
  // Whether the error of a path that led nowhere is what the caller would get. Not where a link, or proc(5), could lead
  // the caller elsewhere than this process.
  bool is_final(const CallerPath& path, const Error& error) const;
  // Where it leads, as far as anything is there. Absent: into proc(5), or nowhere that a path says.
  std::optional<Whereabouts> whereabouts(const CallerPath& path, sys::LastLink last) const;
  // O_PATH, of a canonical path of the sandbox in the writable copy, no link anywhere.
  Result<UniqueFd> in_copy_at(const std::string& path) const;
  std::string root_of(std::string_view path) const;  // the innermost supervised tree that holds it
  bool is_writable(const std::string& path) const;  // whether a change of it could be made here
  std::optional<std::string> link_at(const CallerPath& path) const;  // the target of the symbolic link at `path`

 private:
  // `held` where `base`, or what `path` begins with, was opened for it.
  struct From {
    int base = -1;
    UniqueFd held;
    std::string path;
  };
  Result<From> start_of(const CallerPath& path, std::uint64_t resolve) const;
  std::optional<From> by_descriptor(pid_t caller, std::string_view below_own) const;
  Result<UniqueFd> base_of(const CallerPath& path) const;
  Result<Directories::Shared> directory(const CallerPath& path, std::uint64_t resolve);
  Result<Directories::Shared> known(UniqueFd seen);
  enum class Wanted { kHandle, kName };
  Result<std::optional<Object>> in_copy(UniqueFd seen, Wanted wanted) const;
  Result<std::optional<Object>> handed_over(UniqueFd seen, Wanted wanted) const;
  // The very same file in the writable copy.
  struct Twin {
    UniqueFd handle;
    sys::Resolved what;
    std::string path;  // as the sandbox sees it
    std::string name;  // as rules have it
    int tree = -1;
    std::string root{};  // what the sandbox sees of `tree`
  };
  // A mount from which files were handed over. The sandbox sees its tree at `root`.
  struct HandedOver {
    std::uint64_t mount = 0;
    std::string root;
    enum class From { kCopy, kGrant } from = From::kCopy;
  };
  template <class Ends>
  void end_grants(Ends ends);
  const Grant* grant_for(const std::string& path) const;
  Result<std::string> name_of(const UniqueFd& seen, std::string path, std::uint64_t mount) const;
  std::optional<std::string> innermost_name(const UniqueFd& seen, const std::string& path) const;
  std::optional<std::string> name_below(const Mount& mount, const UniqueFd& seen, const std::string& path) const;
  Result<std::optional<Twin>> twin_of(const UniqueFd& seen) const;
  bool is_own(const std::string& path, const sys::Resolved& what) const;
  Mount* mount_of(const Entry& entry);
  Result<std::optional<Directory>> granted_directory(const UniqueFd& seen, const sys::Resolved& what) const;

  UniqueFd tree_;
  UniqueFd proc_;
  UniqueFd descriptors_;
  std::vector<Mount> mounts_;
  std::vector<Grant> grants_;
  std::vector<HandedOver> handed_over_;
  std::vector<UniqueFd> ended_;  // trees of ended grants, whose files were handed over: no new mount gets their number
  Directories directories_;
  mutable std::optional<std::string> covered_;
};

}  // namespace hutch::guest
