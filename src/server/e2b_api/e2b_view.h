// What the E2B-compatible routes share: who asks, which sandbox is meant, errors and messages as those clients read
// them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/e2b/connect_protocol.h"
#include "server/e2b/desk.h"
#include "server/e2b/key_memory.h"
#include "server/e2b/reply.h"
#include "server/http/exchange.h"
#include "server/http/routes.h"

namespace hutch::server::e2b {

using http::Answer;
using http::Exchange;
using http::Handled;
using tool::Value;

// As much of the daemon inside a sandbox as is offered here: clients ask for nothing newer.
inline constexpr std::string_view kEnvdVersion = "0.5.7";

// --- the API of sandboxes: {"code": 404, "message": "..."} ---

Answer error_answer(int status, std::string_view message);
Answer error_answer(const Error& error);
Answer json(int status, Value value);

// Whose key was shown: "" is the daemon's own user. Absent: nobody's.
std::optional<std::string> owner_of(Exchange& exchange);
bool shows_key(Exchange& exchange);

// Memory that a call takes for its key, until its answer is sent.
using Held = std::shared_ptr<KeyMemory::Held>;
Status hold_more(const Held& held, std::uint64_t bytes);  // waits a while for room

struct Asked {
  std::string owner;
  Held held;
  std::string body{};
};
using OwnedHandler = Handled (*)(Exchange& exchange, const Asked& asked);
// A route's handler: the key is looked at, and errors are told as above. No body is read but by the second; its routes
// leave that to it (BodyType::kStream), so that it is held to what its key has left.
enum class Body { kUnread, kJson };
Handled owned(Exchange& exchange, Body body, OwnedHandler handle);
template <OwnedHandler handle>
Handled with_key(Exchange& exchange) {
  return owned(exchange, Body::kUnread, handle);
}
template <OwnedHandler handle>
Handled with_body(Exchange& exchange) {
  return owned(exchange, Body::kJson, handle);
}

// --- calls into a sandbox, which a header or the host's name chooses ---

struct Inside {
  std::shared_ptr<E2bSandbox> sandbox;
  std::shared_ptr<service::AgentSandbox> agent;
  std::string key;  // whose it is
  Held held;
  tool::User user = tool::User::kAgent;  // whom the call is for

  Result<wire::FileReply> file(const wire::FileRequest& request) const;
};
// Or what is answered instead: the sandbox is not there, or paused; the token is wrong; the user is another.
struct NotInside {
  int status = 502;  // which these clients take for a sandbox that is gone
  connect::Problem problem{"unavailable"};
};
std::variant<Inside, NotInside> inside(Exchange& exchange);
// The same of one that was found already, for a caller that showed what it takes.
std::variant<Inside, NotInside> entered(Exchange& exchange, const std::shared_ptr<E2bSandbox>& sandbox);
bool shows_token(Exchange& exchange);  // of a sandbox that is there

using InsideHandler = Handled (*)(Exchange& exchange, const Inside& inside);
Handled handled_inside(Exchange& exchange, const Inside& inside, InsideHandler handle);
template <InsideHandler handle>
Handled with_sandbox(Exchange& exchange) {
  auto found = inside(exchange);
  if (auto* refused = std::get_if<NotInside>(&found)) return error_answer(refused->status, refused->problem.message);
  return handled_inside(exchange, std::get<Inside>(found), handle);
}

Answer problem_answer(const NotInside& refused);
using UnaryHandler = Result<Reply> (*)(Exchange& exchange, const Inside& inside, const Value::Object& message);
Handled unary(Exchange& exchange, const Inside& inside, UnaryHandler handle);
// A call of Connect's that is no stream.
template <UnaryHandler handle>
Handled call(Exchange& exchange) {
  auto found = inside(exchange);
  if (const auto* refused = std::get_if<NotInside>(&found)) return problem_answer(*refused);
  return unary(exchange, std::get<Inside>(found), handle);
}

Handled refuse_stream(Exchange& exchange, const NotInside& refused);
// What goes on once the message is understood: it is kept no longer than that, a stream for hours.
using Going = std::function<Status()>;
using StreamHandler = Result<Going> (*)(Exchange& exchange, const Inside& inside, const Value::Object& message);
Handled stream(Exchange& exchange, const Inside& inside, StreamHandler handle);
// A call that is answered by a stream, which is begun by what is sent first; an error ends it.
template <StreamHandler handle>
Handled streamed(Exchange& exchange) {
  auto found = inside(exchange);
  if (const auto* refused = std::get_if<NotInside>(&found)) return refuse_stream(exchange, *refused);
  return stream(exchange, std::get<Inside>(found), handle);
}
Status begin_stream(Exchange& exchange);
Status send_message(Exchange& exchange, Value::Object message);
bool is_stream_of_json(const http::Request& request);

// How often a stream on which nothing happens says so; as the client asks for it.
std::chrono::milliseconds keepalive_of(const http::Request& request);

// --- members of a message, in the JSON of Protocol Buffers: camelCase, or the names of the .proto; null is absent ---

class Message {
 public:
  explicit Message(const Value::Object& object) : object_(object) {}
  const Value* find(std::string_view name) const;
  Result<std::string> text(std::string_view name) const;  // "" where it is absent
  Result<std::string> bytes(std::string_view name) const;  // of base64
  Result<std::int64_t> number(std::string_view name) const;  // 0 where it is absent; also as a text
  Result<bool> truth(std::string_view name) const;
  Result<const Value::Object*> object(std::string_view name) const;  // null where it is absent

 private:
  const Value::Object& object_;
};

using Texts = std::map<std::string, std::string, std::less<>>;
Result<Texts> texts_of(const Value& value, std::string_view what);
Result<Texts> variables_of(const Value& value, std::string_view what);  // whose names can be those of variables

std::string time_text(std::int64_t ms);

}  // namespace hutch::server::e2b
