// What a sandbox asks of its owner: may it reach what no rule of its policy knows. Needs the standard library alone.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hutch {

// A workload chooses the names of its programs, and which of them asks: they are for reading.
struct AccessQuestion {
  std::string kind;  // "connect"
  std::string host;
  int port = 0;
  std::uint32_t process_id = 0;    // as the host numbers it; 0: not known
  std::string program;             // as the sandbox names it; empty: not known
  std::vector<std::string> chain;  // the programs above it, nearest first
  std::string rule;                // which made it a question: "default"
};

enum class AccessAnswer {
  kNo,
  kOnce,       // the connections that wait now
  kWhileRuns,  // until the sandbox stops
};

// What is asked for waits until it returns, and no longer than the policy's ask.timeout (a minute); the rest goes on.
// One question at a time, on a thread of the sandbox's own, which an exception must not leave.
using Decider = std::function<AccessAnswer(const AccessQuestion& question)>;

}  // namespace hutch
