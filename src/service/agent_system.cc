// The default image for an agent that has none yet.
#include "service/agent_system.h"

#include "backend/container/create_body.h"
#include "base/text.h"
#include "host/facts.h"
#include "service/image_build.h"
#include "service/image_recipe.h"
#include "service/sandbox_place.h"
#include "store/image_store.h"
#include "tool/registry.h"

namespace hutch::service {

namespace {

constexpr std::chrono::seconds kSystemPatience{120};

bool is_namespace(const store::AgentRecord& agent) { return agent.backend.empty() || agent.backend == "namespace"; }

// Its commands would end with the sandbox, without a word.
Status check_is_idle(const AgentSandbox& agent) {
  if (!agent.is_busy()) return {};
  return fail({Code::kConflict, 0,
               cat({"processes run in the sandbox of agent ", agent.record().name,
                    ", which has to start anew with an image; wait for them, or hutch agent stop ", agent.record().name,
                    ", and try again"})});
}

}  // namespace

Status settle_image(store::AgentRecord& record, const host::StateDirs& dirs) {
  if (record.image.empty()) return {};
  if (record.image == store::kImageOnNeed) {
    if (is_namespace(record)) return {};
    return fail(Error::unsupported(cat({"image=auto: it is for backend namespace, and agent ", record.name,
                                        " has backend ", record.backend, "; leave image out"})));
  }
  if (record.backend == "container") return backend::container::check_image_name(record.image);
  record.image = TRY_CTX(store::image_name(record.image), "image");
  if (!is_namespace(record)) {
    return fail(Error::unsupported(cat(
        {"image: backend ", record.backend, " has the host's own files; use backend=namespace, or image= for none"})));
  }
  // hutch builds the default image when it is needed.
  if (record.image == kDefaultImage || TRY(store::ImageStore(dirs.data).find(record.image))) return {};
  return fail(no_such_image(record.image).with_context("image"));
}

bool lacks_system(const store::AgentRecord& agent) { return is_namespace(agent) && !store::has_image(agent); }

bool gets_system_by_itself(const store::AgentRecord& agent) {
  return lacks_system(agent) && agent.image == store::kImageOnNeed;
}

Error no_system(const store::AgentRecord& agent) {
  const std::string own = "its system is the host's own, read-only";
  if (!lacks_system(agent)) return Error::unsupported(cat({own, "; use an agent with backend=namespace"}));
  return Error::unsupported(cat({own, "; hutch agent set ", agent.name, " image=auto gives it the image ",
                                 kDefaultImage, " at the next installation, and its home stays"}));
}

// Looked at once more after the build, which takes minutes.
Result<std::shared_ptr<AgentSandbox>> give_system(AgentService& agents, const std::string& name,
                                                  const TellImage& tell) {
  const auto agent = TRY(agents.sandbox(name));
  if (!lacks_system(TRY(agents.show(name)).record)) return agent;
  TRY(check_is_idle(*agent));
  const plan::HostFacts facts = TRY_CTX(host::probe_facts(), "look at this machine");
  TRY(ensure_image(std::string(kDefaultImage), Signals::kOthers, facts, tell));
  TRY(check_is_idle(*agent));
  TRY(agents.set(name, {cat({"image=", kDefaultImage})}));
  TRY(agents.stop(name));
  tell(cat({"agent ", name, " has the image ", kDefaultImage, " from now on; its home is as it was"}));
  return agents.sandbox(name);
}

bool needs_system(const tool::Envelope& envelope) {
  const auto found = envelope.extra.find(std::string(tool::kNeeds));
  const auto* what = !envelope.ok && found != envelope.extra.end() ? found->second.get<std::string>() : nullptr;
  return what != nullptr && *what == tool::kNeedsSystem;
}

Result<tool::Envelope> install_for_person(AgentService& agents, tool::Limiters& limiters, const PackagesWish& wish) {
  const auto install = [&](AgentSandbox& agent) {
    SandboxPlace place(agent, kSystemPatience, wish.stop);
    const tool::AgentSettings settings{.name = wish.agent, .autonomous_exec = tool::Permission::kYes};
    tool::CallContext context{.place = place, .settings = settings, .limiters = limiters};
    context.install_timeout = kPersonInstallTimeout;
    context.stop = wish.stop;
    if (wish.on_output) context.on_output = [&](tool::Stream, std::string_view bytes) { wish.on_output(bytes); };
    const tool::Value::List packages(wish.packages.begin(), wish.packages.end());
    return tool::call_tool("sandbox_install", tool::json_text(tool::Value(tool::Value::Object{{"packages", packages}})),
                           context);
  };
  const auto agent = TRY(agents.sandbox(wish.agent));
  tool::Envelope envelope = install(*agent);
  if (!needs_system(envelope) || !gets_system_by_itself(agent->record())) return envelope;
  const auto on_line = [&](const std::string& line) {
    if (wish.on_output) wish.on_output(cat({line, "\n"}));
  };
  const auto with_system = TRY(give_system(agents, wish.agent, on_line));
  return install(*with_system);
}

}  // namespace hutch::service
