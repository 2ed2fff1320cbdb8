// Calls about what programs of agents have told each other.
#include <algorithm>
#include <array>

#include "server/rpc/session.h"
#include "service/plugins/plugins.h"
#include "tool/schema.h"

namespace hutch::server {

namespace {

// Events of one agent, of some types alone; each once.
class Teller {
 public:
  Teller(Session& session, std::vector<std::string> types) : session_(session), types_(std::move(types)) {}

  Status tell(const Value& event) {
    const auto* members = event.get<Value::Object>();
    if (members == nullptr) return {};
    const CallReader reader(*members);
    const std::int64_t number = TRY(reader.number("number", 0));
    if (number <= told_) return {};
    told_ = number;
    const std::string type = TRY(reader.text("type"));
    const bool is_wanted = types_.empty() || std::ranges::find(types_, type) != types_.end();
    return is_wanted ? session_.tell(event) : Status();
  }

 private:
  Session& session_;
  const std::vector<std::string> types_;
  std::int64_t told_ = 0;
};

// Until the client goes, or the agent is removed: another one of its name would count anew.
Status follow_emitted(Session& session, Events::Listener& listener, const std::string& agent, Teller& teller) {
  for (;;) {
    while (const auto event = listener.take()) {
      if (event->agent != agent) continue;
      if (event->state == "removed") return {};
      if (event->state != service::kEmitted) continue;
      const Value told = TRY(tool::parse_value(event->reason, tool::kArgumentsBytesMax));
      TRY(teller.tell(told));
    }
    if (listener.overflowed()) return fail(Error::invalid("the client does not keep up"));
    if (TRY(session.hear(listener.fd(), std::nullopt)).gone) return {};
  }
}

// The last ones, and with "follow" what comes after them.
Result<Value> list_events(Session& session, const CallReader& call) {
  const std::string name = TRY(call.text("agent"));
  const auto agent = TRY(session.shared().agents.sandbox(name));
  Teller teller(session, TRY(call.texts("types")));
  const bool follows = TRY(call.truth("follow"));
  // Before the last ones are read: what comes between is in both, and told once.
  const auto listener = TRY(session.shared().events.listen());
  for (const service::HostEvent& event : session.shared().plugins.events().last(name)) {
    TRY(teller.tell(service::Plugins::shown_event(*agent, event)));
  }
  if (follows) TRY(follow_emitted(session, *listener, name, teller));
  return Value(Value::Object{});
}

constexpr std::array kEventVerbs = {Verb{"event.list", list_events}};

}  // namespace

std::span<const Verb> event_verbs() { return kEventVerbs; }

}  // namespace hutch::server
