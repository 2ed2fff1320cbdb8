// Unix sockets of the host.
#include "policy/network/sockets.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"
#include "policy/glob.h"

namespace hutch::policy {

namespace {

struct Service {
  std::string_view pattern;
  std::string_view why;
};

// What each of these does for whoever connects is as much as its own user may do, outside.
constexpr std::array kNeverAsked = {
    Service{"/run/docker.sock", "who reaches docker is root on this machine"},
    Service{"/run/user/*/docker.sock", "docker starts programs outside of the sandbox"},
    Service{"/**/docker*.sock", "docker starts programs outside of the sandbox"},
    Service{"/run/containerd/**", "containerd starts programs outside of the sandbox"},
    Service{"/run/podman/**", "podman starts programs outside of the sandbox"},
    Service{"/run/user/*/podman/**", "podman starts programs outside of the sandbox"},
    Service{"/run/crio/**", "cri-o starts programs outside of the sandbox"},
    Service{"/run/buildkit/**", "buildkit starts programs outside of the sandbox"},
    Service{"/run/libvirt/**", "libvirt starts machines outside of the sandbox"},
    Service{"/run/snapd*.socket", "snapd starts programs outside of the sandbox"},
    Service{"/var/lib/incus/unix.socket", "incus starts programs outside of the sandbox"},
    Service{"/var/lib/lxd/unix.socket", "lxd starts programs outside of the sandbox"},
    Service{"/run/user/*/systemd/**", "the session's manager starts programs outside of the sandbox"},
    Service{"/run/systemd/private", "the system's manager starts programs outside of the sandbox"},
    Service{"/run/user/*/bus", "the session's bus starts programs outside of the sandbox"},
    Service{"/run/user/*/wayland-*", "a display sees and types what its user does"},
    Service{"/run/user/*/pipewire-*", "it hears and sees what its user does"},
    Service{"/run/user/*/pulse/**", "it hears what its user says"},
    Service{"/tmp/.X11-unix/*", "a display sees and types what its user does"},
    Service{"/run/user/*/hutch/**", "hutch's own"},
    Service{"/run/hutch/**", "hutch's own"},
    Service{"/**/tmux-*/*", "tmux starts programs outside of the sandbox"},
    Service{"/run/screen/**", "screen starts programs outside of the sandbox"},
    Service{"/run/user/*/vscode-*", "an editor starts programs outside of the sandbox"},
};

// What libc and other libraries try by themselves, and do without.
constexpr std::array kRoutine = {
    Service{"/run/nscd/socket", "it looks up users and hosts for the whole machine"},
    Service{"/run/systemd/userdb/**", "it looks up users for the whole machine"},
    Service{"/run/systemd/resolve/**", "it looks up names outside of the rules"},
    Service{"/run/systemd/journal/**", "it writes into this machine's log"},
    Service{"/run/systemd/notify", "it speaks for a service of this machine"},
    Service{"/dev/log", "it writes into this machine's log"},
    Service{"/run/uuidd/request", "it is shared by the whole machine"},
    Service{"/run/dbus/system_bus_socket", "services of this machine answer there"},
};

const Service* find_service(std::span<const Service> services, std::string_view path) {
  const auto found =
      std::ranges::find_if(services, [&](const Service& one) { return matches_path(one.pattern, path); });
  return found != services.end() ? &*found : nullptr;
}

std::string named(const Network& network, const std::string& entry) {
  const bool option = std::ranges::find(network.from_options, entry) != network.from_options.end();
  return cat({option ? "--allow-socket" : "network.allowUnixSockets", " \"", printable(entry, 256), "\""});
}

bool is_path_itself(const std::string& entry, std::string_view path) {
  return !has_wildcard(entry) && unescape(entry) == path;
}

}  // namespace

SocketDecision decide_socket(const Network& network, const Asks& asks, std::string_view path) {
  for (const std::string& entry : network.allow_unix_sockets) {
    if (is_path_itself(entry, path)) return {SocketVerdict::kAllow, named(network, entry), {}};
  }
  const Service* service = find_service(kNeverAsked, path);
  const Service* routine = service == nullptr ? find_service(kRoutine, path) : nullptr;
  if (routine != nullptr) service = routine;
  if (service != nullptr) {
    return {SocketVerdict::kDeny, "built in", std::string(service->why), routine != nullptr};
  }
  for (const std::string& entry : network.allow_unix_sockets) {
    if (matches_path(entry, path)) return {SocketVerdict::kAllow, named(network, entry), {}};
  }
  if (asks.socket == Asking::kNever) {
    return {SocketVerdict::kDeny, "default", "no entry of network.allowUnixSockets names it, and it is not asked"};
  }
  return {SocketVerdict::kAsk, "default", "no entry of network.allowUnixSockets names it"};
}

Status check_socket_entry(std::string_view entry) {
  if (entry.empty()) return fail(Error::invalid("a socket's path is empty"));
  if (entry.contains('\0')) return fail(Error::invalid("a socket's path holds a zero byte"));
  if (has_wildcard(entry)) return check_pattern(entry);
  return {};
}

}  // namespace hutch::policy
