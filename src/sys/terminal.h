// Terminals: pairs, modes, sizes, sessions. pty(7), termios(3), ioctl_tty(2).
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

struct TerminalPair {
  UniqueFd master;
  UniqueFd terminal;
};

// A new pair from the ptmx device at `path`; the terminal side comes from the master itself (TIOCGPTPEER), so that no
// name in a file system that somebody else can change is looked up.
Result<TerminalPair> open_terminal(const std::string& path);

// `terminal` becomes the controlling terminal of this session's leader.
Status take_terminal(int terminal);

// The process group that the terminal's keys go to.
Status set_foreground(int terminal, pid_t group);
Status new_process_group(pid_t process);

struct TerminalSize {
  unsigned short rows = 0;
  unsigned short columns = 0;
};
Result<TerminalSize> terminal_size(int fd);
Status set_terminal_size(int fd, TerminalSize size);

// The modes of a terminal as bytes for another process of the same build; set_terminal_modes refuses any other length.
Result<std::string> terminal_modes(int fd);
Status set_terminal_modes(int fd, std::string_view modes);

// The controlling terminal of this process; an error where it has none.
Result<UniqueFd> open_own_terminal();

// The leader of the session that the controlling terminal of this process belongs to (tcgetsid(3)).
std::optional<pid_t> terminal_session();

// What was typed and not read yet is dropped (tcflush(3)).
Status discard_input(int terminal);

// The foreground of the terminal hears that its size changed, as after a resize: it draws its screen again.
Status signal_resize(int master);

// Whether this process's group is the one that the terminal's keys go to.
bool is_foreground(int terminal);

// Bytes go through unchanged from here on.
Status make_raw(int terminal);

// Bytes go through unchanged while this lives; the modes found are restored when it goes.
class RawMode {
 public:
  static Result<RawMode> enter(int terminal);
  // Of the modes as they are now, which it leaves so until resume().
  static Result<RawMode> remember(int terminal);
  RawMode(RawMode&&) noexcept;
  RawMode& operator=(RawMode&&) = delete;
  ~RawMode();

  Status suspend() const;  // the modes as they were found, where others are in force by this
  Status resume() const;

 private:
  struct Modes;
  RawMode(int terminal, std::unique_ptr<Modes> modes);
  int terminal_;
  std::unique_ptr<Modes> modes_;
};

}  // namespace hutch::sys
