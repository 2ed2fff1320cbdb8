// Signals as descriptors.
#include "sys/process/signals.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/call.h"

namespace hutch::sys {

namespace {

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : signals) sigaddset(&set, number);
  return set;
}

}  // namespace

Result<UniqueFd> signal_descriptor(std::initializer_list<int> signals) {
  const sigset_t set = set_of(signals);
  TRY(check(::sigprocmask(SIG_BLOCK, &set, nullptr), {"sigprocmask(SIG_BLOCK)"}));
  return check_fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), {"signalfd()"});
}

void unblock_signals(std::initializer_list<int> signals) {
  const sigset_t set = set_of(signals);
  (void)::sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

Status block_all_signals() {
  sigset_t all;
  sigfillset(&all);
  return check(::sigprocmask(SIG_SETMASK, &all, nullptr), {"sigprocmask(SIG_SETMASK, all)"});
}

Status reset_signals() {
  // By the bare call: the C library refuses the two numbers that it keeps for itself, and its posix_spawn(3) leaves
  // exactly these ignored. All zero is SIG_DFL without flags or mask.
  static constexpr unsigned long kStandard[4] = {};
  static constexpr std::size_t kSetBytes = 8;  // the kernel's sigset_t
  for (int number = 1; number < NSIG; ++number) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    TRY(check(::syscall(SYS_rt_sigaction, number, kStandard, nullptr, kSetBytes),
              {"rt_sigaction(", std::to_string(number), ", SIG_DFL)"}));
  }
  sigset_t none;
  sigemptyset(&none);
  return check(::sigprocmask(SIG_SETMASK, &none, nullptr), {"sigprocmask(SIG_SETMASK, none)"});
}

Status ignore_broken_pipe() {
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  return check(::sigaction(SIGPIPE, &ignore, nullptr), {"sigaction(SIGPIPE)"});
}

BrokenPipeHeld::BrokenPipeHeld() {
  sigset_t pipe;
  sigset_t before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  // One that waits already is somebody else's.
  sigset_t waiting;
  if (::sigpending(&waiting) != 0 || sigismember(&waiting, SIGPIPE) == 1) return;
  if (::pthread_sigmask(SIG_BLOCK, &pipe, &before) != 0) return;
  holds_ = true;
  was_blocked_ = sigismember(&before, SIGPIPE) == 1;
}

BrokenPipeHeld::~BrokenPipeHeld() {
  if (!holds_) return;
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  // The signal of a write is for the thread that wrote (pipe(7), signal(7)).
  static constexpr timespec kNow{};
  (void)retry([&] { return ::sigtimedwait(&pipe, nullptr, &kNow); });
  if (!was_blocked_) (void)::pthread_sigmask(SIG_UNBLOCK, &pipe, nullptr);
}

Result<std::optional<Arrived>> next_signal(int descriptor) {
  signalfd_siginfo info{};
  const ssize_t count = retry([&] { return ::read(descriptor, &info, sizeof info); });
  if (count < 0 && errno == EAGAIN) return std::optional<Arrived>();
  TRY(check(count, {"read(signalfd)"}));
  return std::optional<Arrived>({static_cast<int>(info.ssi_signo), static_cast<int>(info.ssi_pid)});
}

bool is_told_to_end() {
  sigset_t waiting;
  if (::sigpending(&waiting) != 0) return false;
  const auto waits = [&](int number) { return sigismember(&waiting, number) == 1; };
  return waits(SIGTERM) || waits(SIGINT) || waits(SIGHUP) || waits(SIGQUIT);
}

void keep_told(int signal) { (void)::kill(::getpid(), signal); }

void end_by(int signal) {
  // What the command did is no reason for a core dump of this process.
  const rlimit none{};
  (void)::setrlimit(RLIMIT_CORE, &none);
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, signal);
  if (::sigaction(signal, &standard, nullptr) != 0 || ::kill(::getpid(), signal) != 0) return;
  (void)::sigprocmask(SIG_UNBLOCK, &mask, nullptr);
}

Status stop_self() { return check(::kill(::getpid(), SIGSTOP), {"kill(self, SIGSTOP)"}); }

}  // namespace hutch::sys
