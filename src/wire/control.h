// The lines of JSON of a control descriptor and of a run's socket: questions, violations and the end out; answers and
// updates in. Version 1.
#pragma once

#include <chrono>
#include <cstddef>
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

// Of a socket: this client answers questions, from now on until it goes.
struct ControlAttend {};

// The user's policies have changed.
struct ControlReload {};

// What was allowed for this run is taken back.
struct ControlRevoke {
  std::string host;  // "example.org:443", or "example.org" for every port
};

using ControlInput = std::variant<ControlAnswer, ControlUpdate, ControlAttend, ControlReload, ControlRevoke>;

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
  std::chrono::milliseconds left{0};  // until the answer is no
};

// The first line that a client of a run's socket is sent; so many questions follow.
struct ControlRun {
  std::string run;  // its id
  std::int64_t pid = 0;
  std::string directory;
  std::vector<std::string> command;
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
std::string control_run(const ControlRun& run, std::size_t open);
// To the client of a socket whose answer it was that counted.
std::string control_accepted(std::string_view id);
// After a reload; `left` are those new rules that hold from the next start on alone.
std::string control_reloaded(const std::vector<std::string>& left);
// What a revocation came to: so many permissions, so many connections that were ended.
std::string control_revoked(std::string_view host, std::size_t grants, std::size_t connections);

}  // namespace hutch::wire
