// What only the first process of a machine of its own does.
#include "sys/machine.h"

#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string_view>

#include "sys/call.h"

namespace hutch::sys {

Status load_module(const std::string& path) {
  const UniqueFd file = TRY(check_fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC), {"open(", path, ")"}));
  const long loaded = ::syscall(SYS_finit_module, file.get(), "", 0);
  if (loaded < 0 && errno == EEXIST) return {};
  return check(loaded, {"finit_module(", path, ")"});
}

Status move_root_to_cwd() {
  TRY(check(::mount(".", "/", nullptr, MS_MOVE, nullptr), {"mount(., /, MS_MOVE)"}));
  TRY(check(::chroot("."), {"chroot(.)"}));
  return check(::chdir("/"), {"chdir(/)"});
}

Result<UniqueFd> open_device(const std::string& path) {
  return check_fd(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), {"open(", path, ")"});
}

Status raise_loopback() {
  const UniqueFd socket = TRY(check_fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), {"socket(AF_INET)"}));
  ifreq request{};
  std::string_view("lo").copy(request.ifr_name, IFNAMSIZ - 1);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return check(::ioctl(socket.get(), SIOCSIFFLAGS, &request), {"ioctl(SIOCSIFFLAGS, lo)"});
}

Status forget_children() {
  return ::signal(SIGCHLD, SIG_IGN) == SIG_ERR ? Status(fail(Error::from_errno("signal(SIGCHLD)"))) : Status();
}

void power_off() {
  ::sync();
  (void)::reboot(RB_POWER_OFF);
  // Nothing is left that could go on.
  for (;;) ::pause();
}

}  // namespace hutch::sys
