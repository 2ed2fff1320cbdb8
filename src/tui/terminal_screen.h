// A terminal with ncurses on it: frames onto the screen, keys into events. Nothing is decided here.
#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "tui/draw.h"
#include "tui/event.h"

namespace hutch::tui {

// On standard input and output, which have to be a terminal. ncurses keeps its state in globals: one at a time.
class TerminalScreen {
 public:
  // An error where this kind of terminal (TERM) is not known, or cannot place its cursor; nothing was written then.
  static Result<std::unique_ptr<TerminalScreen>> open();
  struct State;
  explicit TerminalScreen(std::unique_ptr<State> state);
  ~TerminalScreen();  // the terminal as it was
  TerminalScreen(const TerminalScreen&) = delete;
  TerminalScreen& operator=(const TerminalScreen&) = delete;

  Surface surface() const;
  void show(const Frame& frame) const;
  // The next key that was typed; nothing where none waits.
  std::optional<Event> read();
  // The terminal has another size now.
  void resize() const;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace hutch::tui
