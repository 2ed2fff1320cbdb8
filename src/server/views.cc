// What the daemon shows of agents.
#include "server/views.h"

#include "base/limits.h"
#include "store/agent_record.h"

namespace hutch::server {

using tool::Value;

Result<Value> shown_value(const service::AgentService::Shown& shown) {
  const Value record = TRY(tool::parse_value(store::format_agent(shown.record), limits::kJsonBytesMax));
  Value::Object object = *record.get<Value::Object>();
  object["status"] = service::name_of(shown.status.state);
  object["reason"] = shown.status.reason;
  object["home"] = shown.directories.home;
  object["output"] = shown.directories.output;
  return Value(std::move(object));
}

}  // namespace hutch::server
