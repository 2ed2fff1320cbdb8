// Routes of sessions: a sandbox that is a client's own, with its policy, for as long as that client is connected.
#include <poll.h>

#include <array>

#include "base/text.h"
#include "policy/document/reader.h"
#include "server/http/attended.h"
#include "server/http/routes.h"
#include "server/protocol/agent_settings.h"
#include "server/state/question_views.h"
#include "sys/io.h"

namespace hutch::server::http {

namespace {

// A policy as the text that a file would hold; absent where the body has none.
Result<std::optional<std::string>> policy_text(Value::Object& body, const std::string& key) {
  const auto given = body.extract(key);
  if (given.empty()) return std::optional<std::string>();
  if (given.mapped().get<Value::Object>() == nullptr) {
    return fail(Error::invalid(cat({key, " is a policy, as a JSON object"})));
  }
  return std::optional(tool::json_text(given.mapped()));
}

// Whoever has the daemon's Unix socket is its user, and could write any policy. A token by TCP makes agents under the
// policies that the user has: what it brings itself could be weaker.
Result<service::GivenPolicy> given_policy(Exchange& exchange, Value::Object& body) {
  const auto whole = TRY(policy_text(body, "policy"));
  auto first = TRY(policy_text(body, "firstPolicy"));
  service::GivenPolicy given{.whole = {}, .first = {}, .questions = plan::FileQuestions::kAll};
  if (!whole && !first) return given;
  if (whole && first) return fail(Error::invalid("policy holds alone: there is no firstPolicy beside it"));
  if (exchange.guard() != nullptr) {
    return fail({Code::kPermissionDenied, 0,
                 "a policy is brought on the Unix socket alone; by TCP the policies of the daemon's user hold"});
  }
  if (whole) given.whole = TRY(policy::read_policy(*whole, "policy"));
  if (first) TRY(policy::read_policy(*first, "firstPolicy"));
  given.first = std::move(first);
  return given;
}

Result<ClientSessions::Wish> session_wish(Exchange& exchange) {
  const Value parsed = TRY_CTX(tool::parse_value(exchange.request().body, kBodyBytesMax), "the body");
  const auto* object = parsed.get<Value::Object>();
  if (object == nullptr) return fail(Error::invalid("the body is not a JSON object"));
  Value::Object body = *object;
  const auto found = body.find("dir");
  const auto* dir = found == body.end() ? nullptr : found->second.get<std::string>();
  if (dir == nullptr || !dir->starts_with('/')) return fail(Error::invalid("dir must be an absolute path"));
  ClientSessions::Wish wish;
  wish.policy = TRY(given_policy(exchange, body));
  wish.settings = TRY(settings_of(body));
  return wish;
}

Result<Value> session_value(Exchange& exchange, const std::string& id, const std::string& agent) {
  const auto sandbox = TRY(exchange.shared().agents.sandbox(agent));
  const service::AgentSandbox::Status status = sandbox->status();
  return Value(Value::Object{{"id", id},
                             {"agent", agent},
                             {"dir", sandbox->record().dir},
                             {"home", sandbox->layout().home},
                             {"backend", status.backend},
                             {"state", service::name_of(status.state)},
                             {"status", TRY(sandbox->status_line())}});
}

Status follow_session(Exchange& exchange, const ClientSessions::Opened& opened) {
  const Value begun = TRY(session_value(exchange, opened.id, opened.agent));
  TRY(exchange.begin_events());
  TRY(exchange.send_event("session", begun));
  for (;;) {
    while (const auto event = opened.questions->take()) {
      const bool asked = event->kind == service::BoardEvent::Kind::kAsked;
      TRY(exchange.send_event(asked ? "question" : "answered", http_event_value(exchange.shared().agents, *event)));
    }
    if (opened.questions->overflowed()) return fail(Error::invalid("the client does not keep up"));
    std::array<pollfd, 3> wait = {{{opened.questions->fd(), POLLIN, 0},
                                   {exchange.connection().fd(), exchange.connection().gone_events(), 0},
                                   {opened.over->fd(), POLLIN, 0}}};
    const int ready = TRY(sys::poll(wait, kPing));
    if (wait[1].revents != 0) return {};
    if (wait[2].revents != 0) return exchange.send_event("ended", Value(Value::Object{}));
    if (ready == 0) TRY(exchange.send_ping());
  }
}

// As long as its answer is read, and no longer.
Handled post_sessions(Exchange& exchange) {
  ClientSessions& sessions = *exchange.shared().client_sessions;
  ClientSessions::Wish wish = TRY(session_wish(exchange));
  ClientSessions::Opened opened;
  const auto begin = [&](const std::stop_token& gone) -> Result<Value> {
    opened = TRY(sessions.begin(std::move(wish), gone));
    return Value();
  };
  TRY(attended(exchange, begin));
  const Status followed = follow_session(exchange, opened);
  sessions.end(opened.id);
  TRY(followed);
  return Streamed{};
}

Handled get_session(Exchange& exchange) {
  const std::string& id = exchange.part("session");
  const std::string agent = TRY(exchange.shared().client_sessions->agent_of(id));
  return json_answer(200, tool::json_text(TRY(session_value(exchange, id, agent))));
}

Handled delete_session(Exchange& exchange) {
  const std::string& id = exchange.part("session");
  TRY(exchange.shared().client_sessions->agent_of(id));
  exchange.shared().client_sessions->end(id);
  return Answer{.status = 204, .type = {}};
}

constexpr std::array kSessionRoutes = {
    Route{"POST", "/v1/sessions", BodyType::kJson, post_sessions},
    Route{"GET", "/v1/sessions/{session}", BodyType::kNone, get_session},
    Route{"DELETE", "/v1/sessions/{session}", BodyType::kNone, delete_session},
};

}  // namespace

std::span<const Route> session_routes() { return kSessionRoutes; }

}  // namespace hutch::server::http
