// What is sent on of an HTTP/1 message: written anew from what was read, never the bytes as they came.
#pragma once

#include <string>
#include <string_view>

#include "inspect/head.h"
#include "inspect/judge.h"

namespace hutch::inspect {

enum class Persistence { kKeep, kClose };
enum class Upgrading { kNo, kWebSocket };

struct RequestOut {
  std::string_view target;
  std::string_view host;  // the Host field
  const policy::HttpRule* rule = nullptr;
  Framing framing = Framing::kNone;
  Persistence persistence = Persistence::kKeep;
  Upgrading upgrading = Upgrading::kNo;
};
std::string request_head(const Head& head, const RequestOut& how);

struct ResponseOut {
  Framing framing = Framing::kNone;  // towards the client
  Persistence persistence = Persistence::kKeep;
  Upgrading upgrading = Upgrading::kNo;
};
std::string response_head(const Head& head, const ResponseOut& how);

// A piece of a body, and its end, in that framing.
void append_body(std::string& out, std::string_view bytes, Framing framing);
void append_end(std::string& out, const Headers& trailers, Framing framing);

// Head and body of an answer of hutch's own; after it the connection closes.
enum class WithBody { kYes, kNo };
std::string refusal_message(const Refusal& refusal, WithBody body);

}  // namespace hutch::inspect
