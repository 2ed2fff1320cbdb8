// Routes of questions: what is open, what is asked from now on, and answers.
#include <poll.h>

#include <array>

#include "base/text.h"
#include "server/http/routes.h"
#include "server/state/question_views.h"
#include "sys/io.h"

namespace hutch::server::http {

namespace {

constexpr std::string_view kHttpClient = "an HTTP client";

Status send(Exchange& exchange, const service::BoardEvent& event) {
  const bool asked = event.kind == service::BoardEvent::Kind::kAsked;
  return exchange.send_event(asked ? "question" : "answered", http_event_value(exchange.shared().agents, event));
}

// Whoever reads it is there to answer, until it goes.
Handled follow_questions(Exchange& exchange, const std::string& agent) {
  service::AgentService& agents = exchange.shared().agents;
  const auto attendant = TRY(agents.board().attend(agent));
  TRY(exchange.begin_events());
  // So that a client knows that from here on its being there counts.
  TRY(exchange.send_event("ready", Value(Value::Object{})));
  for (const service::BoardEvent& event : agents.questions(agent)) TRY(send(exchange, event));
  for (;;) {
    while (const auto event = attendant->take()) TRY(send(exchange, *event));
    if (attendant->overflowed()) return fail(Error::invalid("the client does not keep up"));
    std::array<pollfd, 2> wait = {
        {{attendant->fd(), POLLIN, 0}, {exchange.connection().fd(), exchange.connection().gone_events(), 0}}};
    const int ready = TRY(sys::poll(wait, kPing));
    if (wait[1].revents != 0) return Streamed{};
    if (ready == 0) TRY(exchange.send_ping());
  }
}

Handled get_questions(Exchange& exchange) {
  const std::string agent = exchange.query("agent");
  if (!agent.empty()) TRY(exchange.check_agent(agent));
  if (exchange.wants_events()) return follow_questions(exchange, agent);
  Value::List open;
  for (const service::BoardEvent& event : exchange.shared().agents.questions(agent))
    open.push_back(http_event_value(exchange.shared().agents, event));
  return json_answer(200, tool::json_text(Value(Value::Object{{"questions", std::move(open)}})));
}

Result<wire::ControlAnswer> read_answer(Exchange& exchange) {
  const Value::Object body = TRY(exchange.body_object({"choice", "minutes"}));
  const auto choice = body.find("choice");
  const auto* text = choice == body.end() ? nullptr : choice->second.get<std::string>();
  if (text == nullptr) return fail(Error::invalid("choice must be text"));
  wire::ControlAnswer given{.id = {}, .choice = *text, .minutes = {}};
  if (const auto minutes = body.find("minutes"); minutes != body.end()) {
    const auto* number = minutes->second.get<std::int64_t>();
    given.minutes = TRY(minutes_of(number == nullptr ? 0 : *number));
  }
  return given;
}

Handled answered(const std::string& id, const wire::ControlAnswer& given) {
  return json_answer(200, tool::json_text(Value(Value::Object{{"id", id}, {"choice", given.choice}})));
}

Handled post_question(Exchange& exchange) {
  const wire::ControlAnswer given = TRY(read_answer(exchange));
  const std::string& id = exchange.part("id");
  TRY(exchange.shared().agents.answer(id, given, kHttpClient));
  return answered(id, given);
}

// Its own questions are answered by whoever holds a session, and by nobody else.
Handled post_session_question(Exchange& exchange) {
  wire::ControlAnswer given = TRY(read_answer(exchange));
  const std::string& id = exchange.part("id");
  const auto agent = TRY(exchange.agent());
  const std::string prefix = agent->record().name + ".";
  if (!id.starts_with(prefix)) {
    return fail(Error::not_found(cat({"the session has asked no question ", printable(id, 64)})));
  }
  given.id = id.substr(prefix.size());
  TRY(agent->answer(given, kHttpClient));
  return answered(id, given);
}

constexpr std::array kQuestionRoutes = {
    Route{"GET", "/v1/questions", BodyType::kNone, get_questions},
    Route{"POST", "/v1/questions/{id}", BodyType::kJson, post_question},
    Route{"POST", "/v1/sessions/{session}/questions/{id}", BodyType::kJson, post_session_question},
};

}  // namespace

std::span<const Route> question_routes() { return kQuestionRoutes; }

}  // namespace hutch::server::http
