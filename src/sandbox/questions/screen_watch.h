// What a program's output did to its screen: whether it is in the alternate screen, and whether its cursor is hidden.
#pragma once

#include <string>
#include <string_view>

namespace hutch::sandbox {

// Whether a line of output can be shown a second time: it is text, colours and modes, and asks the terminal nothing
// that it would answer as if somebody typed.
bool is_repeatable(std::string_view line);

// Reads the output as it passes and changes nothing of it.
class ScreenWatch {
 public:
  void watch(std::string_view output);
  bool is_alternate() const { return alternate_; }
  bool is_cursor_hidden() const { return cursor_hidden_; }

 private:
  void take(char byte);
  void apply(char final);

  enum class State { kGround, kEscape, kMode };
  State state_ = State::kGround;
  std::string parameters_;
  bool alternate_ = false;
  bool cursor_hidden_ = false;
};

}  // namespace hutch::sandbox
