// Routes of what an agent has shared.
#include <array>

#include "base/text.h"
#include "server/http/routes.h"
#include "service/agent/artifacts.h"
#include "service/agent/scrubber.h"

namespace hutch::server::http {

namespace {

Handled get_artifacts(Exchange& exchange) {
  const auto agent = TRY(exchange.agent());
  service::AgentService& agents = exchange.shared().agents;
  const secret::Scrubber scrubber = service::scrubber_of(agents, agent->record().name);
  Value::List shared;
  for (const store::Artifact& one : TRY(agents.artifacts().list(agent->record().name))) {
    shared.emplace_back(service::shown_artifact(scrubber, one));
  }
  return json_answer(200, tool::json_text(Value(Value::Object{{"artifacts", std::move(shared)}})));
}

// One piece is held until it is known to be what was shared. Of more, the stream breaks off where it is not.
Handled get_artifact(Exchange& exchange) {
  const auto agent = TRY(exchange.agent());
  const std::string name = exchange.part("artifact");
  const auto found = TRY(exchange.shared().agents.artifacts().find(agent->record().name, name));
  if (!found) return fail(Error::not_found(cat({"no artifact ", printable(name, 256)})));
  // Never the type that its name says: a browser would run what an agent wrote.
  Answer head{.type = "application/octet-stream"};
  if (found->size <= wire::kFileChunkBytes) {
    TRY(service::read_artifact(*agent, *found, [&](std::string_view piece) -> Status {
      head.body += piece;
      return {};
    }));
    return head;
  }
  bool begun = false;
  const auto send = [&](std::string_view piece) -> Status {
    if (!begun) TRY(exchange.begin(head));
    begun = true;
    return exchange.connection().send_piece(piece);
  };
  TRY(service::read_artifact(*agent, *found, send));
  return Streamed{};
}

constexpr std::array kArtifactRoutes = {
    Route{"GET", "/v1/agents/{name}/artifacts", BodyType::kNone, get_artifacts},
    Route{"GET", "/v1/agents/{name}/artifacts/{artifact}", BodyType::kNone, get_artifact},
};

}  // namespace

std::span<const Route> artifact_routes() { return kArtifactRoutes; }

}  // namespace hutch::server::http
