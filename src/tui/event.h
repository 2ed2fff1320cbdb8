// What a person does at the keyboard, whatever the terminal sends for it.
#pragma once

#include <string>

namespace hutch::tui {

enum class EventKind {
  kText,   // one character
  kPaste,  // a character of something that was pasted: never a command
  kEnter,
  kEscape,
  kUp,
  kDown,
  kLeft,
  kRight,
  kPageUp,
  kPageDown,
  kHome,
  kEnd,
  kBackspace,
  kDelete,
  kClear,      // Ctrl-U
  kInterrupt,  // Ctrl-C
};

struct Event {
  EventKind kind = EventKind::kText;
  std::string text{};  // of kText and kPaste, in UTF-8
};

}  // namespace hutch::tui
