// The session of whoever types.
#include "cli/terminal/session.h"

#include <chrono>

#include "base/text.h"
#include "cli/terminal/own_daemon.h"

namespace hutch::cli {

namespace {

using client::DaemonClient;
using client::Value;
using service::Sessions;

// A daemon that does not answer must not hold up a command.
constexpr std::chrono::milliseconds kWait{1000};
// Longer than the daemon waits for its sandboxes.
constexpr std::chrono::milliseconds kSpreadWait{20000};

Result<Value> ask_daemon(std::string_view verb, Value::Object arguments, std::chrono::milliseconds wait = kWait) {
  DaemonClient daemon = TRY(own_daemon(DaemonClient::Start::kNever));
  TRY(daemon.limit_wait(wait));
  return daemon.call(verb, std::move(arguments));
}

Sessions::State state_of(const Value& value) {
  Sessions::State state;
  if (const Value* enabled = member_of(value, "enabled"); enabled != nullptr && enabled->get<bool>() != nullptr) {
    state.enabled = *enabled->get<bool>() ? policy::Switch::kEnabled : policy::Switch::kDisabled;
  }
  const Value* grants = member_of(value, "grants");
  const auto* list = grants != nullptr ? grants->get<Value::List>() : nullptr;
  for (const Value& grant : list != nullptr ? *list : Value::List()) {
    if (const auto* text = grant.get<std::string>()) state.grants.push_back(*text);
  }
  return state;
}

std::optional<Sessions::State> ask_state(const std::string& session) {
  const auto answer = ask_daemon("session.state", {{"session", session}});
  return answer ? std::optional(state_of(*answer)) : std::nullopt;
}

}  // namespace

service::SessionLink join_session(service::PlaceRequest& place) {
  service::SessionLink link;
  link.saved = tell_daemon_of_policy;
  const auto session = service::own_session();
  const auto state = session ? ask_state(*session) : std::nullopt;
  if (!state) return link;
  place.enabled = state->enabled;
  link.state = [id = *session] { return ask_state(id); };
  link.granted = [id = *session](const std::string& target) {
    (void)ask_daemon("session.grant", {{"session", id}, {"target", target}});
  };
  return link;
}

Result<Sessions::State> set_session(policy::Switch enabled) {
  const auto session = service::own_session();
  if (!session) {
    return fail(Error::invalid("there is no session: no terminal, and HUTCH_SESSION is not set to a name for one"));
  }
  DaemonClient daemon = TRY(own_daemon());
  const bool on = enabled == policy::Switch::kEnabled;
  return state_of(TRY(daemon.call("session.set", {{"session", *session}, {"enabled", on}})));
}

void tell_daemon_of_policy() { (void)ask_daemon("policy.saved", {}); }

std::vector<std::string> spread_to_agents() {
  std::vector<std::string> notes;
  const auto answer = ask_daemon("policy.saved", {{"wait", true}}, kSpreadWait);
  // Where no daemon runs, no agent does.
  const Value* told = answer ? member_of(*answer, "notes") : nullptr;
  const auto* list = told != nullptr ? told->get<Value::List>() : nullptr;
  for (const Value& note : list != nullptr ? *list : Value::List()) {
    if (const auto* text = note.get<std::string>()) notes.push_back(printable(*text));
  }
  return notes;
}

std::vector<RevokedAgent> revoke_in_agents(const std::string& host, Kill kill) {
  std::vector<RevokedAgent> agents;
  const auto answer = ask_daemon("question.revoke", {{"host", host}, {"kill", kill == Kill::kYes}});
  const auto* list = answer ? answer->get<Value::List>() : nullptr;
  for (const Value& one : list != nullptr ? *list : Value::List())
    agents.push_back({text_in(one, "agent"), number_in(one, "ended")});
  return agents;
}

std::int64_t revoke_in_sessions(const std::string& target) {
  const auto answer = ask_daemon("session.revoke", {{"target", target}});
  return answer ? number_in(*answer, "grants") : 0;
}

}  // namespace hutch::cli
