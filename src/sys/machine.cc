// What only the first process of a machine of its own does.
#include "sys/machine.h"

#include <fcntl.h>
#include <linux/random.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "sys/call.h"

namespace hutch::sys {

Status load_module_image(std::string_view bytes) {
  const long loaded = ::syscall(SYS_init_module, bytes.data(), bytes.size(), "");
  if (loaded < 0 && errno == EEXIST) return {};
  return check(loaded, {"init_module()"});
}

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

namespace {

ifreq request_for(std::string_view name) {
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  return request;
}

sockaddr_in socket_address(const IpAddress& address) {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  std::memcpy(&made.sin_addr, address.bytes.data(), sizeof(made.sin_addr));
  return made;
}

Result<UniqueFd> any_socket() { return check_fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), {"socket(AF_INET)"}); }

}  // namespace

Status raise_loopback() {
  const UniqueFd socket = TRY(any_socket());
  ifreq request = request_for("lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return check(::ioctl(socket.get(), SIOCSIFFLAGS, &request), {"ioctl(SIOCSIFFLAGS, lo)"});
}

Status raise_interface(const std::string& name, const IpAddress& address, const IpAddress& router) {
  const UniqueFd socket = TRY(any_socket());
  ifreq request = request_for(name);
  const auto call = [&](unsigned long number, std::string_view what) {
    return check(::ioctl(socket.get(), number, &request), {"ioctl(", what, ", ", name, ")"});
  };
  if (::ioctl(socket.get(), SIOCGIFFLAGS, &request) < 0 && errno == ENODEV) {
    return fail(Error::not_found(cat({name, ": no such interface"})));
  }
  sockaddr_in value = socket_address(address);
  std::memcpy(&request.ifr_addr, &value, sizeof(value));
  TRY(call(SIOCSIFADDR, "SIOCSIFADDR"));
  value = socket_address(IpAddress::v4(255, 255, 255, 0));
  std::memcpy(&request.ifr_netmask, &value, sizeof(value));
  TRY(call(SIOCSIFNETMASK, "SIOCSIFNETMASK"));
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  TRY(call(SIOCSIFFLAGS, "SIOCSIFFLAGS"));
  rtentry route{};
  const sockaddr_in everywhere = socket_address(IpAddress::v4(0, 0, 0, 0));
  value = socket_address(router);
  std::memcpy(&route.rt_dst, &everywhere, sizeof(everywhere));
  std::memcpy(&route.rt_genmask, &everywhere, sizeof(everywhere));
  std::memcpy(&route.rt_gateway, &value, sizeof(value));
  route.rt_flags = RTF_UP | RTF_GATEWAY;
  return check(::ioctl(socket.get(), SIOCADDRT, &route), {"ioctl(SIOCADDRT, ", name, ")"});
}

Status set_clock(std::int64_t nanoseconds) {
  static constexpr std::int64_t kSecond = 1'000'000'000;
  const timespec time{.tv_sec = nanoseconds / kSecond, .tv_nsec = nanoseconds % kSecond};
  return check(::clock_settime(CLOCK_REALTIME, &time), {"clock_settime(CLOCK_REALTIME)"});
}

Status renew_randomness(std::string_view entropy) {
  const UniqueFd pool = TRY(check_fd(::open("/dev/urandom", O_WRONLY | O_CLOEXEC), {"open(/dev/urandom)"}));
  // rand_pool_info, whose last member is as long as what is given.
  std::vector<int> info(2 + (entropy.size() + sizeof(int) - 1) / sizeof(int));
  info[0] = static_cast<int>(entropy.size() * 4);
  info[1] = static_cast<int>(entropy.size());
  std::memcpy(info.data() + 2, entropy.data(), entropy.size());
  TRY(check(::ioctl(pool.get(), RNDADDENTROPY, info.data()), {"ioctl(RNDADDENTROPY)"}));
  return check(::ioctl(pool.get(), RNDRESEEDCRNG), {"ioctl(RNDRESEEDCRNG)"});
}

Status forget_children() {
  return ::signal(SIGCHLD, SIG_IGN) == SIG_ERR ? Status(fail(Error::from_errno("signal(SIGCHLD)"))) : Status();
}

void flush_disks() { ::sync(); }

void power_off() {
  flush_disks();
  (void)::reboot(RB_POWER_OFF);
  // Nothing is left that could go on.
  for (;;) ::pause();
}

}  // namespace hutch::sys
