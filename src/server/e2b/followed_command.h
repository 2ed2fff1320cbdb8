// What a client has run in an agent's sandbox, to be followed by any number of them.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sys/terminal.h"
#include "tool/place.h"

namespace hutch::server {

struct FollowedCommand {
  std::string program;
  std::vector<std::string> arguments;  // without the program
  std::map<std::string, std::string, std::less<>> variables;  // as they were asked for
  std::string cwd;
  std::string tag;
  tool::User user = tool::User::kAgent;
  std::string key{};  // the API key's name whose sandbox it is in; empty: the daemon's own user
  std::optional<sys::TerminalSize> terminal{};
  enum class Input { kNone, kWritten } input = Input::kNone;
  std::chrono::milliseconds timeout{0};  // 0: none
};

}  // namespace hutch::server
