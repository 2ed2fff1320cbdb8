// Who a process is.
#include "sys/files/identity.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "sys/call.h"
#include "sys/files/files.h"

namespace hutch::sys {

namespace {

Status keep_capabilities(unsigned first_word) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct kept[2] = {{.effective = first_word, .permitted = first_word, .inheritable = 0}, {}};
  return check(::syscall(SYS_capset, &header, kept),
               {"capset(", first_word == 0 ? "none" : std::to_string(first_word), ")"});
}

// What an exec as user 0 can give again (capabilities(7)).
Status limit_bounding_set(std::uint64_t kept) {
  // Since Linux 5.9; a kernel with the calls that build the root knows it (CAP_CHECKPOINT_RESTORE).
  static constexpr int kLastKnownCapability = 40;
  for (int capability = 0; capability < 64; ++capability) {
    if ((kept >> capability & 1U) != 0) continue;
    int dropped = ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    // Whoever has given CAP_SETPCAP up may not even drop what is gone.
    if (dropped < 0 && errno == EPERM) {
      const int held = ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
      if (held > 0) errno = EPERM;
      dropped = held == 0 ? 0 : -1;
    }
    if (dropped < 0 && errno == EINVAL && capability > kLastKnownCapability) break;  // this kernel knows no more
    TRY(check(dropped, {"prctl(PR_CAPBSET_DROP, ", std::to_string(capability), ")"}));
  }
  return {};
}

// As /proc has them (namespaces(7)).
const char* name_of(NamespaceKind kind) {
  switch (kind) {
    case NamespaceKind::kUser: return "user";
    case NamespaceKind::kNetwork: return "net";
    case NamespaceKind::kMounts: return "mnt";
    case NamespaceKind::kPids: return "pid";
    case NamespaceKind::kIpc: return "ipc";
    case NamespaceKind::kHostname: return "uts";
    case NamespaceKind::kCgroup: return "cgroup";
  }
  return "";
}

int flag_of(NamespaceKind kind) {
  switch (kind) {
    case NamespaceKind::kUser: return CLONE_NEWUSER;
    case NamespaceKind::kNetwork: return CLONE_NEWNET;
    case NamespaceKind::kMounts: return CLONE_NEWNS;
    case NamespaceKind::kPids: return CLONE_NEWPID;
    case NamespaceKind::kIpc: return CLONE_NEWIPC;
    case NamespaceKind::kHostname: return CLONE_NEWUTS;
    case NamespaceKind::kCgroup: return CLONE_NEWCGROUP;
  }
  return 0;
}

}  // namespace

std::uint32_t user_id() { return ::geteuid(); }
std::uint32_t group_id() { return ::getegid(); }

Result<std::vector<std::uint32_t>> own_groups() {
  const int count = ::getgroups(0, nullptr);
  TRY(check(count, {"getgroups(0)"}));
  std::vector<std::uint32_t> groups(static_cast<std::size_t>(count));
  // It has no thread that could have changed them meanwhile.
  TRY(check(::getgroups(count, groups.data()), {"getgroups(", std::to_string(count), ")"}));
  groups.push_back(group_id());
  return groups;
}

Status enter_new_namespaces(NamespaceSet set) {
  switch (set) {
    case NamespaceSet::kMost:
      return check(::unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS),
                   {"unshare(user, mount, pid, ipc, uts)"});
    case NamespaceSet::kMostButUser:
      return check(::unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS),
                   {"unshare(mount, pid, ipc, uts)"});
    case NamespaceSet::kNetwork: return check(::unshare(CLONE_NEWNET), {"unshare(net)"});
    case NamespaceSet::kCgroup: return check(::unshare(CLONE_NEWCGROUP), {"unshare(cgroup)"});
    case NamespaceSet::kMounts: return check(::unshare(CLONE_NEWNS), {"unshare(mount)"});
    case NamespaceSet::kUserAndMounts: return check(::unshare(CLONE_NEWUSER | CLONE_NEWNS), {"unshare(user, mount)"});
  }
  return {};
}

