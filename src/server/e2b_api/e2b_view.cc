// What the E2B-compatible routes share.
#include "server/e2b_api/e2b_view.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/base64.h"
#include "base/sha256.h"
#include "base/text.h"
#include "server/e2b/costs.h"
#include "server/e2b/keys.h"
#include "server/e2b/port_names.h"
#include "server/protocol/http_guard.h"
#include "store/record.h"

namespace hutch::server::e2b {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kKeepalive{90'000};
constexpr std::int64_t kKeepaliveSecondsMax = 3600;
constexpr std::chrono::seconds kRoomWait{10};
constexpr std::string_view kUser = "user";  // the one that there is
constexpr std::size_t kCallBytesMax = connect::kMessageBytesMax + connect::kEnvelopeHeadBytes;

std::string_view field_of(const http::Request& request, std::string_view name) {
  const std::string* value = request.field(name);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

// "49983-ID.example" as ID.
std::string id_of_host(std::string_view host) {
  const std::string_view first = host.substr(0, host.find('.'));
  const std::size_t dash = first.find('-');
  return dash == std::string_view::npos || first.size() == host.size() ? "" : std::string(first.substr(dash + 1));
}

std::string sandbox_of(const http::Request& request) {
  const std::string_view id = field_of(request, "e2b-sandbox-id");
  return id.empty() ? id_of_host(field_of(request, "host")) : std::string(id);
}

bool may_enter(const Exchange& exchange, const E2bSandbox& sandbox) {
  if (exchange.guard() == nullptr) return true;
  if (http::is_token(http::bearer_of(exchange.request()), exchange.guard()->token)) return true;
  return http::is_token(field_of(exchange.request(), "x-access-token"), sandbox.record().token);
}

// Basic authentication names the user of a call, without a password.
std::string user_of(const Exchange& exchange) {
  return http::basic_user(exchange.request()).value_or(exchange.query("username"));
}

// --- links of uploadUrl and downloadUrl, which whoever has one uses without any header ---

bool is_of_link(const Exchange& exchange) {
  return exchange.request().target.starts_with("/files") && !exchange.query("signature").empty();
}

// As E2B's clients sign: the path as it was asked for, what is done, the user, the sandbox's token, the time of its
// end.
std::string signature_of(const Exchange& exchange, const std::string& token, std::string_view operation) {
  Sha256 sum;
  sum.add(cat({exchange.query("path"), ":", operation, ":", exchange.query("username"), ":", token}));
  const std::string ends = exchange.query("signature_expiration");
  if (!ends.empty()) sum.add(cat({":", ends}));
  std::string text = to_base64(sum.finish_bytes());
  while (text.ends_with('=')) text.pop_back();
  return cat({"v1_", text});
}

bool is_link_over(const std::string& expiration) {
  if (expiration.empty()) return false;
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(expiration.data(), expiration.data() + expiration.size(), seconds);
  return error != std::errc() || end != expiration.data() + expiration.size() || seconds < now_ms() / 1000;
}

// The sandbox whose token has signed it; null: none. A link that goes by E2B_SANDBOX_URL does not name one.
std::shared_ptr<E2bSandbox> linked(Exchange& exchange, const std::string& id) {
  const std::string given = exchange.query("signature");
  const std::string_view operation = exchange.request().method == "POST" ? "write" : "read";
  if (is_link_over(exchange.query("signature_expiration"))) return nullptr;
  // The parts are not told apart in what is signed: "a:write:b" read is "a" written by "b:read:".
  const std::string user = exchange.query("username");
  if (!user.empty() && user != kUser) return nullptr;
  // The header that names a user is not signed.
  if (user_of(exchange) == "root") return nullptr;
  for (const auto& sandbox : exchange.shared().e2b->list("")) {
    const store::E2bRecord record = sandbox->record();
    if (!id.empty() && record.id != id) continue;
    if (http::is_token(given, signature_of(exchange, record.token, operation))) return sandbox;
  }
  return nullptr;
}

std::string snake_case(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    if (is_upper) text += '_';
    text += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

Error wrong(std::string_view name, std::string_view what) { return Error::invalid(cat({name, " has to be ", what})); }

Result<Value::Object> parsed_message(std::string_view text) {
  if (text.empty()) return Value::Object();
  const Value parsed = TRY_CTX(tool::parse_value(text, connect::kMessageBytesMax), "the message");
  const auto* object = parsed.get<Value::Object>();
  if (object == nullptr) return fail(Error::invalid("the message is not a JSON object"));
  return *object;
}

Result<Value::Object> first_message(const std::string& body) {
  connect::EnvelopeReader reader;
  reader.add(body);
  auto first = TRY(reader.next());
  if (!first || !reader.is_between() || (first->flags & connect::kEndOfStream) != 0) {
    return fail(Error::invalid("the body is not one message in an envelope"));
  }
  return parsed_message(first->bytes);
}

// A key may belong to another person or a program, which must not learn where hutch keeps its files.
Error without_places(Exchange& exchange, Error error) {
  const auto& dirs = exchange.shared().agents.dirs();
  for (const std::string* place : {&dirs.data, &dirs.config, &dirs.runtime}) {
    for (std::size_t at = place->empty() ? std::string::npos : error.message.find(*place); at != std::string::npos;
         at = error.message.find(*place, at)) {
      error.message.replace(at, place->size(), "HUTCH");
    }
  }
  return error;
}

NotInside not_inside(const Error& error) {
  connect::Problem problem = connect::problem_of(error);
  return {connect::http_status(problem.code), std::move(problem)};
}

// Calls name the user that they are for; what else comes to a sandbox, as to its ports, names none.
std::variant<Inside, NotInside> entered_by_user(Exchange& exchange, const std::shared_ptr<E2bSandbox>& sandbox) {
  auto found = entered(exchange, sandbox);
  auto* inside = std::get_if<Inside>(&found);
  if (inside == nullptr || user_of(exchange) != "root") return found;
  const Status there = inside->agent->check_root();
  if (!there) return NotInside{501, {"unimplemented", there.error().message}};
  inside->user = tool::User::kRoot;
  return found;
}

KeyMemory::Clock::time_point room_until() { return KeyMemory::Clock::now() + kRoomWait; }

// The body, once there is room for it and for what is made of it; until then it waits where it comes from.
Result<std::variant<std::string, http::Refusal>> take_body(Exchange& exchange, KeyMemory::Held& held) {
  using Either = std::variant<std::string, http::Refusal>;
  const http::Request& request = exchange.request();
  if (!request.has_body) return Either(std::string());
  const std::uint64_t length = request.length.value_or(kCallBytesMax);
  const http::Refusal too_large{413, "body_too_large",
                                cat({"a message has more than ", std::to_string(connect::kMessageBytesMax), " bytes"})};
  if (length > kCallBytesMax) return Either(too_large);
  TRY(held.resize(cost_of_text(length), room_until()));
  std::string body;
  for (;;) {
    auto piece = TRY(exchange.connection().read_body_piece(request));
    if (std::holds_alternative<http::Refusal>(piece)) return piece;
    const auto& bytes = std::get<std::string>(piece);
    if (bytes.empty()) break;
    body += bytes;
    if (body.size() > kCallBytesMax) return Either(too_large);
  }
  TRY(held.resize(cost_of_json(body), room_until()));
  return Either(std::move(body));
}

// What was asked is done with; the answer is kept until it is sent.
Handled keep_until_sent(Handled handled, const Held& held) {
  auto* answer = handled ? std::get_if<Answer>(&*handled) : nullptr;
  if (answer == nullptr) return handled;
  TRY(held->resize(answer->body.size(), room_until()));
  answer->held = held;
  return handled;
}

}  // namespace

Status hold_more(const Held& held, std::uint64_t bytes) { return held->resize(held->bytes() + bytes, room_until()); }

Answer json(int status, Value value) { return http::json_answer(status, tool::json_text(value)); }

Answer error_answer(int status, std::string_view message) {
  return json(status, Value(Value::Object{{"code", status}, {"message", message}}));
}

Answer error_answer(const Error& error) {
  const http::Refusal refusal = http::refusal_of(error);
  if (is_full(error)) return error_answer(429, refusal.message);
  return error_answer(error.code == Code::kUnsupported ? 501 : refusal.status, refusal.message);
}

std::optional<std::string> owner_of(Exchange& exchange) {
  if (exchange.guard() == nullptr) return "";
  for (const std::string_view key : {field_of(exchange.request(), "x-api-key"), http::bearer_of(exchange.request())}) {
    if (key.empty()) continue;
    if (http::is_token(key, exchange.guard()->token)) return "";
    if (auto owner = owner_of_key(exchange.shared().agents.dirs().config, key)) return owner;
  }
  return std::nullopt;
}

Handled owned(Exchange& exchange, Body body, OwnedHandler handle) {
  auto owner = owner_of(exchange);
  if (!owner) return error_answer(401, "the header X-API-KEY has to be the daemon's token, or a key of api-keys");
  const auto run = [&]() -> Handled {
    Asked asked{*owner, TRY(exchange.shared().e2b->calls().hold(*owner, 0, room_until()))};
    if (body == Body::kJson) {
      auto taken = TRY(take_body(exchange, *asked.held));
      if (const auto* refusal = std::get_if<http::Refusal>(&taken)) {
        return error_answer(refusal->status, refusal->message);
      }
      asked.body = std::move(std::get<std::string>(taken));
    }
    if (!asked.body.empty() && !http::lists_value(field_of(exchange.request(), "content-type"), "application/json")) {
      return error_answer(415, "the body has to be application/json");
    }
    return keep_until_sent(handle(exchange, asked), asked.held);
  };
  Handled handled = run();
  if (handled || exchange.connection().is_streaming()) return handled;
  return error_answer(without_places(exchange, handled.error()));
}

bool shows_key(Exchange& exchange) { return owner_of(exchange).has_value(); }

bool shows_token(Exchange& exchange) {
  const std::string id = sandbox_of(exchange.request());
  const auto found = exchange.shared().e2b->find(id, "");
  if (found && may_enter(exchange, **found)) return true;
  return is_of_link(exchange) && linked(exchange, id) != nullptr;
}

std::variant<Inside, NotInside> inside(Exchange& exchange) {
  E2bDesk& desk = *exchange.shared().e2b;
  const std::string id = sandbox_of(exchange.request());
  if (is_of_link(exchange)) {
    const auto sandbox = linked(exchange, id);
    if (sandbox) return entered_by_user(exchange, sandbox);
    return NotInside{
        401,
        {"unauthenticated", "the link's signature is wrong, its time is over, or it names another user than \"user\""}};
  }
  if (id.empty()) return NotInside{400, {"invalid_argument", "the header E2b-Sandbox-Id has to name the sandbox"}};
  const auto found = desk.find(id, "");
  if (!found) return NotInside{502, {"unavailable", "The sandbox was not found"}};
  const std::shared_ptr<E2bSandbox>& sandbox = *found;
  if (!may_enter(exchange, *sandbox)) {
    return NotInside{401, {"unauthenticated", "the header X-Access-Token has to be the sandbox's own"}};
  }
  return entered_by_user(exchange, sandbox);
}

Result<wire::FileReply> Inside::file(const wire::FileRequest& request) const {
  return user == tool::User::kRoot ? agent->file_of_root(request) : agent->file(request);
}

std::variant<Inside, NotInside> entered(Exchange& exchange, const std::shared_ptr<E2bSandbox>& sandbox) {
  E2bDesk& desk = *exchange.shared().e2b;
  const store::E2bRecord record = sandbox->record();
  if (record.paused) {
    if (!record.resumes_by_itself) return NotInside{502, {"unavailable", "The sandbox is paused; connect to it first"}};
    const Status resumed = desk.resume(*sandbox, E2bDesk::kTimeout.count());
    if (!resumed) return NotInside{502, {"unavailable", without_places(exchange, resumed.error()).message}};
  }
  auto agent = desk.agent(*sandbox);
  if (!agent) return NotInside{502, {"unavailable", "The sandbox was not found"}};
  auto held = desk.calls().hold(sandbox->owner(), 0, room_until());
  if (!held) return not_inside(without_places(exchange, held.error()));
  return Inside{sandbox, std::move(*agent), sandbox->owner(), std::move(*held)};
}

Answer problem_answer(const NotInside& refused) {
  return {.status = refused.status, .body = connect::problem_json(refused.problem)};
}

Handled handled_inside(Exchange& exchange, const Inside& inside, InsideHandler handle) {
  Handled handled = keep_until_sent(handle(exchange, inside), inside.held);
  if (handled || exchange.connection().is_streaming()) return handled;
  return error_answer(without_places(exchange, handled.error()));
}

Handled unary(Exchange& exchange, const Inside& inside, UnaryHandler handle) {
  if (!http::lists_value(field_of(exchange.request(), "content-type"), "application/json")) {
    return error_answer(415, "this call takes application/json");
  }
  const auto run = [&]() -> Handled {
    auto taken = TRY(take_body(exchange, *inside.held));
    if (auto* refusal = std::get_if<http::Refusal>(&taken)) {
      return problem_answer({refusal->status, {"invalid_argument", std::move(refusal->message)}});
    }
    const Value::Object message = TRY(parsed_message(std::get<std::string>(taken)));
    Reply reply = TRY(handle(exchange, inside, message));
    return Answer{.body = std::move(reply.json)};
  };
  Handled handled = keep_until_sent(run(), inside.held);
  return handled ? std::move(handled) : problem_answer(not_inside(without_places(exchange, handled.error())));
}

// Of a sandbox that is gone, clients read the status alone; everything else is said in the stream.
Handled refuse_stream(Exchange& exchange, const NotInside& refused) {
  if (refused.status == 502) return problem_answer(refused);
  TRY(begin_stream(exchange));
  TRY(exchange.connection().send_piece(connect::end_of_stream(refused.problem)));
  return http::Streamed{};
}

Handled stream(Exchange& exchange, const Inside& inside, StreamHandler handle) {
  if (!is_stream_of_json(exchange.request())) return error_answer(415, "this call takes application/connect+json");
  const auto begin = [&]() -> Result<Going> {
    auto taken = TRY(take_body(exchange, *inside.held));
    if (auto* refusal = std::get_if<http::Refusal>(&taken)) return fail(Error::invalid(std::move(refusal->message)));
    const Value::Object message = TRY(first_message(std::get<std::string>(taken)));
    return handle(exchange, inside, message);
  };
  const auto run = [&]() -> Status {
    const Going going = TRY(begin());
    inside.held->shrink(0);
    return going();
  };
  const Status done = run();
  // An error is said in the last envelope, whatever there was before it.
  if (!exchange.connection().is_streaming()) TRY(begin_stream(exchange));
  TRY(exchange.connection().send_piece(done ? connect::end_of_stream()
                                            : connect::end_of_stream(connect::problem_of(done.error()))));
  return http::Streamed{};
}

Status begin_stream(Exchange& exchange) { return exchange.begin({.type = "application/connect+json"}); }

Status send_message(Exchange& exchange, Value::Object message) {
  return exchange.connection().send_piece(connect::envelope(0, tool::json_text(Value(std::move(message)))));
}

bool is_stream_of_json(const http::Request& request) {
  return http::lists_value(field_of(request, "content-type"), "application/connect+json");
}

milliseconds keepalive_of(const http::Request& request) {
  const std::string_view text = field_of(request, "keepalive-ping-interval");
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || seconds < 1 || seconds > kKeepaliveSecondsMax) return kKeepalive;
  return std::chrono::seconds(seconds);
}

const Value* Message::find(std::string_view name) const {
  auto found = object_.find(name);
  if (found == object_.end()) found = object_.find(snake_case(name));
  return found == object_.end() || found->second.is_null() ? nullptr : &found->second;
}

Result<std::string> Message::text(std::string_view name) const {
  const Value* value = find(name);
  if (value == nullptr) return std::string();
  const auto* text = value->get<std::string>();
  if (text == nullptr || text->contains('\0')) return fail(wrong(name, "a text"));
  return *text;
}

// With padding or without, in either alphabet (the JSON mapping of Protocol Buffers).
Result<std::string> Message::bytes(std::string_view name) const {
  std::string encoded = TRY(text(name));
  std::ranges::replace(encoded, '-', '+');
  std::ranges::replace(encoded, '_', '/');
  while (encoded.size() % 4 != 0) encoded += '=';
  auto bytes = from_base64(encoded);
  if (!bytes) return fail(wrong(name, "base64"));
  return std::move(*bytes);
}

Result<std::int64_t> Message::number(std::string_view name) const {
  const Value* value = find(name);
  if (value == nullptr) return 0;
  if (const auto* number = value->get<std::int64_t>()) return *number;
  const auto* text = value->get<std::string>();
  std::int64_t number = 0;
  if (text != nullptr && !text->empty()) {
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (error == std::errc() && end == text->data() + text->size()) return number;
  }
  return fail(wrong(name, "a whole number"));
}

Result<bool> Message::truth(std::string_view name) const {
  const Value* value = find(name);
  if (value == nullptr) return false;
  const bool* truth = value->get<bool>();
  if (truth == nullptr) return fail(wrong(name, "true or false"));
  return *truth;
}

Result<const Value::Object*> Message::object(std::string_view name) const {
  const Value* value = find(name);
  if (value == nullptr) return nullptr;
  const auto* object = value->get<Value::Object>();
  if (object == nullptr) return fail(wrong(name, "an object"));
  return object;
}

Result<Texts> texts_of(const Value& value, std::string_view what) {
  Texts texts;
  const auto* object = value.get<Value::Object>();
  if (object == nullptr) return fail(wrong(what, "an object of texts"));
  for (const auto& [name, one] : *object) {
    const auto* text = one.get<std::string>();
    if (text == nullptr || text->contains('\0') || name.contains('\0')) return fail(wrong(what, "an object of texts"));
    texts.emplace(name, *text);
  }
  return texts;
}

Result<Texts> variables_of(const Value& value, std::string_view what) {
  Texts variables = TRY(texts_of(value, what));
  for (const auto& [name, text] : variables) {
    if (!name.empty() && !name.contains('=')) continue;
    return fail(Error::invalid(cat({what, ": ", printable(name, 64), " is no variable's name"})));
  }
  return variables;
}

std::string time_text(std::int64_t ms) {
  return store::format_time(std::chrono::sys_time<milliseconds>(milliseconds(ms)));
}

}  // namespace hutch::server::e2b
