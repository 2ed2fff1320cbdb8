// Who a process is: ids, groups, capabilities, namespaces. credentials(7), capabilities(7), user_namespaces(7).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"

namespace hutch::sys {

std::uint32_t user_id();
std::uint32_t group_id();

enum class NamespaceSet {
  kAll,            // user, mount, pid, net, ipc, uts, cgroup
  kUserAndMounts,  // the two that a process without privileges needs to restrict its own mounts further
};

// The caller must be single-threaded: CLONE_NEWUSER answers EINVAL otherwise (unshare(2)).
Status enter_new_namespaces(NamespaceSet set);

// Maps one id of each kind onto itself in the user namespace that was just entered.
Status map_ids(std::uint32_t uid, std::uint32_t gid);

// Empties the supplementary groups; only a privileged caller can.
Status drop_groups();

// Empties the bounding, ambient, inheritable, permitted and effective sets.
Status drop_capabilities();

Status set_hostname(const std::string& name);

// Brings the loopback interface of this network namespace up (netdevice(7)).
Status loopback_up();

// From here on no exec grants privileges (prctl(2), PR_SET_NO_NEW_PRIVS).
Status no_new_privileges();

// Nobody without CAP_SYS_PTRACE may trace this process or read its /proc entries (PR_SET_DUMPABLE).
Status not_dumpable();

Status new_session();

}  // namespace hutch::sys
