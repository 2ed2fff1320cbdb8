// The system calls that a sandbox may make, as a BPF program for seccomp(2).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "plan/filter/bpf.h"

namespace hutch::plan {

enum class Architecture { kX86_64, kAarch64 };

// The architecture of a name as uname(2) gives it; none where hutch has no table.
std::optional<Architecture> architecture_of(std::string_view machine);

// What socket(AF_UNIX) meets. A read-only mount does not stop a connect, so the call itself is the gate.
enum class AfUnix {
  kNotify,      // whoever listens is told, and refuses (SECCOMP_RET_USER_NOTIF)
  kSupervised,  // streams are made; each connect(2) and bind(2) of any socket is the supervisor's to make
  kRefuse,  // EACCES
  kAllow,
};

// What calls meet that make, change or remove files.
enum class FileChanges { kAllow, kNotify };

// What calls meet that look at files by a path.
enum class FileLooks { kAllow, kNotify };

// What calls meet that give a file to another user. kPretended: where there is one user alone, who is root, a package
// manager that cannot give files away does not go on.
enum class Owners { kReal, kPretended };

// kFiles: a file server of hutch that serves a VM. It may change its root, and must not make files with S_ISUID or
// S_ISGID: on the host they would give a person's rights to the process that executes them.
// kFilesOfPerson: likewise, in a user namespace that may not change groups (user_namespaces(7)). setgroups(2) answers 0
// and does nothing, because virtiofsd gives up its groups if it has any, and does not start if it cannot.
enum class Serving { kNothing, kFiles, kFilesOfPerson };

// The answer to calls that give a file S_ISUID or S_ISGID, if no supervisor makes changes of files. A supervisor
// refuses them for files and lets directories have S_ISGID; the filter itself cannot tell a file from a directory.
enum class SetIds { kAllow, kRefuse };

// Memory that a process has without mapping it, so that RLIMIT_AS does not count it.
enum class UnmappedMemory { kAllow, kRefuse };

struct SeccompProfile {
  Architecture architecture = Architecture::kX86_64;
  AfUnix af_unix = AfUnix::kRefuse;
  FileChanges file_changes = FileChanges::kAllow;
  FileLooks file_looks = FileLooks::kAllow;
  Owners owners = Owners::kReal;
  Serving serving = Serving::kNothing;
  UnmappedMemory unmapped_memory = UnmappedMemory::kAllow;
  SetIds set_ids = SetIds::kAllow;
};

// Allows what the table (seccomp_table.h) does not name, up to the newest call known here; later calls answer ENOSYS,
// and calls of another architecture end the process.
bpf::Program compile_seccomp(const SeccompProfile& profile);

}  // namespace hutch::plan
