// Calls about what agents have shared.
#include <array>

#include "base/text.h"
#include "server/rpc/session.h"
#include "service/agent/artifacts.h"
#include "service/agent/scrubber.h"
#include "wire/daemon.h"

namespace hutch::server {

namespace {

Result<Value> list_artifacts(Session& session, const CallReader& call) {
  service::AgentService& agents = session.shared().agents;
  const std::string named = TRY(call.text("agent"));
  const std::string agent = TRY(agents.show(named)).record.name;
  Value::List shared;
  const secret::Scrubber scrubber = service::scrubber_of(agents, agent);
  for (const store::Artifact& one : TRY(agents.artifacts().list(agent))) {
    shared.emplace_back(service::shown_artifact(scrubber, one));
  }
  return Value(std::move(shared));
}

// Its bytes come as events, before the answer that says whether they are what was shared.
Result<Value> fetch_artifact(Session& session, const CallReader& call) {
  service::AgentService& agents = session.shared().agents;
  const std::string named = TRY(call.text("agent"));
  const auto agent = TRY(agents.sandbox(named));
  const std::string name = TRY(call.text("name"));
  const auto found = TRY(agents.artifacts().find(agent->record().name, name));
  if (!found) {
    return fail(Error::not_found(cat({agent->record().name, " has shared no ", printable(name, 256),
                                      "; hutch artifacts list ", agent->record().name, " shows what it has"})));
  }
  TRY(service::read_artifact(*agent, *found, [&](std::string_view piece) {
    return session.tell(Value(Value::Object{{"bytes", wire::text_of_bytes(piece)}}));
  }));
  return Value(service::shown_artifact(service::scrubber_of(agents, agent->record().name), *found));
}

constexpr std::array kArtifactVerbs = {Verb{"artifacts.list", list_artifacts}, Verb{"artifacts.get", fetch_artifact}};

}  // namespace

std::span<const Verb> artifact_verbs() { return kArtifactVerbs; }

}  // namespace hutch::server
