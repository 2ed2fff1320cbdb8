// Space on disk.
#include "sys/files/disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "sys/call.h"
#include "sys/files/tree.h"

namespace hutch::sys {

namespace {

constexpr std::uint64_t kEntriesMax = 500'000;
constexpr int kDepthMax = 64;  // each level takes a descriptor

struct Walk {
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
};

void add_below(int directory, int depth, Walk& walk) {
  const auto names = names_in(directory, "");
  if (!names) return;
  for (const TreeEntry& entry : *names) {
    if (++walk.entries > kEntriesMax) return;
    struct stat status{};
    if (::fstatat(directory, entry.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    walk.bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;  // the unit of st_blocks, stat(3type)
    if (!S_ISDIR(status.st_mode) || depth >= kDepthMax) continue;
    if (const auto below = open_listing_at(directory, entry.name)) add_below(below->get(), depth + 1, walk);
  }
}

}  // namespace

Result<std::uint64_t> bytes_available(const std::string& path) {
  struct statvfs space{};
  TRY(check(::statvfs(path.c_str(), &space), {"statvfs(", path, ")"}));
  return static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
}

Result<std::uint64_t> tree_bytes(const std::string& directory) {
  const UniqueFd top = TRY(open_listing(directory));
  Walk walk;
  add_below(top.get(), 0, walk);
  return walk.bytes;
}

Status make_sparse_file(const std::string& path, std::uint64_t bytes) {
  const UniqueFd file =
      TRY(check_fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), {"open(", path, ")"}));
  return check(::ftruncate(file.get(), static_cast<off_t>(bytes)), {"ftruncate(", path, ")"});
}

}  // namespace hutch::sys
