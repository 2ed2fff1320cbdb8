// The keys that leave a process's terminal: ctrl-p ctrl-q, as docker has them.
#pragma once

#include <string>
#include <string_view>

namespace hutch::client {

class DetachKeys {
 public:
  // What of the keys that were typed goes on to the process. A ctrl-p is held until the next key says what it was.
  std::string take(std::string_view typed);
  bool were_pressed() const { return pressed_; }

 private:
  bool held_ = false;
  bool pressed_ = false;
};

}  // namespace hutch::client