Status enter_namespace(NamespaceKind kind, int fd) {
  return check(::setns(fd, flag_of(kind)), {"setns(", name_of(kind), ")"});
}

Result<UniqueFd> own_namespaces() { return open("/proc/self/ns", Open::kPath); }

Result<UniqueFd> own_network_namespace(int namespaces) { return namespace_in(namespaces, NamespaceKind::kNetwork); }

Result<std::pair<UniqueFd, UniqueFd>> own_user_and_mounts() {
  UniqueFd user = TRY(open("/proc/self/ns/user", Open::kRead));
  UniqueFd mounts = TRY(open("/proc/self/ns/mnt", Open::kRead));
  return std::pair(std::move(user), std::move(mounts));
}

Result<UniqueFd> namespaces_of(pid_t pid) { return open(cat({"/proc/", std::to_string(pid), "/ns"}), Open::kPath); }

Result<UniqueFd> namespace_in(int namespaces, NamespaceKind kind) {
  const char* name = name_of(kind);
  return check_fd(retry([&] { return ::openat(namespaces, name, O_RDONLY | O_CLOEXEC); }), {"open(ns/", name, ")"});
}

Result<UniqueFd> network_namespace_of(pid_t pid) {
  const std::string path = cat({"/proc/", std::to_string(pid), "/ns/net"});
  return check_fd(retry([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }), {"open(", path, ")"});
}

Result<UniqueFd> owner_of(int namespace_fd) {
  return check_fd(::ioctl(namespace_fd, NS_GET_USERNS), {"ioctl(NS_GET_USERNS)"});
}

Status map_ids(std::uint32_t uid, std::uint32_t gid) {
  // An unprivileged writer must give setgroups(2) up before it may map a group (user_namespaces(7)).
  TRY(write_file("/proc/self/setgroups", "deny"));
  TRY(write_file("/proc/self/uid_map", cat({std::to_string(uid), " ", std::to_string(uid), " 1"})));
  return write_file("/proc/self/gid_map", cat({std::to_string(gid), " ", std::to_string(gid), " 1"}));
}

Status drop_groups() { return check(::setgroups(0, nullptr), {"setgroups(0)"}); }

Status become_namespace_root() {
  // A map of one id alone may not change groups (user_namespaces(7)); what it has are then of no namespace.
  if (::setgroups(0, nullptr) < 0 && errno != EPERM) return check(-1, {"setgroups(0)"});
  TRY(check(::setresgid(0, 0, 0), {"setresgid(0)"}));
  return check(::setresuid(0, 0, 0), {"setresuid(0)"});
}

Status become_user(std::uint32_t uid, std::uint32_t gid, std::span<const std::uint32_t> groups) {
  TRY(check(::setgroups(groups.size(), groups.data()), {"setgroups(", std::to_string(groups.size()), ")"}));
  TRY(limit_bounding_set(0));
  TRY(check(::setresgid(gid, gid, gid), {"setresgid(", std::to_string(gid), ")"}));
  TRY(check(::setresuid(uid, uid, uid), {"setresuid(", std::to_string(uid), ")"}));
  return keep_capabilities(0);
}

Status keep_only_tracing_and_network() {
  static constexpr unsigned kTracing = 19;       // CAP_SYS_PTRACE
  static constexpr unsigned kNetworkAdmin = 12;  // CAP_NET_ADMIN
  return keep_capabilities(1U << kTracing | 1U << kNetworkAdmin);
}

Status keep_only_file_rights() {
  static constexpr unsigned kChown = 0;
  static constexpr unsigned kDacOverride = 1;
  static constexpr unsigned kFowner = 3;
  static constexpr unsigned kFsetid = 4;
  return keep_capabilities(1U << kChown | 1U << kDacOverride | 1U << kFowner | 1U << kFsetid);
}

