// Reading and writing that do not wait.
#include "sys/unwaiting.h"

#include <limits.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sys/call.h"
#include "sys/io.h"

namespace hutch::sys {

namespace {

constexpr off_t kWhereItStands = -1;

}  // namespace

Result<std::size_t> read_now(int fd, std::span<char> into) {
  const iovec part{into.data(), into.size()};
  const ssize_t count = retry([&] { return ::preadv2(fd, &part, 1, kWhereItStands, RWF_NOWAIT); });
  if (count < 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) return read_some(fd, into);
  TRY(check(count, {"preadv2(", std::to_string(fd), ")"}));
  return static_cast<std::size_t>(count);
}

Result<std::size_t> write_now(int fd, std::string_view bytes) {
  const iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  const ssize_t count = retry([&] { return ::pwritev2(fd, &part, 1, kWhereItStands, RWF_NOWAIT); });
  if (count < 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) return write_some(fd, bytes.substr(0, PIPE_BUF));
  TRY(check(count, {"pwritev2(", std::to_string(fd), ")"}));
  return static_cast<std::size_t>(count);
}

}  // namespace hutch::sys
