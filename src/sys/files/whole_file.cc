// The wrappers of whole_file.h.
#include "sys/files/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "sys/call.h"
#include "sys/files/files.h"
#include "sys/files/journal.h"
#include "sys/io.h"

namespace hutch::sys {

namespace {

Status fill(int fd, const std::string& path, std::string_view text) {
  struct stat found{};
  if (::stat(path.c_str(), &found) == 0) TRY(check(::fchmod(fd, found.st_mode & 07777), {"fchmod(", path, ")"}));
  TRY(write_all(fd, text));
  return check(::fsync(fd), {"fsync(", path, ")"});
}

}  // namespace

Status replace_file(const std::string& path, std::string_view text) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
  const std::string random = TRY(random_hex(8));
  const std::string beside = cat({path, ".", random, ".tmp"});
  const UniqueFd file = TRY(make_file(kCwd, beside, 0600));
  Status written = fill(file.get(), path, text);
  if (written) written = rename_file(beside, path);
  if (!written) {
    (void)::unlink(beside.c_str());
    return written;
  }
  // The new name is an entry of the directory, which is written out on its own (fsync(2), "NOTES").
  const UniqueFd parent = TRY(open(directory, Open::kReadDirectory));
  return check(::fsync(parent.get()), {"fsync(", directory, ")"});
}

}  // namespace hutch::sys
