// Agents' layers in an engine. Their names are of the agents' ids: another agent of the same name has none of it.
#include "service/live/engine_layer.h"

#include <utility>
#include <variant>

#include "backend/container/engine.h"
#include "base/text.h"
#include "service/common/package_hosts.h"
#include "service/image/recipe.h"
#include "service/prepare/containers.h"

namespace hutch::service {

namespace {

using backend::container::Engine;
using backend::container::EngineImage;

constexpr std::string_view kBaseLabel = "hutch.base";
constexpr std::string_view kHostsLabel = "hutch.package-hosts";
constexpr std::uint32_t kNamesMax = 256;

std::string layer_name(const store::AgentRecord& agent) { return cat({"hutch-agent-", agent.id, ":latest"}); }

std::string name_before(const store::AgentRecord& agent) { return cat({"hutch-agent-", agent.id, ":before"}); }

std::string label_of(const EngineImage& image, std::string_view name) {
  const auto found = image.labels.find(name);
  return found == image.labels.end() ? std::string() : found->second;
}

Result<std::string> id_of_image(const Engine& engine, const store::AgentRecord& agent) {
  const auto base = TRY(engine.image(engine_image(agent)));
  if (base) return base->id;
  return fail(Error::not_found(cat({"the engine has no image ", engine_image(agent), " any more"})));
}

template <class Wanted>
std::optional<Wanted> ask_files(KeptSandbox& sandbox, const wire::FileRequest& request) {
  auto reply = sandbox.file(request);
  auto* found = reply ? std::get_if<Wanted>(&*reply) : nullptr;
  return found != nullptr ? std::optional(std::move(*found)) : std::nullopt;
}

}  // namespace

std::string engine_image(const store::AgentRecord& agent) {
  return agent.image.empty() ? std::string(kDefaultImage) : agent.image;
}

Result<std::optional<EngineLayer>> engine_layer(const store::AgentRecord& agent) {
  const Engine engine = TRY(Engine::find(engine_environment()));
  const auto layer = TRY(engine.image(layer_name(agent)));
  if (!layer) return std::optional<EngineLayer>();
  if (label_of(*layer, kBaseLabel) != TRY(id_of_image(engine, agent))) {
    return fail(
        {Code::kConflict, 0,
         cat({"what agent ", agent.name, " has installed is a layer over another image than ", engine_image(agent),
              " is now; hutch agent reset ", agent.name, " drops the layer and keeps the home"})});
  }
  EngineLayer found{.image = layer_name(agent), .package_hosts = {}};
  for (const std::string_view host : split(label_of(*layer, kHostsLabel), ',')) {
    if (!host.empty()) found.package_hosts.emplace_back(host);
  }
  return found;
}

Result<backend::KeptRoot> next_engine_layer(const store::AgentRecord& agent,
                                            const std::vector<std::string>& package_hosts) {
  const Engine engine = TRY(Engine::find(engine_environment()));
  backend::KeptRoot kept{.image = layer_name(agent), .labels = {}};
  kept.labels.emplace(kBaseLabel, TRY(id_of_image(engine, agent)));
  kept.labels.emplace(kHostsLabel, join(package_hosts, ","));
  return kept;
}

Result<LayerBefore> engine_layer_before(const store::AgentRecord& agent) {
  const Engine engine = TRY(Engine::find(engine_environment()));
  const std::string layer = layer_name(agent);
  const std::string before = name_before(agent);
  const Status tagged = engine.tag(layer, before);
  if (!tagged && tagged.error().code != Code::kNotFound) return fail(tagged.error());
  const bool had = tagged.has_value();
  const auto restore = [=]() -> Status {
    if (had) TRY(engine.tag(before, layer));
    TRY(engine.remove_image(had ? before : layer));
    return {};
  };
  return LayerBefore{restore, [=] { (void)engine.remove_image(before); }};
}

Result<std::string> remove_engine_layer(const store::AgentRecord& agent) {
  const auto engine = Engine::find(engine_environment());
  if (!engine && engine.error().code == Code::kNotFound) return std::string();
  if (!engine) return fail(engine.error());
  // Of a hutch that was killed while something was installed.
  TRY_CTX(engine->remove_image(name_before(agent)), "remove the agent's layer");
  const bool removed = TRY_CTX(engine->remove_image(layer_name(agent)), "remove the agent's layer");
  return removed ? layer_name(agent) : std::string();
}

ImageFiles files_in(KeptSandbox& fresh) {
  ImageFiles files;
  files.names = [&](const std::string& directory) {
    std::vector<std::string> names;
    const auto listed = ask_files<wire::FileEntries>(fresh, wire::ListDirectory{{"/", directory}, 1, kNamesMax});
    for (const wire::FileEntry& entry : listed ? listed->entries : std::vector<wire::FileEntry>()) {
      names.push_back(entry.path);
    }
    return names;
  };
  files.text = [&](const std::string& file, std::size_t bytes_max) -> std::optional<std::string> {
    auto content = ask_files<wire::FileContent>(fresh, wire::ReadFile{{"/", file}, 0, bytes_max});
    return content ? std::optional(std::move(content->bytes)) : std::nullopt;
  };
  return files;
}

}  // namespace hutch::service
