// A lock that processes hold in turn.
#include "sys/process/turn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>

#include "sys/call.h"

namespace hutch::sys {

namespace {

// A process that waits holds the first byte until it has the second one. A process that gives its turn back and comes
// again therefore finds the first byte taken, and waits behind the other.
constexpr off_t kNextByte = 0;
constexpr off_t kTurnByte = 1;
constexpr suseconds_t kTurnCheckUs = 20'000;

int lock_bytes(int file, int call, short kind, off_t first, off_t count) {
  struct flock lock{};
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  lock.l_start = first;
  lock.l_len = count;
  return ::fcntl(file, call, &lock);
}

// Has a call that waits fail with EINTR again and again: the first signal may come before the call does.
class TurnAlarm {
 public:
  TurnAlarm() {
    [[maybe_unused]] static const bool ready = (let_alarm_interrupt(), true);
    static constexpr itimerval kOften = {{0, kTurnCheckUs}, {0, kTurnCheckUs}};
    (void)::setitimer(ITIMER_REAL, &kOften, &before_);
  }
  ~TurnAlarm() { (void)::setitimer(ITIMER_REAL, &before_, nullptr); }
  TurnAlarm(const TurnAlarm&) = delete;
  TurnAlarm& operator=(const TurnAlarm&) = delete;

 private:
  static void let_alarm_interrupt() {
    struct sigaction action{};
    action.sa_handler = [](int) {};
    (void)::sigaction(SIGALRM, &action, nullptr);
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    (void)::sigprocmask(SIG_UNBLOCK, &alarm, nullptr);
  }
  itimerval before_{};
};

Status wait_for_byte(int file, off_t byte, std::chrono::steady_clock::time_point until) {
  for (;;) {
    if (lock_bytes(file, F_OFD_SETLKW, F_WRLCK, byte, 1) == 0) return {};
    if (errno != EINTR) return fail(Error::from_errno("fcntl(F_OFD_SETLKW)"));
    if (std::chrono::steady_clock::now() >= until) return fail(Error::from_errno("fcntl(F_OFD_SETLKW)", ETIMEDOUT));
  }
}

}  // namespace

Result<UniqueFd> open_turns(const std::string& path) {
  const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  UniqueFd file = TRY(check_fd(::open(path.c_str(), flags, 0600), {"open(", path, ")"}));
  struct stat what{};
  TRY(check(::fstat(file.get(), &what), {"fstat(", path, ")"}));
  const bool is_own_file = S_ISREG(what.st_mode) && what.st_uid == ::geteuid();
  if (!is_own_file) return fail(Error::from_errno(cat({"open(", path, ")"}), EPERM));
  // Some network file systems have no locks (ENOLCK).
  TRY(check(lock_bytes(file.get(), F_OFD_GETLK, F_WRLCK, kNextByte, 2), {"fcntl(F_OFD_GETLK, ", path, ")"}));
  return file;
}

Status take_turn(int file, std::chrono::milliseconds wait_max) {
  if (lock_bytes(file, F_OFD_SETLK, F_WRLCK, kNextByte, 2) == 0) {
    lock_bytes(file, F_OFD_SETLK, F_UNLCK, kNextByte, 1);
    return {};
  }
  if (errno != EAGAIN && errno != EACCES) return fail(Error::from_errno("fcntl(F_OFD_SETLK)"));
  const auto until = std::chrono::steady_clock::now() + wait_max;
  const TurnAlarm alarm;
  TRY(wait_for_byte(file, kNextByte, until));
  Status turn = wait_for_byte(file, kTurnByte, until);
  lock_bytes(file, F_OFD_SETLK, F_UNLCK, kNextByte, 1);
  return turn;
}

void give_turn_back(int file) { lock_bytes(file, F_OFD_SETLK, F_UNLCK, kNextByte, 2); }

}  // namespace hutch::sys
