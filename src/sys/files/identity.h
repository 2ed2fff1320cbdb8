// Who a process is: ids, groups, capabilities, namespaces. credentials(7), capabilities(7), user_namespaces(7).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

std::uint32_t user_id();
std::uint32_t group_id();
// Every group that this process is in.
Result<std::vector<std::uint32_t>> own_groups();

enum class NamespaceSet {
  kMost,           // user, mount, pid, ipc, uts
  kMostButUser,    // mount, pid, ipc, uts: for root, whose users stay the machine's
  kNetwork,        // by far the dearest to make
  kCgroup,         // its root is the cgroup that the caller is in (cgroup_namespaces(7))
  kMounts,         // a copy of the caller's
  kUserAndMounts,  // the two that a process without privileges needs to restrict its own mounts further
};

// The caller must be single-threaded: CLONE_NEWUSER answers EINVAL otherwise (unshare(2)).
Status enter_new_namespaces(NamespaceSet set);

// Moves this process into the namespace that `fd` is open on; nsfs has what `owner_of` finds (setns(2), ioctl_ns(2)).
enum class NamespaceKind { kUser, kNetwork, kMounts, kPids, kIpc, kHostname, kCgroup };
Status enter_namespace(NamespaceKind kind, int fd);

// The network namespace of this process. By a directory of it that is open: a root of its own may hide the path.
Result<UniqueFd> own_namespaces();
Result<UniqueFd> own_network_namespace(int namespaces);
// This process's user and mount namespaces.
Result<std::pair<UniqueFd, UniqueFd>> own_user_and_mounts();

// The directory of a process's namespaces, and one of them. Whoever opens that has to be able to trace the process
// (ptrace(2), PTRACE_MODE_READ_FSCREDS).
Result<UniqueFd> namespaces_of(pid_t pid);
Result<UniqueFd> namespace_in(int namespaces, NamespaceKind kind);

// The network namespace of a process, and the user namespace that owns a namespace.
Result<UniqueFd> network_namespace_of(pid_t pid);
Result<UniqueFd> owner_of(int namespace_fd);

// Maps one id of each kind onto itself in the user namespace that was just entered.
Status map_ids(std::uint32_t uid, std::uint32_t gid);

// Empties the supplementary groups; only a privileged caller can.
Status drop_groups();

// Becomes user and group 0 of a user namespace whose ids are mapped, with no other group where the map allows that.
Status become_namespace_root();

// Becomes another user for good: no group but these, no capability, none to be had by executing anything.
Status become_user(std::uint32_t uid, std::uint32_t gid, std::span<const std::uint32_t> groups = {});

// Keeps CAP_SYS_PTRACE and CAP_NET_ADMIN alone, and nothing for what is executed.
Status keep_only_tracing_and_network();

// Keeps what making files for others takes alone: CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID.
Status keep_only_file_rights();

// What this process may, a program that it executes next may as well: by itself a user other than root keeps nothing
// (capabilities(7), "Ambient").
Status keep_capabilities_on_exec();

// Keeps what a package manager takes alone, for this process and for what it executes as user 0: CAP_CHOWN,
// CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID, CAP_KILL, CAP_SETGID, CAP_SETUID.
Status keep_only_install_rights();

// Only CAP_SYS_CHROOT, and CAP_SETPCAP to give it up for good; and in what is executed as well, whoever that is
// (capabilities(7), ambient set).
Status keep_only_change_of_root();

// Whether this process can read files whose permissions forbid it: CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH.
Result<bool> reads_beyond_permissions();

// Empties the bounding, ambient, inheritable, permitted and effective sets.
Status drop_capabilities();

Status set_hostname(const std::string& name);

// Brings the loopback interface of this network namespace up (netdevice(7)).
Status loopback_up();

Result<bool> is_loopback_up();

// From here on no exec grants privileges (prctl(2), PR_SET_NO_NEW_PRIVS).
Status no_new_privileges();

// Nobody without CAP_SYS_PTRACE may trace this process or read its /proc entries (PR_SET_DUMPABLE).
Status not_dumpable();

Status new_session();

}  // namespace hutch::sys
