// A terminal's bytes, by the states of ECMA-48 (section 5).
#include "approval/keys.h"

#include <algorithm>

namespace hutch::approval {

namespace {

constexpr char kEsc = '\x1b';

bool is_text(const Key& key) { return key.kind == KeyKind::kCharacter || key.kind == KeyKind::kEnter; }

}  // namespace

std::vector<Key> KeyReader::take(std::string_view bytes) {
  std::vector<Key> keys;
  for (const char byte : bytes) step(byte, keys);
  // Nobody types two in one read; a paste and a terminal's answerback come so.
  if (std::ranges::count_if(keys, is_text) > 1) std::erase_if(keys, is_text);
  return keys;
}

std::vector<Key> KeyReader::settle() {
  const bool escape = state_ == State::kEscape && !pasting_;
  state_ = State::kGround;
  return escape ? std::vector<Key>{{KeyKind::kEscape}} : std::vector<Key>();
}

void KeyReader::step(char byte, std::vector<Key>& keys) {
  switch (state_) {
    case State::kGround: break;
    case State::kEscape:
      parameters_.clear();
      if (byte == '[') {
        state_ = State::kControl;
      } else if (byte == 'O') {
        state_ = State::kSingle;
      } else if (byte == ']' || byte == 'P' || byte == 'X' || byte == '^' || byte == '_') {
        state_ = State::kString;
      } else if (byte == kEsc) {
        if (!pasting_) keys.push_back({KeyKind::kEscape});
      } else {
        state_ = State::kGround;  // Alt with a key
      }
      return;
    case State::kControl: return step_control(byte, keys);
    case State::kSingle:
      state_ = State::kGround;
      if (byte == 'A' && !pasting_) keys.push_back({KeyKind::kUp});
      if (byte == 'B' && !pasting_) keys.push_back({KeyKind::kDown});
      return;
    case State::kString:
      if (byte == '\a') state_ = State::kGround;
      if (byte == kEsc) state_ = State::kStringEnd;
      return;
    case State::kStringEnd: state_ = byte == '\\' ? State::kGround : State::kString; return;
  }
  if (byte == kEsc) {
    state_ = State::kEscape;
    return;
  }
  if (pasting_) return;
  if (byte == '\r' || byte == '\n') keys.push_back({KeyKind::kEnter});
  if (byte == '\x03') keys.push_back({KeyKind::kInterrupt});
  if (byte == '\x7f' || byte == '\b') keys.push_back({KeyKind::kBackspace});
  if (byte >= ' ' && byte < '\x7f') keys.push_back({KeyKind::kCharacter, byte});
}

// Parameters up to a byte from @ to ~ (ECMA-48, 5.4). 200~ and 201~ are the ends of a paste.
void KeyReader::step_control(char byte, std::vector<Key>& keys) {
  if (byte < '@' || byte > '~') {
    if (parameters_.size() < 16) parameters_ += byte;
    return;
  }
  state_ = State::kGround;
  if (byte == '~' && parameters_ == "200") pasting_ = true;
  if (byte == '~' && parameters_ == "201") pasting_ = false;
  if (pasting_ || !parameters_.empty()) return;
  if (byte == 'A') keys.push_back({KeyKind::kUp});
  if (byte == 'B') keys.push_back({KeyKind::kDown});
}

}  // namespace hutch::approval
