// openat2(2) for reading.
#include "sys/files/plain_open.h"

#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include "base/plain_open.h"
#include "sys/call.h"

namespace hutch::sys {

namespace {

struct Argument {
  open_how how;
  std::array<std::uint64_t, (kPlainOpenBytes - sizeof(open_how)) / sizeof(std::uint64_t)> rest;
};
static_assert(sizeof(Argument) == kPlainOpenBytes);

}  // namespace

long plain_openat2(int directory, const std::string& path, const open_how& how) {
  const Argument argument{how, {}};
  return retry([&] { return ::syscall(SYS_openat2, directory, path.c_str(), &argument, sizeof argument); });
}

}  // namespace hutch::sys
