// HTTP requests and answers as values.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hutch::server::http {

inline constexpr std::size_t kHeadBytesMax = 32 << 10;
inline constexpr std::size_t kFieldsMax = 100;
inline constexpr std::size_t kBodyBytesMax = 8 << 20;

struct Field {
  std::string name;  // of a request: in lower case
  std::string value;
};

struct Request {
  std::string method;
  std::string target;  // as it came
  int minor_version = 1;
  bool keep_alive = false;
  bool has_body = false;
  std::optional<std::uint64_t> length{};  // of the body, where it is said
  bool expects_continue = false;
  std::vector<Field> fields;
  std::string body;

  // Its only value; null where it is absent. Of several the first.
  const std::string* field(std::string_view lower_name) const;
};

// What is said to whoever asked wrongly: the status, and {"error": {"code", "message"}}.
struct Refusal {
  int status = 400;
  std::string code = "bad_request";
  std::string message{};
};
Refusal refusal_of(const Error& error);

struct Answer {
  int status = 200;
  std::string type = "application/json";
  std::string body{};
  std::vector<Field> fields{};
  std::function<void()> undelivered{};  // called where it could not be sent
  std::shared_ptr<void> held{};         // let go once it was sent
};
Answer json_answer(int status, std::string json);
Answer answer_of(const Refusal& refusal);

std::string_view reason_phrase(int status);

// "/v1/a%20b?x=1&y" as its decoded parts; absent where it is no path, or an escape is wrong.
struct Target {
  std::vector<std::string> segments;  // "v1", "a b"
  std::vector<Field> query;
  const std::string* parameter(std::string_view name) const;
};
std::optional<Target> parse_target(std::string_view target);

// Whether one of a field's comma-separated values, parameters aside, is `wanted`: of Accept and its like.
bool lists_value(std::string_view field, std::string_view wanted);
char ascii_lower(char c);
std::string_view trimmed(std::string_view text);  // without blanks and tabs around it
bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace hutch::server::http
