// One connection of the daemon's own client.
#include "server/rpc/session.h"

#include <poll.h>

#include <algorithm>
#include <array>

#include "base/limits.h"
#include "base/text.h"
#include "sys/io.h"

namespace hutch::server {

namespace {

Result<Value::Object> object_of(std::string_view json) {
  const Value value = TRY(tool::parse_value(json, limits::kFrameBytesMax));
  const auto* object = value.get<Value::Object>();
  if (object == nullptr) return fail(Error::invalid("a call is a JSON object"));
  return *object;
}

const Verb* find_verb(std::string_view name) {
  for (const auto verbs : {agent_verbs(), process_verbs(), tool_verbs(), mcp_verbs(), session_verbs(), question_verbs(),
                           pool_verbs(), task_verbs(), secret_verbs(), event_verbs(), memory_verbs(), artifact_verbs(),
                           plugin_verbs(), machine_verbs()}) {
    const auto found = std::ranges::find(verbs, name, &Verb::name);
    if (found != verbs.end()) return &*found;
  }
  return nullptr;
}

}  // namespace

void Session::serve() {
  for (;;) {
    const auto frame = connection_.receive();
    if (!frame || !*frame) return;
    const auto message = wire::decode_to_daemon((*frame)->header, (*frame)->body);
    if (!message) return;
    const auto* call = std::get_if<wire::Call>(&*message);
    if (call == nullptr) continue;  // for a call that has ended meanwhile
    if (!serve_call(*call)) return;
  }
}

void Session::refuse(Error why) {
  const auto first = connection_.receive();
  if (first && *first) (void)connection_.send(wire::FromDaemon(wire::CallFailed{std::move(why)}));
}

Status Session::serve_call(const wire::Call& call) {
  const auto carry_out = [&]() -> Result<Value> {
    const Value::Object object = TRY(object_of(call.json));
    const CallReader reader(object);
    const std::string name = TRY(reader.text("verb"));
    const Verb* verb = find_verb(name);
    if (verb == nullptr) {
      return fail(Error::unsupported(cat({"the daemon does not know ", printable(name, 64),
                                          ": it is of another version; hutch daemon stop ends it"})));
    }
    return verb->carry_out(*this, reader);
  };
  Result<Value> result = carry_out();
  (void)take_descriptors();
  if (!result) return connection_.send(wire::FromDaemon(wire::CallFailed{std::move(result).error()}));
  return connection_.send(wire::FromDaemon(wire::CallResult{tool::json_text(*result)}));
}

Status Session::tell(const Value& event, std::span<const int> descriptors) {
  return connection_.send(wire::FromDaemon(wire::CallEvent{tool::json_text(event)}), descriptors);
}

Status Session::tell_text(const std::string& text) { return connection_.send(wire::FromDaemon(wire::CallEvent{text})); }

Result<Session::Heard> Session::hear(int also, std::optional<std::chrono::milliseconds> wait, int other) {
  Heard heard;
  std::optional<wire::Frame> frame = TRY(connection_.take_buffered());
  if (!frame) {
    std::array<pollfd, 3> ready = {{{connection_.fd(), POLLIN, 0}, {also, POLLIN, 0}, {other, POLLIN, 0}}};
    TRY(sys::poll(ready, wait));
    heard.also = ready[1].revents != 0 || ready[2].revents != 0;
    if (ready[0].revents == 0) return heard;
    auto polled = connection_.receive_ready();
    heard.gone = !polled || polled->closed;
    if (!polled || !polled->frame) return heard;
    frame = std::move(polled->frame);
  }
  const auto message = TRY(wire::decode_to_daemon(frame->header, frame->body));
  const auto* input = std::get_if<wire::CallInput>(&message);
  if (input == nullptr) return fail(Error::invalid("a call before the end of another"));
  heard.input = TRY(tool::parse_value(input->json, limits::kFrameBytesMax));
  return heard;
}

Result<std::optional<std::string>> Session::hear_text() {
  const auto frame = TRY(connection_.receive());
  if (!frame) return std::optional<std::string>();
  auto message = TRY(wire::decode_to_daemon(frame->header, frame->body));
  auto* input = std::get_if<wire::CallInput>(&message);
  if (input == nullptr) return fail(Error::invalid("a call before the end of another"));
  return std::optional(std::move(input->json));
}

}  // namespace hutch::server
