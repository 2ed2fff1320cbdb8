// Terminals.
#include "sys/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "sys/call.h"

namespace hutch::sys {

struct RawMode::Modes {
  termios found{};
  termios raw{};
  bool in_force = false;  // whether `raw` is
};

namespace {

// tcsetattr from the background stops the whole group with SIGTTOU unless it is blocked, as all signals of ours are.
// TCSADRAIN would wait for whoever reads the terminal. The kernel processes output when it is written, so what was
// written before keeps the earlier modes anyway.
Status set_modes(int terminal, const termios& modes) {
  return check(retry([&] { return ::tcsetattr(terminal, TCSANOW, &modes); }), {"tcsetattr()"});
}

}  // namespace

Result<TerminalPair> open_terminal(const std::string& path) {
  TerminalPair pair;
  pair.master = TRY(check_fd(::open(path.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC), {"open(", path, ")"}));
  int unlocked = 0;
  TRY(check(::ioctl(pair.master.get(), TIOCSPTLCK, &unlocked), {"ioctl(TIOCSPTLCK)"}));
  pair.terminal =
      TRY(check_fd(::ioctl(pair.master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC), {"ioctl(TIOCGPTPEER)"}));
  return pair;
}

Result<UniqueFd> open_own_terminal() {
  return check_fd(retry([] { return ::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC); }), {"open(/dev/tty)"});
}

std::optional<pid_t> terminal_session() {
  const auto terminal = open_own_terminal();
  if (!terminal) return std::nullopt;
  const pid_t leader = ::tcgetsid(terminal->get());
  return leader > 0 ? std::optional(leader) : std::nullopt;
}

Status discard_input(int terminal) { return check(::tcflush(terminal, TCIFLUSH), {"tcflush()"}); }

// TIOCSIG takes no SIGWINCH (pty_signal() in the kernel), and a size that stays sends none: so it changes twice.
Status signal_resize(int master) {
  const TerminalSize size = TRY(terminal_size(master));
  const auto rows = static_cast<unsigned short>(size.rows + 1);
  TRY(set_terminal_size(master, {rows, size.columns}));
  return set_terminal_size(master, size);
}

Status take_terminal(int terminal) { return check(::ioctl(terminal, TIOCSCTTY, 0), {"ioctl(TIOCSCTTY)"}); }

Status set_foreground(int terminal, pid_t group) {
  return check(::tcsetpgrp(terminal, group), {"tcsetpgrp(", std::to_string(group), ")"});
}

Status new_process_group(pid_t process) {
  return check(::setpgid(process, process), {"setpgid(", std::to_string(process), ")"});
}

Result<TerminalSize> terminal_size(int fd) {
  winsize size{};
  TRY(check(::ioctl(fd, TIOCGWINSZ, &size), {"ioctl(TIOCGWINSZ)"}));
  return TerminalSize{size.ws_row, size.ws_col};
}

Status set_terminal_size(int fd, TerminalSize size) {
  const winsize wanted{size.rows, size.columns, 0, 0};
  return check(::ioctl(fd, TIOCSWINSZ, &wanted), {"ioctl(TIOCSWINSZ)"});
}

Result<std::string> terminal_modes(int fd) {
  termios modes{};
  TRY(check(::tcgetattr(fd, &modes), {"tcgetattr()"}));
  return std::string(reinterpret_cast<const char*>(&modes), sizeof modes);
}

Status set_terminal_modes(int fd, std::string_view bytes) {
  termios modes{};
  if (bytes.size() != sizeof modes) return fail(Error::invalid("terminal modes of another build"));
  std::memcpy(&modes, bytes.data(), sizeof modes);
  return set_modes(fd, modes);
}

bool is_foreground(int terminal) { return ::tcgetpgrp(terminal) == ::getpgrp(); }

Status make_raw(int terminal) {
  termios modes{};
  TRY(check(::tcgetattr(terminal, &modes), {"tcgetattr()"}));
  ::cfmakeraw(&modes);
  return check(::tcsetattr(terminal, TCSANOW, &modes), {"tcsetattr()"});
}

Result<RawMode> RawMode::enter(int terminal) {
  RawMode mode = TRY(remember(terminal));
  TRY(mode.resume());
  return mode;
}

Result<RawMode> RawMode::remember(int terminal) {
  auto modes = std::make_unique<Modes>();
  TRY(check(::tcgetattr(terminal, &modes->found), {"tcgetattr()"}));
  modes->raw = modes->found;
  ::cfmakeraw(&modes->raw);
  return RawMode(terminal, std::move(modes));
}

RawMode::RawMode(int terminal, std::unique_ptr<Modes> modes) : terminal_(terminal), modes_(std::move(modes)) {}
RawMode::RawMode(RawMode&&) noexcept = default;

RawMode::~RawMode() {
  if (modes_) (void)suspend();
}

Status RawMode::suspend() const {
  return std::exchange(modes_->in_force, false) ? set_modes(terminal_, modes_->found) : Status();
}

Status RawMode::resume() const {
  modes_->in_force = true;
  return set_modes(terminal_, modes_->raw);
}

}  // namespace hutch::sys
