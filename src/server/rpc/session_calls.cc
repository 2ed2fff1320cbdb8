// Calls about sessions: what holds for one, and how it is changed.
#include <array>
#include <chrono>

#include "base/text.h"
#include "server/rpc/session.h"

namespace hutch::server {

namespace {

using std::chrono::steady_clock;

Value state_value(const service::Sessions::State& state) {
  Value::List grants;
  for (const std::string& grant : state.grants) grants.emplace_back(grant);
  Value::Object object{{"grants", std::move(grants)}};
  if (state.enabled) object["enabled"] = *state.enabled == policy::Switch::kEnabled;
  return Value(std::move(object));
}

Result<Value> state(Session& session, const CallReader& call) {
  const std::string id = TRY(call.text("session"));
  return state_value(session.shared().sessions.state(id, steady_clock::now()));
}

Result<Value> grant(Session& session, const CallReader& call) {
  const std::string id = TRY(call.text("session"));
  const std::string target = TRY(call.text("target"));
  TRY(session.shared().sessions.grant(id, target, steady_clock::now()));
  return Value(Value::Object{});
}

Result<Value> set_session(Session& session, const CallReader& call) {
  const std::string id = TRY(call.text("session"));
  const auto enabled = TRY(call.truth("enabled")) ? policy::Switch::kEnabled : policy::Switch::kDisabled;
  TRY(session.shared().sessions.set_enabled(id, enabled, steady_clock::now()));
  return state_value(session.shared().sessions.state(id, steady_clock::now()));
}

Result<Value> revoke_grant(Session& session, const CallReader& call) {
  const std::string target = TRY(call.text("target"));
  return Value(Value::Object{{"grants", session.shared().sessions.revoke(target)}});
}

constexpr std::array kSessionVerbs = {
    Verb{"session.state", state},
    Verb{"session.grant", grant},
    Verb{"session.set", set_session},
    Verb{"session.revoke", revoke_grant},
};

}  // namespace

std::span<const Verb> session_verbs() { return kSessionVerbs; }

}  // namespace hutch::server
