// Whether a request may pass: it has to speak to the host that the connection was made to, and a rule has to allow it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/head.h"
#include "policy/policy.h"
#include "wire/inspect.h"

namespace hutch::inspect {

// What is answered instead of being forwarded.
struct Refusal {
  int status = 400;
  std::string_view error;  // of X-Proxy-Error
  std::string text;        // for the person in the sandbox
  std::string what;        // for the gateway's record
  std::string why;
};

// A request as either version of HTTP gives it.
struct RequestView {
  std::string_view method;
  std::string_view target;
  // Every place that names the host: Host, :authority, the target's own. Each has to agree.
  std::vector<std::string_view> authorities;
};

struct Judgement {
  std::optional<Refusal> refusal;
  const policy::HttpRule* rule = nullptr;  // which allows it, where there are rules
  std::string target;                      // what to forward: path and query
};

Judgement judge(const wire::Inspect& connection, const RequestView& request);

// Whether "example.com", "EXAMPLE.com.:443", "[::1]:80" names the connection's host, and its port if it names one.
bool agrees(std::string_view authority, const wire::Inspect& connection);

// Takes away and sets what the rule says, but for what frames a message or names its host.
void apply_rule(const policy::HttpRule& rule, Headers& headers);

Refusal malformed_request(std::string_view why);
Refusal upstream_failure(std::string_view error, std::string_view text);

std::string_view reason_phrase(int status);

}  // namespace hutch::inspect
