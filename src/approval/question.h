// What is asked: may a process of the sandbox do this, which no rule allows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/policy.h"
#include "policy/rules.h"

namespace hutch::approval {

enum class Kind { kRead, kWrite, kConnect, kSocket, kIsolation };

// As the host numbers it and the sandbox names it; 0 and empty where that cannot be told. A workload chooses its names
// and its parents: all of it is shown, and nothing is decided by it.
struct Process {
  std::uint32_t pid = 0;
  std::string program;
  std::vector<std::string> chain;  // the programs above it, nearest first
};

enum class Visibility { kVisible, kHidden };

struct Question {
  Kind kind = Kind::kConnect;
  std::string target;  // a canonical path, "example.org:443", or what runs without isolation: "agent alice"
  Process process{};
  std::string rule{};                             // which made it a question: "default"
  Visibility visibility = Visibility::kVisible;   // of kWrite: whether the path may be read
};

// "read", "write", "connect", "socket", "isolation".
std::string_view name_of(Kind kind);

// "connect to example.org:443". Questions with the same subject are one, whoever asks.
std::string subject_of(const Question& question);

// Why this is refused without a question; nothing where somebody may be asked. `rule` is the one that denies the path,
// null where none allows it. Connections are for policy::decide_host() to say.
std::optional<std::string> never_asked(Kind kind, const policy::Rule* rule, const policy::Asks& asks);

}  // namespace hutch::approval
