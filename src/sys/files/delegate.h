// Calls about files that one process makes for another: resolving as the other would, and the change itself.
// openat2(2), process_vm_readv(2), proc(5), faccessat2(2), utimensat(2), xattr(7).
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

// At most `bytes_max` of another process's memory up to the first zero byte, which has to be among them: ENAMETOOLONG.
Result<std::string> read_text_of(pid_t process, std::uint64_t address, std::size_t bytes_max);
// Exactly `size` bytes.
Status read_memory_of(pid_t process, std::uint64_t address, void* into, std::size_t size);

// `proc` is a directory of a proc(5) that knows the process. Its current directory, or what its descriptor is open on,
// as O_PATH.
Result<UniqueFd> directory_of(int proc, pid_t process);
Result<UniqueFd> descriptor_of(int proc, pid_t process, int number);
// The very descriptor of a thread, its state shared with it (pidfd_getfd(2)). Before Linux 6.9 a thread that has
// descriptors of its own (CLONE_FILES, unshare(2)) has those of its process's first thread taken.
Result<UniqueFd> take_descriptor(int proc, pid_t thread, int number);
// The flags of open(2) that a descriptor of its has.
Result<int> flags_of(int proc, pid_t process, int number);

// The file-creation mask of a process, and whether a thread of it may change it as well.
enum class Sharers { kNone, kThreads };
struct CreationMask {
  mode_t mask = 0;
  Sharers sharers = Sharers::kThreads;
};
Result<CreationMask> umask_of(int proc, pid_t process);

enum class LastLink { kFollow, kKeep };
// What `path` names for a process whose current directory is `base` and whose root is this process's: as O_PATH.
// `resolve` are RESOLVE_ flags of openat2(2) to hold as well.
Result<UniqueFd> resolve(int base, const std::string& path, LastLink last, std::uint64_t resolve);
// The same without any symbolic link, mounts crossed, nothing above `directory`.
Result<UniqueFd> resolve_plain(int directory, const std::string& path);

struct Resolved {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t mount = 0;
  mode_t mode = 0;
  std::uint32_t links = 0;  // the number of names of the file
  bool is_same(const Resolved& other) const { return device == other.device && inode == other.inode; }
};
Result<Resolved> look_at(int fd);
// Of a name in a directory, itself where it is a link; of the current directory of a process.
Result<Resolved> look_at_name(int directory, const std::string& name);
Result<Resolved> look_at_directory_of(int proc, pid_t process);
Result<bool> is_on_read_only_mount(int fd);
Result<bool> is_on_tmpfs(int fd);
Result<bool> is_on_proc(int fd);  // proc(5), which leads each process elsewhere
// The path that the kernel has for what `fd` is open on, as seen from this process's root.
Result<std::string> path_of(int proc, int fd);
// The same by a directory of this process's descriptors, for whoever asks often: the way there is most of the time.
Result<UniqueFd> own_descriptors(int proc);
Result<std::string> path_in(int descriptors, int fd);

// openat(2) with O_NOFOLLOW, O_NOCTTY, O_CLOEXEC and O_NONBLOCK besides `flags`: no such call waits.
Result<UniqueFd> open_at(int directory, const std::string& name, int flags, mode_t mode);
// Opens the file of `fd` (O_PATH) again, whatever its name, on the mount of `fd`. proc(5) as below.
Result<UniqueFd> open_again(int fd, int flags);
Status clear_nonblocking(int fd);
// A file that was not there: EEXIST. Being an ordinary one it makes nobody wait.
Result<UniqueFd> make_at(int directory, const std::string& name, int flags, mode_t mode);
Status truncate_file(int fd, std::int64_t size);
Status make_directory_at(int directory, const std::string& name, mode_t mode);
Status make_node_at(int directory, const std::string& name, mode_t mode, dev_t device);
Status make_symlink_at(const std::string& text, int directory, const std::string& name);
Status link_at(int from, const std::string& name, int to, const std::string& new_name);
// The file of `fd`, which was opened with O_TMPFILE; EEXIST if something has the name. proc(5) as below.
Status give_name(int fd, int to, const std::string& name);
Status rename_with(int from, const std::string& name, int to, const std::string& new_name, unsigned flags);
Status unlink_with(int directory, const std::string& name, int flags);

// Of what `fd` (O_PATH) is open on. `proc` as above: it has to be this process's current directory.
Status set_mode_of(int fd, mode_t mode);
Status set_owner_of(int fd, std::uint32_t uid, std::uint32_t gid);
Status set_times_of(int fd, const std::optional<std::array<timespec, 2>>& times);
Status check_access_of(int fd, int mode, int flags);
Status set_attribute_of(int fd, const std::string& name, const std::string& value, int flags);
bool has_attribute(int fd, const char* name);  // `fd` is open for reading or writing
Status remove_attribute_of(int fd, const std::string& name);

// The directory becomes the current one.
Status stay_in(int directory);

}  // namespace hutch::sys
