// Reading a line that is not shown.
#include "cli/terminal/hidden_line.h"

#include <array>

#include "base/text.h"
#include "sys/io.h"
#include "sys/terminal.h"

namespace hutch::cli {

HiddenLine::State HiddenLine::take(std::string_view bytes) {
  static constexpr char kCtrlC = 3;
  static constexpr char kCtrlD = 4;
  static constexpr char kBackspace = 8;
  static constexpr char kCtrlU = 21;
  static constexpr char kDelete = 127;
  for (const char c : bytes) {
    if (state_ != State::kOpen) break;
    if (c == '\r' || c == '\n') {
      state_ = State::kDone;
    } else if (c == kCtrlC || (c == kCtrlD && text_.empty())) {
      state_ = State::kCancelled;
    } else if (c == kBackspace || c == kDelete) {
      erase_last();
    } else if (c == kCtrlU) {
      text_.clear();
    } else if (text_.size() == bytes_max_) {
      state_ = State::kTooLong;
    } else {
      text_ += c;
    }
  }
  return state_;
}

// Of UTF-8 the bytes that go on a character begin with 10.
void HiddenLine::erase_last() {
  while (!text_.empty() && (static_cast<unsigned char>(text_.back()) & 0xc0U) == 0x80U) text_.pop_back();
  if (!text_.empty()) text_.pop_back();
}

namespace {

// In raw mode a new line is only that.
std::string with_returns(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (c == '\n') made += '\r';
    made += c;
  }
  return made;
}

}  // namespace

Result<std::string> read_hidden_line(const std::string& prompt, std::size_t bytes_max) {
  const auto terminal = sys::open_own_terminal();
  if (!terminal) {
    return fail(Error::unsupported("there is no terminal to ask on: give the value on standard input, or by --file"));
  }
  HiddenLine line(bytes_max);
  auto state = HiddenLine::State::kOpen;
  {
    // First: what is typed as soon as the question is there would be shown otherwise.
    const auto raw = TRY(sys::RawMode::enter(terminal->get()));
    TRY(sys::write_all(terminal->get(), with_returns(prompt)));
    std::array<char, 256> bytes{};
    while (state == HiddenLine::State::kOpen) {
      const std::size_t count = TRY(sys::read_some(terminal->get(), bytes));
      state = count == 0 ? HiddenLine::State::kCancelled : line.take({bytes.data(), count});
    }
  }
  TRY(sys::write_all(terminal->get(), "\n"));
  switch (state) {
    case HiddenLine::State::kDone: return line.take_text();
    case HiddenLine::State::kTooLong: return fail(Error::invalid("the value is too long"));
    default: return fail(Error{.code = Code::kConflict, .message = "cancelled: nothing was changed"});
  }
}

}  // namespace hutch::cli
