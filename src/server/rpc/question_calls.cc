// Calls about the questions of agents' sandboxes, and about policies that have changed.
#include <poll.h>

#include <array>

#include "base/text.h"
#include "server/rpc/session.h"
#include "server/state/question_views.h"
#include "sys/net/local_socket.h"

namespace hutch::server {

namespace {

Result<Value> list_questions(Session& session, const CallReader& call) {
  const std::string agent = TRY(call.optional_text("agent"));
  Value::List open;
  service::AgentService& agents = session.shared().agents;
  for (const service::BoardEvent& event : agents.questions(agent)) open.push_back(event_value(agents, event));
  return Value(std::move(open));
}

// Until the client goes: what is open, then what happens.
Result<Value> tell_questions(Session& session, const CallReader& call) {
  const std::string agent = TRY(call.optional_text("agent"));
  service::AgentService& agents = session.shared().agents;
  const auto attendant = TRY(agents.board().attend(agent));
  for (const service::BoardEvent& event : agents.questions(agent)) TRY(session.tell(event_value(agents, event)));
  for (;;) {
    while (const auto event = attendant->take()) TRY(session.tell(event_value(agents, *event)));
    if (attendant->overflowed()) return fail(Error::invalid("the client does not keep up"));
    const Session::Heard heard = TRY(session.hear(attendant->fd(), std::nullopt));
    if (heard.gone) return Value(Value::Object{});
  }
}

Result<Value> answer_question(Session& session, const CallReader& call) {
  const std::string id = TRY(call.text("id"));
  wire::ControlAnswer given{.id = {}, .choice = TRY(call.text("choice")), .minutes = {}};
  const std::int64_t minutes = TRY(call.number("minutes", 0));
  if (minutes != 0) given.minutes = TRY(minutes_of(minutes));
  const sys::Peer peer = TRY(sys::peer_of(session.fd()));
  TRY(session.shared().agents.answer(id, given, cat({"process ", std::to_string(peer.pid)})));
  return Value(Value::Object{{"id", id}, {"choice", given.choice}});
}

Result<Value> revoke_answer(Session& session, const CallReader& call) {
  const std::string host = TRY(call.text("host"));
  const auto end = TRY(call.truth("kill")) ? service::EndCommands::kYes : service::EndCommands::kNo;
  Value::List all;
  for (const auto& one : session.shared().agents.revoke(host, end)) {
    Value::Object object{{"agent", one.agent}};
    object["grants"] = one.revoked.grants;
    object["connections"] = one.revoked.connections;
    object["ended"] = one.ended;
    all.emplace_back(std::move(object));
  }
  return Value(std::move(all));
}

// With "wait" the answer is what of it does not hold where.
Result<Value> policy_saved(Session& session, const CallReader& call) {
  service::AgentService& agents = session.shared().agents;
  Value::List notes;
  if (TRY(call.truth("wait"))) {
    for (std::string& note : agents.spread_policy()) notes.emplace_back(std::move(note));
  } else {
    agents.policy_saved();
  }
  return Value(Value::Object{{"notes", std::move(notes)}});
}

constexpr std::array kQuestionVerbs = {
    Verb{"question.list", list_questions},    Verb{"question.follow", tell_questions},
    Verb{"question.answer", answer_question}, Verb{"question.revoke", revoke_answer},
    Verb{"policy.saved", policy_saved},
};

}  // namespace

std::span<const Verb> question_verbs() { return kQuestionVerbs; }

}  // namespace hutch::server
