// What a program does that makes files for others: owners, hard links, content at an offset. chown(2), link(2),
// pwrite(2), ftruncate(2), syncfs(2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hutch::sys {

// As an archive names them: what is no id at all is an error.
struct Owner {
  std::int64_t user = 0;
  std::int64_t group = 0;
};
Status set_owner(int fd, Owner owner);
// Of `name` in the directory, a symbolic link not followed.
Status set_owner_at(int directory, const std::string& name, Owner owner);
// `to` gets the owner, group and mode of `from`.
Status copy_owner_and_mode(int from, int to);

// A link is not followed, on either side.
Status make_hard_link(int from, const std::string& name, int to, const std::string& new_name);

Status write_at(int fd, std::uint64_t offset, std::string_view bytes);
Status set_size(int fd, std::uint64_t size);

// Waits until everything of the file system that `fd` lies on is on the disk.
Status sync_file_system(int fd);

}  // namespace hutch::sys
