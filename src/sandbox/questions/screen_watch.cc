// DEC private modes in a stream of output: ESC [ ? 1049 h and its like (xterm control sequences).
#include "sandbox/questions/screen_watch.h"

#include "base/text.h"

namespace hutch::sandbox {

bool is_repeatable(std::string_view line) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    const auto byte = static_cast<unsigned char>(line[at]);
    if (byte == '\r' || byte == '\t' || byte == '\b') continue;
    if (byte == 0x7f || (byte < 0x20 && byte != 0x1b)) return false;
    if (byte != 0x1b) continue;
    if (!line.substr(at + 1).starts_with('[')) return false;
    const std::size_t final = line.find_first_not_of("0123456789;?", at + 2);
    if (final == std::string_view::npos || !std::string_view("mhlKG").contains(line[final])) return false;
    at = final;
  }
  return true;
}

void ScreenWatch::watch(std::string_view output) {
  // Most output has no escape at all.
  if (state_ == State::kGround) {
    const std::size_t escape = output.find('\x1b');
    if (escape == std::string_view::npos) return;
    output.remove_prefix(escape);
  }
  for (const char byte : output) take(byte);
}

void ScreenWatch::take(char byte) {
  static constexpr std::size_t kParametersMax = 64;
  if (byte == '\x1b') {
    state_ = State::kEscape;
    parameters_.clear();
    return;
  }
  if (state_ == State::kEscape) {
    // ESC c resets the terminal.
    if (byte == 'c') alternate_ = cursor_hidden_ = false;
    state_ = byte == '[' ? State::kMode : State::kGround;
    return;
  }
  if (state_ != State::kMode) return;
  const bool parameter = (byte >= '0' && byte <= '9') || byte == ';' || (byte == '?' && parameters_.empty());
  if (parameter && parameters_.size() < kParametersMax) {
    parameters_ += byte;
    return;
  }
  state_ = State::kGround;
  if ((byte == 'h' || byte == 'l') && parameters_.starts_with('?')) apply(byte);
}

void ScreenWatch::apply(char final) {
  const bool on = final == 'h';
  for (const std::string_view mode : split(std::string_view(parameters_).substr(1), ';')) {
    if (mode == "1049" || mode == "1047" || mode == "47") alternate_ = on;
    if (mode == "25") cursor_hidden_ = !on;
  }
}

}  // namespace hutch::sandbox
