// One request with the way back to whoever asked.
#include "server/http/exchange.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace hutch::server::http {

std::string Exchange::query(std::string_view name) const {
  const std::string* value = target_.parameter(name);
  return value == nullptr ? std::string() : *value;
}

Result<bool> Exchange::query_flag(std::string_view name) const {
  const std::string* value = target_.parameter(name);
  if (value == nullptr || *value == "0" || *value == "false") return false;
  if (value->empty() || *value == "1" || *value == "true") return true;
  return fail(Error::invalid(cat({name, " is true or false"})));
}

Result<std::int64_t> Exchange::query_number(std::string_view name, std::int64_t otherwise) const {
  const std::string* value = target_.parameter(name);
  if (value == nullptr) return otherwise;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), number);
  if (error != std::errc() || end != value->data() + value->size()) {
    return fail(Error::invalid(cat({name, " must be a whole number"})));
  }
  return number;
}

Result<Value::Object> Exchange::body_object(std::initializer_list<std::string_view> known) const {
  if (request_.body.empty()) return Value::Object();
  const Value value = TRY_CTX(tool::parse_value(request_.body, kBodyBytesMax), "the body");
  const auto* object = value.get<Value::Object>();
  if (object == nullptr) return fail(Error::invalid("the body is not a JSON object"));
  for (const auto& [key, member] : *object) {
    if (std::ranges::find(known, std::string_view(key)) != known.end()) continue;
    return fail(Error::invalid(cat({"the body has an unknown member ", printable(key, 64)})));
  }
  return *object;
}

Result<std::shared_ptr<service::AgentSandbox>> Exchange::agent() {
  if (!is_of_session()) return shared_.agents.sandbox(part("name"));
  const std::string name = TRY(shared_.client_sessions->agent_of(part("session")));
  return shared_.agents.sandbox(name);
}

bool Exchange::may_see(const std::string& agent) const {
  return guard_ == nullptr || !shared_.client_sessions->has_own_policy(agent);
}

// As of an agent that is not there.
Status Exchange::check_seen(const std::string& agent) const {
  if (may_see(agent)) return {};
  return fail(Error::not_found(cat({"there is no agent ", printable(agent, 64), "; hutch agent list shows them"})));
}

Status Exchange::check_agent(const std::string& agent) const {
  TRY(check_seen(agent));
  TRY(shared_.agents.show(agent));
  return {};
}

bool Exchange::wants_events() const {
  const std::string* accept = request_.field("accept");
  return accept != nullptr && lists_value(*accept, "text/event-stream");
}

Status Exchange::begin_events() { return begin({.type = "text/event-stream"}); }

Status Exchange::send_event_text(std::string_view event, std::string_view json) {
  return connection_.send_piece(cat({"event: ", event, "\ndata: ", json, "\n\n"}));
}

}  // namespace hutch::server::http
