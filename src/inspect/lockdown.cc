// What this process gives up once it has read its files.
#include "inspect/lockdown.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include "sys/files/identity.h"
#include "sys/process/lockdown.h"
#include "sys/process/process.h"
#include "sys/process/rlimits.h"

namespace hutch::inspect {

namespace {

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "the system calls of this architecture are not known here"
#endif

// The sanitizers' runtime makes calls of its own; such a build is for finding faults alone.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// What moving bytes, memory and threads take. There is no call among them that names a file, an address or a program.
constexpr long kAllowed[] = {
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_recvmsg,
    SYS_sendmsg,
    SYS_recvfrom,
    SYS_sendto,
    SYS_close,
    SYS_shutdown,
    SYS_setsockopt,
    SYS_getsockopt,
    SYS_fcntl,
    SYS_ppoll,
#if defined(__x86_64__)
    SYS_poll,
    SYS_time,
#endif
    SYS_munmap,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_futex,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_membarrier,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_restart_syscall,
    SYS_gettid,
    SYS_getpid,
    SYS_tgkill,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_gettimeofday,
    SYS_getrandom,
    SYS_exit,
    SYS_exit_group,
};

constexpr unsigned kAllow = SECCOMP_RET_ALLOW;

sock_filter load(std::size_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset)); }
sock_filter answer(unsigned value) { return BPF_STMT(BPF_RET | BPF_K, value); }
unsigned refuse(int error) { return SECCOMP_RET_ERRNO | static_cast<unsigned>(error); }

// The low half of an argument: all that is looked at fits into it. Both architectures are little-endian.
std::size_t argument(std::size_t index) { return offsetof(seccomp_data, args) + 8 * index; }

// When the call is `number`: `value` with the bits set in that argument, `otherwise` without.
void judge_bits(std::vector<sock_filter>& program, long number, std::size_t index, unsigned bits, unsigned set,
                unsigned otherwise) {
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 4));
  program.push_back(load(argument(index)));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
  program.push_back(answer(set));
  program.push_back(answer(otherwise));
}

std::vector<sock_filter> make_program() {
  std::vector<sock_filter> program;
  program.push_back(load(offsetof(seccomp_data, arch)));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
  program.push_back(answer(SECCOMP_RET_KILL_PROCESS));
  program.push_back(load(offsetof(seccomp_data, nr)));
  for (const long number : kAllowed) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1));
    program.push_back(answer(kAllow));
  }
  // Memory is never code, and what is cloned is a thread. clone3's flags are out of a filter's sight: glibc takes clone
  // when it does not exist.
  judge_bits(program, SYS_mmap, 2, PROT_EXEC, refuse(EPERM), kAllow);
  judge_bits(program, SYS_mprotect, 2, PROT_EXEC, refuse(EPERM), kAllow);
  judge_bits(program, SYS_clone, 0, CLONE_THREAD, kAllow, refuse(EPERM));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1));
  program.push_back(answer(refuse(ENOSYS)));
  program.push_back(answer(refuse(EPERM)));
  return program;
}

}  // namespace

Status protect_process() {
  TRY(sys::limit_resource(sys::Resource::kCoreSize, 0));
  TRY(sys::not_dumpable());
  return sys::no_new_privileges();
}

Status lock_down() {
  const int abi = TRY(sys::landlock_abi());
  TRY(sys::enter_landlock(abi, {}, {}));
  if (kSanitized) return {};
  const std::vector<sock_filter> program = make_program();
  TRY(sys::install_filter(program.data(), program.size(), sys::Listener::kNone));
  return {};
}

}  // namespace hutch::inspect
