// hutch-host: what was typed becomes a request to the host's bridge. Pure.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>

namespace hutch::guest {

// Stable, for scripts.
enum class HostExit {
  kDone = 0,
  kFailed = 1,       // the host failed
  kUsage = 2,        // there is no such command
  kNotFound = 3,     // no such secret, key or agent
  kRefused = 4,      // not for this agent
  kTooMany = 5,      // too many uses in a minute
  kUnavailable = 6,  // no bridge, or the host does not offer that
  kBadValue = 7,     // what was given is too large, or no text
};
HostExit exit_of(int status);  // of an HTTP answer

enum class HostInput { kNone, kBody, kText };

struct HostRequest {
  std::string method = "POST";
  std::string path{};
  std::string body{};
  // What standard input is: the whole body, or the text whose place the body has after `body`, before `behind`.
  HostInput input = HostInput::kNone;
  std::string behind{};
  enum class Form { kText, kJson } form = Form::kText;
  enum class Answer { kWhole, kStream } answer = Answer::kWhole;
};

// The words behind the program's name; an error is what to say about them.
std::expected<HostRequest, std::string> host_request(std::span<const std::string_view> words);

std::string host_usage();

// The request's bytes: by HTTP/1.0, so that what is answered ends with the connection; of a stream by HTTP/1.1, whose
// chunks tell whether it is whole.
std::string http_bytes(const HostRequest& request);

std::string json_string(std::string_view text);
std::string in_path(std::string_view text);  // as a part of a path or a query

// "hutch-host", or the name that other recipes have for it.
bool is_host_program(std::string_view path);

}  // namespace hutch::guest
