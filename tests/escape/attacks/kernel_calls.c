// Reaches the calls that have opened kernels before.
// none: cannot; the kernel has no such call, or refuses it to everybody
// kind: kernel
#include "attack.h"
static char zero[256];
static int reached(long answer) {
  if (answer < 0 && errno == ENOSYS && is_unprotected()) return absent();
  return answer >= 0 || (errno != EPERM && errno != ENOSYS && errno != EACCES);
}
ATTEMPT(add_key, everybody, reached(syscall(SYS_add_key, "user", "hutch-attack", "x", 1, -1 /* thread */)));
ATTEMPT(request_key, everybody, reached(syscall(SYS_request_key, "user", "hutch-none", NULL, 0)));
ATTEMPT(keyctl, everybody, reached(syscall(SYS_keyctl, 0, -1, 1)));
ATTEMPT(bpf, root, reached(syscall(SYS_bpf, 0, zero, sizeof zero)));
ATTEMPT(perf_event_open, root, reached(syscall(SYS_perf_event_open, zero, 0, -1, -1, 0)));
ATTEMPT(userfaultfd, everybody, reached(syscall(SYS_userfaultfd, 1)));
ATTEMPT(open_by_handle_at, everybody, reached(syscall(SYS_open_by_handle_at, AT_FDCWD, zero, O_RDONLY)));
ATTEMPT(init_module, root, with_capability(CAP_SYS_MODULE, reached(syscall(SYS_init_module, zero, 0, ""))));
ATTEMPT(finit_module, root, with_capability(CAP_SYS_MODULE, reached(syscall(SYS_finit_module, -1, "", 0))));
ATTEMPT(delete_module, root,
        with_capability(CAP_SYS_MODULE, reached(syscall(SYS_delete_module, "hutch-none", O_NONBLOCK))));
ATTEMPT(kexec_load, root, reached(syscall(SYS_kexec_load, 0, 0, NULL, 1UL << 63)));
ATTEMPT(kexec_file_load, root, reached(syscall(SYS_kexec_file_load, -1, -1, 0, "", 0)));
ATTEMPT(swapon, root, reached(syscall(SYS_swapon, "", 0)));
ATTEMPT(swapoff, root, reached(syscall(SYS_swapoff, "")));
ATTEMPT(reboot, root, reached(syscall(SYS_reboot, 0xfee1dead, 672274793, 0 /* CAD off */, NULL)));
ATTEMPT(settimeofday, root, reached(syscall(SYS_settimeofday, NULL, zero)));
ATTEMPT(acct, root, reached(syscall(SYS_acct, "/hutch-none")));
ATTEMPT(quotactl, everybody, reached(syscall(SYS_quotactl, 0x80000100 /* Q_SYNC */, NULL, 0, NULL)));
ATTEMPT(fanotify_of_contents, root, reached(syscall(SYS_fanotify_init, 4 /* CLASS_CONTENT */, O_RDONLY)));
ATTEMPT(lookup_dcookie, nobody, reached(syscall(SYS_lookup_dcookie, 0L, zero, sizeof zero)));
ATTEMPT(move_pages_of_another, nobody, reached(syscall(SYS_move_pages, 1, 1, zero, zero, zero, 0)));
ATTEMPT(process_madvise, nobody, reached(syscall(SYS_process_madvise, -1, zero, 0, 0, 0)) && errno != EBADF);
ATTEMPT(pidfd_getfd, everybody, reached(syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, getppid(), 0), 1, 0)));
ATTEMPT(kcmp, everybody, reached(syscall(SYS_kcmp, getppid(), getpid(), 0, 0, 1)));
ATTEMPT(vhangup, nobody, reached(syscall(SYS_vhangup)));
ATTEMPT(personality_of_old_binaries, everybody, reached(syscall(SYS_personality, 0x0400000 /* READ_IMPLIES_EXEC */)));
#ifdef __x86_64__
ATTEMPT(iopl, root, with_capability(CAP_SYS_RAWIO, reached(syscall(SYS_iopl, 3))));
ATTEMPT(ioperm, root, with_capability(CAP_SYS_RAWIO, reached(syscall(SYS_ioperm, 0x80, 1, 1))));
ATTEMPT(modify_ldt, everybody, reached(syscall(SYS_modify_ldt, 0, zero, sizeof zero)));
#endif
ATTEMPT(a_call_of_the_future, nobody, !is_unprotected() && (syscall(600) != -1 || errno != ENOSYS));
