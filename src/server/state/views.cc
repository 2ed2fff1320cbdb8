// What the daemon shows of agents.
#include "server/state/views.h"

#include "base/limits.h"
#include "service/agent/checks.h"
#include "service/agent/scrubber.h"
#include "store/agent_record.h"

namespace hutch::server {

using tool::Value;

Result<Value> shown_value(service::AgentService& agents, const service::AgentService::Shown& shown) {
  const Value record = TRY(tool::parse_value(store::format_agent(shown.record), limits::kJsonBytesMax));
  Value::Object object = *record.get<Value::Object>();
  object["status"] = service::name_of(shown.status.state);
  object["reason"] = service::scrubber_of(agents, shown.record.name).scrub(shown.status.reason);
  object["home"] = shown.directories.home;
  object["output"] = shown.directories.output;
  return Value(std::move(object));
}

Result<Value> shown_with_resources(service::AgentService& agents, const std::string& name) {
  const auto agent = TRY(agents.show(name));
  Value shown = TRY(shown_value(agents, agent));
  const auto sandbox = TRY(agents.sandbox(name));
  const auto used = sandbox->resources();
  if (!used) return shown;
  constexpr double kMegabyte = 1 << 20;
  const auto megabytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / kMegabyte; };
  Value::Object object = *shown.get<Value::Object>();
  object["resources"] = Value::Object{{"memoryMB", megabytes(used->memory_bytes)},
                                      {"memoryUsedMB", megabytes(used->memory_used_bytes)},
                                      {"cpuCores", used->cpu_cores},
                                      {"cpuPercent", used->cpu_percent},
                                      {"diskMB", megabytes(used->disk_bytes)},
                                      {"diskUsedMB", megabytes(used->disk_used_bytes)}};
  return Value(std::move(object));
}

Value with_notes(Value shown, const store::AgentRecord& record, const std::vector<std::string>& notes) {
  Value::List all(notes.begin(), notes.end());
  for (std::string& note : service::policy_notes(record)) all.emplace_back(std::move(note));
  const auto* object = shown.get<Value::Object>();
  if (object == nullptr || all.empty()) return shown;
  Value::Object noted = *object;
  noted["notes"] = Value(std::move(all));
  return Value(std::move(noted));
}

}  // namespace hutch::server
