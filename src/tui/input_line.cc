// A line that is being typed.
#include "tui/input_line.h"

#include <string_view>

namespace hutch::tui {

namespace {

// A path of the kernel's greatest length, and a rule in JSON.
constexpr std::size_t kBytesMax = 16384;

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

bool is_control(std::string_view character) {
  return character.empty() || (character.size() == 1 && (character[0] < ' ' || character[0] == '\x7f')) ||
         (character.size() == 2 && character[0] == '\xc2' && static_cast<unsigned char>(character[1]) < 0xA0);
}

}  // namespace

void InputLine::press(const Event& event) {
  switch (event.kind) {
    case EventKind::kText:
    case EventKind::kPaste: return insert(event.text);
    case EventKind::kLeft: cursor_ = before(); break;
    case EventKind::kRight: cursor_ = after(); break;
    case EventKind::kHome: cursor_ = 0; break;
    case EventKind::kEnd: cursor_ = text_.size(); break;
    case EventKind::kBackspace: {
      const std::size_t start = before();
      text_.erase(start, cursor_ - start);
      cursor_ = start;
      break;
    }
    case EventKind::kDelete: text_.erase(cursor_, after() - cursor_); break;
    case EventKind::kClear:
      text_.erase(0, cursor_);
      cursor_ = 0;
      break;
    case EventKind::kEnter:
    case EventKind::kEscape:
    case EventKind::kUp:
    case EventKind::kDown:
    case EventKind::kPageUp:
    case EventKind::kPageDown:
    case EventKind::kInterrupt: break;
  }
}

// A line holds one: the ends of lines and other controls of what is pasted are left out.
void InputLine::insert(const std::string& character) {
  if (is_control(character) || text_.size() + character.size() > kBytesMax) return;
  text_.insert(cursor_, character);
  cursor_ += character.size();
}

std::size_t InputLine::before() const {
  std::size_t at = cursor_;
  if (at > 0) --at;
  while (at > 0 && is_continuation(text_[at])) --at;
  return at;
}

std::size_t InputLine::after() const {
  std::size_t at = cursor_;
  if (at < text_.size()) ++at;
  while (at < text_.size() && is_continuation(text_[at])) ++at;
  return at;
}

}  // namespace hutch::tui
