// Namespaces, a root of its own, capabilities for files alone, Landlock, a filter that names what may be called.
#include "unpack/confine.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/mounts.h"
#include "sys/process/lockdown.h"
#include "sys/process/process.h"
#include "sys/process/rlimits.h"

namespace hutch::unpack {

namespace {

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "the system calls of this architecture are not known here"
#endif

// What reading a stream and making files take. There is no call among them that makes a process, a socket, a mount or
// a device, or that changes who this process is.
constexpr long kAllowed[] = {
    SYS_read,       SYS_write,       SYS_writev,        SYS_pwrite64,       SYS_lseek,        SYS_close,
    SYS_fcntl,      SYS_openat,      SYS_openat2,       SYS_mkdirat,        SYS_symlinkat,    SYS_linkat,
    SYS_unlinkat,   SYS_renameat,    SYS_renameat2,     SYS_fchown,         SYS_fchownat,     SYS_fchmod,
    SYS_fchmodat,   SYS_ftruncate,   SYS_utimensat,     SYS_fstat,          SYS_newfstatat,   SYS_statx,
    SYS_getdents64, SYS_syncfs,      SYS_munmap,        SYS_mremap,         SYS_madvise,      SYS_brk,
    SYS_futex,      SYS_sched_yield, SYS_rt_sigaction,  SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_restart_syscall,
    SYS_getpid,     SYS_gettid,      SYS_clock_gettime, SYS_gettimeofday,   SYS_getrandom,    SYS_exit,
    SYS_exit_group,
#if defined(__x86_64__)
    SYS_time,       SYS_rename,
#endif
};

constexpr std::uint64_t kMemoryMax = 1ULL << 30;

Status enter_root();
Status install_walls();
std::vector<sock_filter> make_program();

}  // namespace

Result<UniqueFd> confine(int directory, const std::function<Status()>& mapped) {
  TRY(sys::die_with_parent());
  TRY(sys::limit_resource(sys::Resource::kCoreSize, 0));
  // The new namespace's own mount of it is known by the current directory alone, which moves along (unshare(2)).
  TRY(sys::change_directory(directory));
  TRY(sys::enter_new_namespaces(sys::NamespaceSet::kMost));
  TRY(sys::enter_new_namespaces(sys::NamespaceSet::kNetwork));
  TRY(mapped());
  TRY(sys::become_namespace_root());
  TRY(enter_root());
  sys::set_umask(0);
  UniqueFd root = TRY(sys::open_beneath(sys::kCwd, ".", sys::Beneath::kListing));
  TRY(install_walls());
  return root;
}

namespace {

Status enter_root() {
  TRY(sys::make_all_private());
  const UniqueFd target = TRY(sys::open(".", sys::Open::kPath));
  const UniqueFd tree = TRY(sys::clone_tree(target.get(), "the target directory"));
  TRY(sys::restrict_tree(tree.get(), "the target directory", {.no_devices = true}));
  // Any directory will do: nothing of this tree of mounts is there in a moment.
  const UniqueFd onto = TRY(sys::open_exact("/proc"));
  TRY(sys::attach(tree.get(), onto.get(), "the target directory"));
  TRY(sys::change_directory(tree.get()));
  return sys::pivot_to_cwd();
}

Status install_walls() {
  TRY(sys::keep_only_file_rights());
  TRY(sys::no_new_privileges());
  TRY(sys::not_dumpable());
  // A dictionary of a compressed stream may ask for more than there is.
  TRY(sys::limit_resource(sys::Resource::kAddressSpace, kMemoryMax));
  const int abi = TRY(sys::landlock_abi());
  TRY(sys::enter_landlock(abi, {}, {"/"}));
  const std::vector<sock_filter> program = make_program();
  TRY(sys::install_filter(program.data(), program.size(), sys::Listener::kNone));
  return {};
}

sock_filter load(std::size_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset)); }
sock_filter answer(unsigned value) { return BPF_STMT(BPF_RET | BPF_K, value); }
// Goes on with the next instruction when it is that value, else `skip` further.
sock_filter when(long value, unsigned char skip) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(value), 0, skip);
}

std::vector<sock_filter> make_program() {
  static constexpr unsigned kRefused = SECCOMP_RET_ERRNO | EPERM;
  std::vector<sock_filter> program;
  program.push_back(load(offsetof(seccomp_data, arch)));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
  program.push_back(answer(SECCOMP_RET_KILL_PROCESS));
  program.push_back(load(offsetof(seccomp_data, nr)));
  for (const long number : kAllowed) {
    program.push_back(when(number, 1));
    program.push_back(answer(SECCOMP_RET_ALLOW));
  }
  // Memory is never code. Both architectures are little-endian: the low half of an argument is looked at.
  for (const long number : {SYS_mmap, SYS_mprotect}) {
    program.push_back(when(number, 4));
    program.push_back(load(offsetof(seccomp_data, args) + 16));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1));
    program.push_back(answer(kRefused));
    program.push_back(answer(SECCOMP_RET_ALLOW));
  }
  program.push_back(answer(kRefused));
  return program;
}

}  // namespace

}  // namespace hutch::unpack
