// A line that is typed and not shown: a secret's value. Pure, but for reading it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hutch::cli {

class HiddenLine {
 public:
  explicit HiddenLine(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  enum class State { kOpen, kDone, kCancelled, kTooLong };
  // What a terminal in raw mode gives: Enter ends it, Backspace takes a character back, Ctrl-U all; Ctrl-C and, in an
  // empty line, Ctrl-D cancel it. What follows the end is dropped.
  State take(std::string_view bytes);
  std::string take_text() { return std::move(text_); }

 private:
  void erase_last();
  std::size_t bytes_max_;
  std::string text_;
  State state_ = State::kOpen;
};

// Asks on the terminal of this process. Code::kConflict where whoever types cancels, kUnsupported without a terminal.
Result<std::string> read_hidden_line(const std::string& prompt, std::size_t bytes_max);

}  // namespace hutch::cli
