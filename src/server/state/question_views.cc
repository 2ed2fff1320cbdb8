// Questions of agents' sandboxes as clients are shown them.
#include "server/state/question_views.h"

#include "service/agent/scrubber.h"

namespace hutch::server {

namespace {

using tool::Value;

Value list_of(const std::vector<std::string>& texts) {
  Value::List list;
  for (const std::string& text : texts) list.emplace_back(text);
  return Value(std::move(list));
}

}  // namespace

service::BoardEvent scrubbed_question(service::AgentService& agents, const service::BoardEvent& event) {
  const secret::Scrubber scrubber = service::scrubber_of(agents, event.agent);
  service::BoardEvent shown = event;
  wire::ControlQuestion& question = shown.question;
  for (std::string* text : {&question.path, &question.host, &question.program, &question.rule}) {
    *text = scrubber.scrub(*text);
  }
  for (std::string& text : question.chain) text = scrubber.scrub(text);
  return shown;
}

Value event_value(service::AgentService& agents, const service::BoardEvent& told) {
  const service::BoardEvent event = scrubbed_question(agents, told);
  Value::Object object{{"id", event.id}, {"agent", event.agent}};
  if (event.kind == service::BoardEvent::Kind::kAnswered) {
    object["type"] = "answered";
    object["choice"] = event.choice;
    object["by"] = event.by;
    return Value(std::move(object));
  }
  const wire::ControlQuestion& question = event.question;
  object["type"] = "question";
  object["kind"] = question.kind;
  object["pid"] = Value();
  object["exe"] = Value();
  if (question.pid != 0) object["pid"] = question.pid;
  if (!question.program.empty()) object["exe"] = question.program;
  object["chain"] = list_of(question.chain);
  object["rule"] = question.rule;
  object["choices"] = list_of(question.choices);
  object["left_ms"] = question.left.count();
  if (!question.path.empty()) {
    object["path"] = question.path;
  } else {
    object["host"] = question.host;
    object["port"] = question.port;
  }
  return Value(std::move(object));
}

Value http_event_value(service::AgentService& agents, const service::BoardEvent& event) {
  const Value value = event_value(agents, event);
  Value::Object object = *value.get<Value::Object>();
  if (auto left = object.extract("left_ms"); !left.empty()) object["leftMs"] = std::move(left.mapped());
  return Value(std::move(object));
}

Result<int> minutes_of(std::int64_t number) {
  constexpr std::int64_t kMinutesMax = 525'600;
  if (number >= 1 && number <= kMinutesMax) return static_cast<int>(number);
  return fail(Error::invalid("minutes must be a whole number from 1 to 525600"));
}

}  // namespace hutch::server
