// Routes about agents and about the daemon itself.
#include <array>

#include "server/http/attended.h"
#include "server/http/routes.h"
#include "server/protocol/agent_settings.h"
#include "server/state/views.h"
#include "sys/process/process.h"

namespace hutch::server::http {

namespace {

Result<Value::Object> whole_body(const Exchange& exchange) {
  const Value value = TRY_CTX(tool::parse_value(exchange.request().body, kBodyBytesMax), "the body");
  const auto* object = value.get<Value::Object>();
  if (object == nullptr) return fail(Error::invalid("the body is not a JSON object"));
  return *object;
}

Handled get_health(Exchange& exchange) {
  const Shared& shared = exchange.shared();
  const auto up = std::chrono::system_clock::now() - shared.started;
  Value::Object status;
  status["status"] = "ok";
  status["version"] = HUTCH_VERSION;
  status["pid"] = sys::own_pid();
  status["connections"] = shared.connections.load();
  status["busy"] = shared.agents.busy();
  status["uptimeSeconds"] = std::chrono::duration_cast<std::chrono::seconds>(up).count();
  return value_answer(200, Value(std::move(status)));
}

Handled get_agents(Exchange& exchange) {
  Value::List agents;
  for (const auto& one : TRY(exchange.shared().agents.list())) {
    if (exchange.may_see(one.record.name)) agents.push_back(TRY(shown_value(exchange.shared().agents, one)));
  }
  return value_answer(200, Value(Value::Object{{"agents", std::move(agents)}}));
}

Handled post_agents(Exchange& exchange) {
  Value::Object body = TRY(whole_body(exchange));
  const auto named = body.find("name");
  const auto* name = named == body.end() ? nullptr : named->second.get<std::string>();
  if (name == nullptr) return fail(Error::invalid("name is missing"));
  store::AgentRecord record = TRY(exchange.shared().agents.draft(*name));
  body.erase(named);
  for (const std::string& setting : TRY(settings_of(body))) record = TRY(store::with_setting(record, setting));
  const std::string created = record.name;
  record = TRY(exchange.shared().agents.create(std::move(record)));
  const auto agent = TRY(exchange.shared().agents.show(created));
  return value_answer(201, with_notes(TRY(shown_value(exchange.shared().agents, agent)), record, {}));
}

Handled get_agent(Exchange& exchange) {
  return value_answer(200, TRY(shown_with_resources(exchange.shared().agents, exchange.part("name"))));
}

Handled patch_agent(Exchange& exchange) {
  const Value::Object body = TRY(whole_body(exchange));
  const std::vector<std::string> settings = TRY(settings_of(body));
  const std::string& name = exchange.part("name");
  const auto changed = TRY(exchange.shared().agents.set(name, settings));
  const Value shown = TRY(shown_with_resources(exchange.shared().agents, name));
  return value_answer(200, with_notes(shown, changed.record, changed.notes));
}

// With what could not be put back.
Result<Value> agent_with_notes(service::AgentService& agents, const std::string& name,
                               const std::vector<std::string>& notes) {
  const Value shown = TRY(shown_with_resources(agents, name));
  return with_notes(shown, TRY(agents.show(name)).record, notes);
}

Handled post_agent_start(Exchange& exchange) {
  const auto agent = TRY(exchange.agent());
  TRY(started(exchange, *agent));
  const auto work = [&shared = exchange.shared(), name = exchange.part("name")](const std::stop_token& stop) {
    return agent_with_notes(shared.agents, name, shared.plugins.put_packages_back(name, stop));
  };
  return value_answer(200, TRY(attended(exchange, work)));
}

Handled post_agent_stop(Exchange& exchange) {
  TRY(exchange.shared().agents.stop(exchange.part("name")));
  return get_agent(exchange);
}

Handled post_agent_reset(Exchange& exchange) {
  const auto work = [&shared = exchange.shared(),
                     name = exchange.part("name")](const std::stop_token& stop) -> Result<Value> {
    const std::vector<std::string> notes = TRY(shared.plugins.reset_agent(name, stop));
    return agent_with_notes(shared.agents, name, notes);
  };
  return value_answer(200, TRY(attended(exchange, work)));
}

Handled delete_agent(Exchange& exchange) {
  const std::string& name = exchange.part("name");
  Value::List deleted;
  for (std::string& path : TRY(exchange.shared().agents.remove(name))) deleted.emplace_back(std::move(path));
  exchange.shared().limiters.commands.forget(name);
  exchange.shared().limiters.rates.forget(name);
  return value_answer(200, Value(Value::Object{{"deleted", std::move(deleted)}}));
}

constexpr std::array kAgentRoutes = {
    Route{"GET", "/v1/health", BodyType::kNone, get_health},
    Route{"GET", "/v1/agents", BodyType::kNone, get_agents},
    Route{"POST", "/v1/agents", BodyType::kJson, post_agents},
    Route{"GET", "/v1/agents/{name}", BodyType::kNone, get_agent},
    Route{"PATCH", "/v1/agents/{name}", BodyType::kJson, patch_agent},
    Route{"DELETE", "/v1/agents/{name}", BodyType::kNone, delete_agent},
    Route{"POST", "/v1/agents/{name}/start", BodyType::kNone, post_agent_start},
    Route{"POST", "/v1/agents/{name}/stop", BodyType::kNone, post_agent_stop},
    Route{"POST", "/v1/agents/{name}/reset", BodyType::kNone, post_agent_reset},
};

}  // namespace

std::span<const Route> agent_routes() { return kAgentRoutes; }

}  // namespace hutch::server::http
