// Calls about agents and about the daemon itself.
#include <array>
#include <stop_token>

#include "base/text.h"
#include "server/rpc/attended_call.h"
#include "server/rpc/session.h"
#include "server/state/views.h"
#include "service/agent/system.h"
#include "sys/process/process.h"

namespace hutch::server {

namespace {

Result<Value> shown_with_notes(Session& session, const std::string& name, const std::vector<std::string>& notes) {
  service::AgentService& agents = session.shared().agents;
  const service::AgentService::Shown shown = TRY(agents.show(name));
  return with_notes(TRY(shown_value(agents, shown)), shown.record, notes);
}

Result<Value> add_hosts(Session& session, const CallReader& call, std::string_view list) {
  const std::string name = TRY(call.text("agent"));
  std::vector<std::string> settings = TRY(call.texts("settings"));
  for (std::string& entry : settings) entry = cat({list, "+=", entry});
  const auto changed = TRY(session.shared().agents.set(name, settings));
  return shown_with_notes(session, name, changed.notes);
}

Result<Value> create_agent(Session& session, const CallReader& call) {
  const std::string name = TRY(call.text("agent"));
  store::AgentRecord record = TRY(session.shared().agents.draft(name));
  for (const std::string& setting : TRY(call.texts("settings"))) record = TRY(store::with_setting(record, setting));
  TRY(session.shared().agents.create(std::move(record)));
  return shown_with_notes(session, name, {});
}

Result<Value> list_agents(Session& session, const CallReader&) {
  Value::List agents;
  for (const auto& shown : TRY(session.shared().agents.list()))
    agents.push_back(TRY(shown_value(session.shared().agents, shown)));
  return Value(std::move(agents));
}

Result<Value> show_agent(Session& session, const CallReader& call) {
  const std::string name = TRY(call.text("agent"));
  return shown_with_resources(session.shared().agents, name);
}

Result<Value> status_line(Session& session, const CallReader& call) {
  const std::string name = TRY(call.text("agent"));
  const auto sandbox = TRY(session.shared().agents.sandbox(name));
  return Value(Value::Object{{"line", TRY(sandbox->status_line())}});
}

Result<Value> set_agent(Session& session, const CallReader& call) {
  const std::string name = TRY(call.text("agent"));
  const std::vector<std::string> settings = TRY(call.texts("settings"));
  const auto changed = TRY(session.shared().agents.set(name, settings));
  return shown_with_notes(session, name, changed.notes);
}

Result<Value> allow_hosts(Session& session, const CallReader& call) {
  return add_hosts(session, call, "allowedDomains");
}

Result<Value> deny_hosts(Session& session, const CallReader& call) { return add_hosts(session, call, "deniedDomains"); }

Result<Value> start_agent(Session& session, const CallReader& call) {
  const std::string name = TRY(call.text("agent"));
  const auto sandbox = TRY(session.shared().agents.sandbox(name));
  TRY(started(session, *sandbox));
  return attended(session, [&session, name](const std::stop_token& stop) {
    return shown_with_notes(session, name, session.shared().plugins.put_packages_back(name, stop));
  });
}

Result<Value> stop_agent(Session& session, const CallReader& call) {
  const std::string name = TRY(call.text("agent"));
  TRY(session.shared().agents.stop(name));
  return shown_value(session.shared().agents, TRY(session.shared().agents.show(name)));
}

Result<Value> reset_agent(Session& session, const CallReader& call) {
  const std::string name = TRY(call.text("agent"));
  return attended(session, [&session, name](const std::stop_token& stop) -> Result<Value> {
    const std::vector<std::string> notes = TRY(session.shared().plugins.reset_agent(name, stop));
    return shown_with_notes(session, name, notes);
  });
}

Result<Value> install_packages(Session& session, const CallReader& call) {
  service::PackagesWish wish;
  wish.agent = TRY(call.text("agent"));
  wish.packages = TRY(call.texts("settings"));
  wish.on_output = [&session](std::string_view text) {
    (void)session.tell(Value(Value::Object{{"output", wire::text_of_bytes(text)}}));
  };
  return attended(session, [&shared = session.shared(), wish](const std::stop_token& stop) -> Result<Value> {
    service::PackagesWish stopped = wish;
    stopped.stop = stop;
    return tool::value_of(TRY(service::install_for_person(shared.agents, shared.limiters, stopped)));
  });
}

// Once the image is there: whoever asks has built it.
Result<Value> give_agent_system(Session& session, const CallReader& call) {
  const std::string name = TRY(call.text("agent"));
  return attended(session, [&agents = session.shared().agents, name](const std::stop_token& stop) -> Result<Value> {
    TRY(service::give_system(agents, name, service::SystemBy::kPerson, [](const std::string&) {}, stop));
    return shown_value(agents, TRY(agents.show(name)));
  });
}

Result<Value> remove_agent(Session& session, const CallReader& call) {
  const std::string name = TRY(call.text("agent"));
  const auto known = session.shared().agents.show(name);
  const bool existed = known || known.error().code != Code::kNotFound;
  Value::List deleted;
  for (std::string& path : TRY(session.shared().agents.remove(name))) deleted.emplace_back(std::move(path));
  session.shared().limiters.commands.forget(name);
  session.shared().limiters.rates.forget(name);
  return Value(Value::Object{{"deleted", std::move(deleted)}, {"existed", existed}});
}

Result<Value> of_directory(Session& session, const CallReader& call) {
  const std::string directory = TRY(call.text("directory"));
  const store::AgentRecord record = TRY(session.shared().agents.of_directory(directory));
  return shown_value(session.shared().agents, TRY(session.shared().agents.show(record.name)));
}

Result<Value> daemon_status(Session& session, const CallReader&) {
  const Shared& shared = session.shared();
  const auto up = std::chrono::system_clock::now() - shared.started;
  Value::Object status;
  status["pid"] = sys::own_pid();
  status["version"] = HUTCH_VERSION;
  status["connections"] = shared.connections.load();
  status["busy"] = shared.agents.busy();
  status["uptime_seconds"] = std::chrono::duration_cast<std::chrono::seconds>(up).count();
  return Value(std::move(status));
}

Result<Value> daemon_stop(Session& session, const CallReader&) {
  session.shared().stop();
  return Value(Value::Object{});
}

constexpr std::array kAgentVerbs = {
    Verb{"agent.create", create_agent},
    Verb{"agent.list", list_agents},
    Verb{"agent.show", show_agent},
    Verb{"agent.status_line", status_line},
    Verb{"agent.set", set_agent},
    Verb{"agent.start", start_agent},
    Verb{"agent.allow", allow_hosts},
    Verb{"agent.deny", deny_hosts},
    Verb{"agent.stop", stop_agent},
    Verb{"agent.reset", reset_agent},
    Verb{"agent.remove", remove_agent},
    Verb{"agent.of_directory", of_directory},
    Verb{"agent.install", install_packages},
    Verb{"agent.give_system", give_agent_system},
    Verb{"daemon.status", daemon_status},
    Verb{"daemon.stop", daemon_stop},
};

}  // namespace

std::span<const Verb> agent_verbs() { return kAgentVerbs; }

}  // namespace hutch::server