Status keep_capabilities_on_exec() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  TRY(check(::syscall(SYS_capget, &header, sets), {"capget()"}));
  for (__user_cap_data_struct& set : sets) set.inheritable = set.permitted;
  TRY(check(::syscall(SYS_capset, &header, sets), {"capset(inheritable)"}));
  for (unsigned capability = 0; capability < 64; ++capability) {
    if ((sets[capability / 32].permitted >> (capability % 32) & 1U) == 0) continue;
    TRY(check(::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0),
              {"prctl(PR_CAP_AMBIENT_RAISE, ", std::to_string(capability), ")"}));
  }
  return {};
}

// Each is over the files and processes of the sandbox's own ids alone (user_namespaces(7)). Without CAP_FSETID a file
// of another group loses its set-group-ID bit by chmod(2); whoever has CAP_SETGID can join that group for it. CAP_KILL:
// of a package manager's processes some are other users', and it ends them. Not here: what mounts, traces, makes
// devices, sets file capabilities (CAP_SETFCAP) or changes its root.
Status keep_only_install_rights() {
  static constexpr unsigned kChown = 0;
  static constexpr unsigned kDacOverride = 1;
  static constexpr unsigned kFowner = 3;
  static constexpr unsigned kFsetid = 4;
  static constexpr unsigned kKill = 5;
  static constexpr unsigned kSetgid = 6;
  static constexpr unsigned kSetuid = 7;
  static constexpr unsigned kLent =
      1U << kChown | 1U << kDacOverride | 1U << kFowner | 1U << kFsetid | 1U << kKill | 1U << kSetgid | 1U << kSetuid;
  TRY(limit_bounding_set(kLent));
  TRY(check(::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), {"prctl(PR_CAP_AMBIENT_CLEAR_ALL)"}));
  return keep_capabilities(kLent);
}

Status keep_only_change_of_root() {
  static constexpr unsigned kSetpcap = 8;
  static constexpr unsigned kSysChroot = 18;
  static constexpr unsigned kLent = 1U << kSetpcap | 1U << kSysChroot;
  TRY(limit_bounding_set(kLent));
  TRY(check(::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), {"prctl(PR_CAP_AMBIENT_CLEAR_ALL)"}));
  TRY(keep_capabilities(kLent));
  return keep_capabilities_on_exec();
}

Result<bool> reads_beyond_permissions() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  TRY(check(::syscall(SYS_capget, &header, sets), {"capget()"}));
  return (sets[0].effective & (1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH)) != 0;
}

Status drop_capabilities() {
  TRY(limit_bounding_set(0));
  TRY(check(::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), {"prctl(PR_CAP_AMBIENT_CLEAR_ALL)"}));
  return keep_capabilities(0);
}

Status set_hostname(const std::string& name) {
  return check(::sethostname(name.data(), name.size()), {"sethostname(", name, ")"});
}

Status loopback_up() {
  const UniqueFd socket = TRY(check_fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), {"socket(AF_INET)"}));
  ifreq request{};
  std::strncpy(request.ifr_name, "lo", IFNAMSIZ - 1);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return check(::ioctl(socket.get(), SIOCSIFFLAGS, &request), {"ioctl(SIOCSIFFLAGS, lo)"});
}

Result<bool> is_loopback_up() {
  const UniqueFd socket = TRY(check_fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), {"socket(AF_INET)"}));
  ifreq request{};
  std::strncpy(request.ifr_name, "lo", IFNAMSIZ - 1);
  TRY(check(::ioctl(socket.get(), SIOCGIFFLAGS, &request), {"ioctl(SIOCGIFFLAGS, lo)"}));
  return (request.ifr_flags & IFF_UP) != 0;
}

Status no_new_privileges() { return check(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), {"prctl(PR_SET_NO_NEW_PRIVS)"}); }

Status not_dumpable() { return check(::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), {"prctl(PR_SET_DUMPABLE, 0)"}); }

Status new_session() { return check(::setsid(), {"setsid()"}); }

}  // namespace hutch::sys
