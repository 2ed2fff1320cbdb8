// One line of the record of what happened: a start, an end, a refusal, a connection, a decision or the use of a service
// of the host's, as JSON. Version 1.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace hutch::store {

using Time = std::chrono::time_point<std::chrono::system_clock, std::chrono::milliseconds>;

// Values of the environment are in no record.
struct RunStart {
  std::vector<std::string> command;
  std::string cwd;
  std::string policy;  // where it came from
  std::string backend;
  bool operator==(const RunStart&) const = default;
};

struct RunEnd {
  int exit_code = 0;
  int signal = 0;  // 0: none
  std::string ended_by;  // "itself", "timeout", ...
  std::chrono::milliseconds duration{0};
  std::string error;  // hutch's own failure; empty when the command ran
  bool operator==(const RunEnd&) const = default;
};

// Of what follows, `pid` and `program` are the process of the sandbox that did it, as the host numbers processes and
// the sandbox names programs; 0 and empty where it is not known. A line without them has neither.
struct Refusal {
  std::string what;
  std::string rule;  // empty where none is known
  std::uint32_t pid = 0;
  std::string program{};
  bool operator==(const Refusal&) const = default;
};

// One that the gateway let through, once it has ended.
struct Connection {
  std::string target;  // "example.org:443"
  std::string rule;
  std::chrono::milliseconds duration{0};
  std::int64_t bytes_up = 0;  // from the sandbox
  std::int64_t bytes_down = 0;
  std::uint32_t pid = 0;  // known of one that somebody was asked about
  std::string program{};
  bool operator==(const Connection&) const = default;
};

// What a person, or their settings, decided about a question.
struct Decision {
  std::string what;  // "connect to example.org:443", "run without isolation"
  std::string answer;  // "once", "session", "project", "no", ...
  std::string by;  // "the terminal", "the control descriptor", "no answer in time", "enabled: false in FILE"
  std::uint32_t pid = 0;
  std::string program{};
  bool operator==(const Decision&) const = default;
};

// What a sandbox asked of the host's bridge, or wrote down there by itself ("log").
struct Service {
  std::string service;  // "secrets", "log", ...
  std::string what;  // a secret's name; of "log" the text
  std::string outcome;  // "given", "refused: ..."; of "log" the level
  std::uint32_t pid = 0;
  std::string program{};
  bool operator==(const Service&) const = default;
};

struct Record {
  Time time;
  std::string run;  // lower-case hexadecimal digits
  std::variant<RunStart, RunEnd, Refusal, Connection, Decision, Service> body;
  std::string agent{};  // whose sandbox it was; empty: that of one command
  bool operator==(const Record&) const = default;
};

// A reader takes no longer line, a writer makes none: long texts are cut, long commands lose their last arguments.
inline constexpr std::size_t kRecordBytesMax = 65536;

// "start", "end", "refusal", "connection", "decision" or "service".
std::string_view type_of(const Record& record);

// One JSON object without a line end. Bytes that are no UTF-8 become U+FFFD.
std::string format_record(const Record& record);

// Strict: another version, an unknown key, a missing one, or a value of another type is an error.
Result<Record> parse_record(std::string_view line);

// "2026-11-21T17:53:02.123Z".
std::string format_time(Time time);
Result<Time> parse_time(std::string_view text);

}  // namespace hutch::store
