// From the bytes of a terminal to keys. What a terminal sends by itself (reports, pastes) is no key.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hutch::approval {

enum class KeyKind { kCharacter, kEnter, kEscape, kUp, kDown, kBackspace, kInterrupt };

struct Key {
  KeyKind kind = KeyKind::kCharacter;
  char character = 0;
  bool operator==(const Key&) const = default;
};

// The program in the sandbox wrote to this terminal, and a terminal answers some requests as if somebody typed:
// sequences are read to their end and dropped, and so are several characters that come at once.
class KeyReader {
 public:
  std::vector<Key> take(std::string_view bytes);
  // No byte came for a while: an ESC that is held was the key.
  std::vector<Key> settle();
  bool is_holding() const { return state_ != State::kGround; }

 private:
  enum class State {
    kGround,
    kEscape,     // after ESC
    kControl,    // after ESC [
    kSingle,     // after ESC O
    kString,     // after ESC ] P X ^ _: to BEL or ESC backslash
    kStringEnd,  // after ESC in such
  };
  void step(char byte, std::vector<Key>& keys);
  void step_control(char byte, std::vector<Key>& keys);

  State state_ = State::kGround;
  std::string parameters_;
  bool pasting_ = false;
};

}  // namespace hutch::approval
