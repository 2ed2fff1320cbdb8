// What the gateway tells its owner.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "policy/network/hosts.h"
#include "sys/net/sockets.h"

namespace hutch::egress {

// Where a connection wants to go.
struct Target {
  policy::Host host;
  int port = 0;  // 0: a DNS query, whose port is not known
  sys::Transport transport = sys::Transport::kTcp;
};
std::string to_string(const Target& target);  // "a.example:443", "[::1]:22", "a.example:123/udp", "a.example"

// Whether `name`, such a text, is the target that a person names: "a.example:443", or "a.example" for every port.
bool is_named(std::string_view name, std::string_view target);

// Which process of the sandbox, as the host numbers it; 0 and empty where it cannot be told.
struct Process {
  std::uint32_t pid = 0;
  std::string program;
  std::vector<std::string> chain;  // the programs above it, nearest first
};

// May this host be reached? Everything that waits for the answer goes on waiting until it comes.
struct Question {
  std::uint64_t id = 0;
  Target target;
  Process process;
};

// Told once for each host.
struct Refusal {
  Target target;
  std::string rule;  // "default", "network.deniedDomains \"x\""
  std::string why;
  std::string remedy;  // the option that would allow it; empty when none would
  Process process;
};

// A connection that has ended.
struct Passed {
  Target target;
  std::string rule;
  std::chrono::system_clock::time_point began;
  std::chrono::milliseconds duration{0};
  std::uint64_t bytes_up = 0;  // from the sandbox
  std::uint64_t bytes_down = 0;
  Process process{};  // of one that was asked about; nobody is looked for because a connection passed
};

using Event = std::variant<Question, Refusal, Passed>;

}  // namespace hutch::egress
