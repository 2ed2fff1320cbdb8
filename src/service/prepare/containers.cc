// Containers of an engine, as hutch finds and names them here.
#include "service/prepare/containers.h"

#include "base/text.h"
#include "host/machine/facts.h"
#include "host/state_dirs.h"
#include "service/image/recipe.h"
#include "sys/files/identity.h"
#include "sys/files/tree.h"
#include "sys/process/host_info.h"

namespace hutch::service {

backend::container::EngineEnvironment engine_environment() {
  return {.docker_host = sys::environment_variable("DOCKER_HOST").value_or(""),
          .runtime_directory = sys::environment_variable("XDG_RUNTIME_DIR").value_or(""),
          .uid = sys::user_id()};
}

Result<backend::container::ContainerBackend::Settings> container_settings() {
  const plan::HostFacts facts = TRY_CTX(host::probe_facts(), "look at this machine");
  const host::StateDirs dirs = TRY(host::own_state_dirs(facts.uid, facts.home));
  return backend::container::ContainerBackend::Settings{engine_environment(), cat({dirs.data, "/containers"}),
                                                        cat({std::to_string(facts.uid), ":", dirs.data})};
}

Status ensure_engine_image(const std::string& image, Signals signals, const plan::HostFacts& facts,
                           const TellImage& tell, const BuildStop* stop) {
  if (image != kDefaultImage && cat({image, ":latest"}) != kDefaultImage) return {};
  const auto engine = TRY(backend::container::Engine::find(engine_environment()));
  if (TRY(engine.image(image))) return {};
  const host::StateDirs dirs = TRY(host::own_state_dirs(facts.uid, facts.home));
  TRY(sys::make_private_directories(dirs.data));
  const UniqueFd turn = TRY(wait_for_image(cat({dirs.data, "/engine-image.lock"}), image, tell, stop));
  if (TRY(engine.image(image))) return {};
  const auto use = [&](int archive) { return engine.import_image(image, archive); };
  const Status built = build_default_archive(signals, facts, tell, use, stop);
  // A part of an archive may be a whole one to the engine.
  if (!built) (void)engine.remove_image(image);
  return built;
}

void remove_stale_containers() {
  const auto settings = container_settings();
  if (settings) (void)backend::container::remove_stale(*settings);
}

}  // namespace hutch::service
