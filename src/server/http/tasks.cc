// Routes of tasks: what an agent's coding agent is told to do. They go on without whoever began them.
#include <array>

#include "server/http/routes.h"
#include "server/protocol/call_reader.h"
#include "service/task/changes.h"
#include "service/task/task.h"

namespace hutch::server::http {

namespace {

using service::TaskForm;

// "exit_code" as "exitCode": the names of this API.
std::string camel(std::string_view name) {
  std::string made;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool joins = name[i] == '_' && i + 1 < name.size();
    made += joins ? static_cast<char>(name[++i] - 'a' + 'A') : name[i];
  }
  return made;
}

Value task_value(Exchange& exchange, const store::TaskRecord& task, TaskForm form) {
  Value::Object object;
  for (auto& [name, value] : service::shown_task(exchange.shared().agents, task, form))
    object.emplace(camel(name), std::move(value));
  return Value(std::move(object));
}

Handled task_answer(Exchange& exchange, int status, const store::TaskRecord& task) {
  return json_answer(status, tool::json_text(task_value(exchange, task, TaskForm::kWhole)));
}

Handled post_agent_tasks(Exchange& exchange) {
  const Value::Object body = TRY(exchange.body_object({"text", "timeoutMs"}));
  const CallReader reader(body);
  service::Tasks::Wish wish{.agent = exchange.part("name"), .text = TRY(reader.text("text"))};
  if (body.contains("timeoutMs")) wish.timeout = std::chrono::milliseconds(TRY(reader.number("timeoutMs", 0)));
  return task_answer(exchange, 201, TRY(exchange.shared().tasks.begin(wish))->record());
}

Handled task_list_answer(Exchange& exchange, const std::string& agent) {
  Value::List tasks;
  for (const auto& task : TRY(exchange.shared().tasks.list(agent))) {
    if (exchange.may_see(task.agent)) tasks.push_back(task_value(exchange, task, TaskForm::kListed));
  }
  return json_answer(200, tool::json_text(Value(Value::Object{{"tasks", std::move(tasks)}})));
}

Handled get_agent_tasks(Exchange& exchange) { return task_list_answer(exchange, exchange.part("name")); }

Handled get_tasks(Exchange& exchange) { return task_list_answer(exchange, ""); }

Handled get_task(Exchange& exchange) {
  return task_answer(exchange, 200, TRY(exchange.shared().tasks.show(exchange.part("name"), exchange.part("id"))));
}

Handled delete_task(Exchange& exchange) {
  return task_answer(exchange, 200, TRY(exchange.shared().tasks.cancel(exchange.part("name"), exchange.part("id"))));
}

constexpr std::array kTaskRoutes = {
    Route{"GET", "/v1/tasks", BodyType::kNone, get_tasks},
    Route{"POST", "/v1/agents/{name}/tasks", BodyType::kJson, post_agent_tasks},
    Route{"GET", "/v1/agents/{name}/tasks", BodyType::kNone, get_agent_tasks},
    Route{"GET", "/v1/agents/{name}/tasks/{id}", BodyType::kNone, get_task},
    Route{"DELETE", "/v1/agents/{name}/tasks/{id}", BodyType::kNone, delete_task},
};

}  // namespace

std::span<const Route> task_routes() { return kTaskRoutes; }

}  // namespace hutch::server::http
