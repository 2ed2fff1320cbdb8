// The keys that leave a process's terminal.
#include "client/detach_keys.h"

namespace hutch::client {

namespace {

constexpr char kFirst = 'P' & 0x1f;
constexpr char kSecond = 'Q' & 0x1f;

}  // namespace

std::string DetachKeys::take(std::string_view typed) {
  std::string passed;
  for (const char key : typed) {
    if (held_ && key == kSecond) {
      pressed_ = true;
      return passed;
    }
    if (held_) passed += kFirst;
    held_ = key == kFirst;
    if (!held_) passed += key;
  }
  return passed;
}

}  // namespace hutch::client
