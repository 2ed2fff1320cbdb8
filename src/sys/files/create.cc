// Owners, hard links, content at an offset.
#include "sys/files/create.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/call.h"

namespace hutch::sys {

namespace {

// The last number means "unchanged" to chown(2).
constexpr std::int64_t kIdEnd = 0xffffffff;

Status check_ids(Owner owner) {
  if (owner.user >= 0 && owner.user < kIdEnd && owner.group >= 0 && owner.group < kIdEnd) return {};
  return fail(Error::invalid(cat({std::to_string(owner.user), ":", std::to_string(owner.group), " is no owner"})));
}

std::string owner_text(Owner owner) { return cat({std::to_string(owner.user), ":", std::to_string(owner.group)}); }

}  // namespace

Status set_owner(int fd, Owner owner) {
  TRY(check_ids(owner));
  return check(::fchown(fd, static_cast<uid_t>(owner.user), static_cast<gid_t>(owner.group)),
               {"fchown(", owner_text(owner), ")"});
}

Status set_owner_at(int directory, const std::string& name, Owner owner) {
  TRY(check_ids(owner));
  const int answer = ::fchownat(directory, name.c_str(), static_cast<uid_t>(owner.user),
                                static_cast<gid_t>(owner.group), AT_SYMLINK_NOFOLLOW);
  return check(answer, {"fchownat(", name, ", ", owner_text(owner), ")"});
}

Status copy_owner_and_mode(int from, int to) {
  struct stat status{};
  TRY(check(::fstat(from, &status), {"fstat()"}));
  TRY(set_owner(to, {status.st_uid, status.st_gid}));
  return check(::fchmod(to, status.st_mode & 07777), {"fchmod()"});
}

Status make_hard_link(int from, const std::string& name, int to, const std::string& new_name) {
  return check(::linkat(from, name.c_str(), to, new_name.c_str(), 0), {"link(", name, ", ", new_name, ")"});
}

Status write_at(int fd, std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = retry([&] { return ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    TRY(check(count, {"pwrite()"}));
    bytes.remove_prefix(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return {};
}

Status set_size(int fd, std::uint64_t size) {
  return check(::ftruncate(fd, static_cast<off_t>(size)), {"ftruncate()"});
}

Status sync_file_system(int fd) { return check(::syncfs(fd), {"syncfs()"}); }

}  // namespace hutch::sys
