// The control descriptor's lines of JSON: questions, violations and the end out; answers and updates in. Version 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace hutch::wire {

struct ControlAnswer {
  std::string id;
  std::string choice;
  std::optional<int> minutes;
};

struct ControlUpdate {
  std::string policy;  // JSON text
};

using ControlInput = std::variant<ControlAnswer, ControlUpdate>;

// One line, without its end. Strict: an unknown type or key, or a value of another kind, is an error.
Result<ControlInput> parse_control(std::string_view line);

struct ControlQuestion {
  std::string id;
  std::string kind;  // "connect"
  std::string host;
  int port = 0;
  std::string path{};  // of other kinds than "connect"
  std::uint32_t pid = 0;  // 0: not known
  std::string program;
  std::vector<std::string> chain;
  std::string rule;
  std::vector<std::string> choices;
};

struct ControlViolation {
  std::string what;
  std::string rule;
  std::uint32_t pid = 0;  // 0: not known, and not in the line
  std::string program{};
};

// Lines to write, with their end.
std::string control_violation(const ControlViolation& violation);
std::string control_question(const ControlQuestion& question);
// A question that somebody else answered, or nobody in time.
std::string control_answered(std::string_view id, std::string_view choice, std::string_view by);
std::string control_done(std::string_view outcome_json);
std::string control_error(std::string_view message);

}  // namespace hutch::wire
