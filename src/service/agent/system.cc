// The default image for an agent that has none yet.
#include "service/agent/system.h"

#include <functional>
#include <stop_token>

#include "backend/container/create_body.h"
#include "base/text.h"
#include "host/machine/facts.h"
#include "service/agent/sandbox_place.h"
#include "service/image/build.h"
#include "service/image/build_stop.h"
#include "service/image/recipe.h"
#include "store/image_store.h"
#include "store/layer_store.h"
#include "sys/files/tree.h"
#include "tool/registry.h"

namespace hutch::service {

namespace {

constexpr std::chrono::seconds kSystemPatience{120};
constexpr std::chrono::seconds kTrialWait{120};

bool is_namespace(const store::AgentRecord& agent) { return store::backend_kind(agent) == BackendKind::kNamespace; }

bool is_same_backend(const store::AgentRecord& a, const store::AgentRecord& b) {
  return store::backend_kind(a) == store::backend_kind(b);
}

// Its commands would end with the sandbox, without a word, and so would what they have left running.
Status check_is_idle(const AgentSandbox& agent) {
  if (!agent.is_busy() && !agent.has_leftovers()) return {};
  return fail({Code::kConflict, 0,
               cat({"processes run in the sandbox of agent ", agent.record().name,
                    ", which has to start anew with an image; wait for them, or hutch agent stop ", agent.record().name,
                    ", and try again"})});
}

Status check_may_get_it(const store::AgentRecord& agent, SystemBy by) {
  if (lacks_system(agent) && (by == SystemBy::kPerson || agent.image == store::kImageOnNeed)) return {};
  return fail(no_system(agent, agent));
}

// What began before the image was set starts anew where the person wants that.
Result<std::shared_ptr<AgentSandbox>> with_image_that_is_set(AgentService& agents, const store::AgentRecord& set,
                                                             SystemBy by) {
  const auto agent = TRY(agents.sandbox(set.name));
  const store::AgentRecord& began = agent->record();
  if (began.image == set.image && is_same_backend(began, set)) return agent;
  if (by == SystemBy::kSetting) return fail(no_system(began, set));
  TRY(check_is_idle(*agent));
  TRY(agents.stop(set.name));
  return agents.sandbox(set.name);
}

// A build ends with whoever asked for it, and with the agent.
Status build_system(AgentService& agents, const std::string& name, const TellImage& tell, const std::stop_token& stop) {
  std::stop_source both;
  const auto request = [&both] { both.request_stop(); };
  const std::stop_callback with_caller(stop, request);
  const std::stop_callback with_agent(agents.stops().of(name), request);
  const plan::HostFacts facts = TRY_CTX(host::probe_facts(), "look at this machine");
  const BuildStop ends{both.get_token()};
  return ensure_image(std::string(kDefaultImage), Signals::kOthers, facts, tell, &ends);
}

Status try_start(AgentSandbox& agent, const std::stop_token& stop) {
  const auto ready = TRY(agent.await(std::chrono::steady_clock::now() + kTrialWait, stop));
  if (ready == AgentSandbox::Ready::kYes) return {};
  if (stop.stop_requested()) return fail({Code::kTimeout, 0, "it was cancelled"});
  return fail({Code::kTimeout, 0, cat({"no answer within ", std::to_string(kTrialWait.count()), " s"})});
}

enum class Layer { kNew, kEarlier };  // kEarlier: what the agent changed of the image when it had it before

Result<Layer> layer_of(AgentService& agents, const std::string& name) {
  const bool there = TRY(sys::status_of(store::LayerStore(agents.dirs().data).place(name))).has_value();
  return there ? Layer::kEarlier : Layer::kNew;
}

// Unless somebody has set another image meanwhile.
Error without_image(AgentService& agents, const store::AgentRecord& before, Layer layer, const Error& why) {
  const std::string& name = before.name;
  const auto is_ours = [](const store::AgentRecord& now) {
    return now.image == kDefaultImage ? Status() : fail({Code::kConflict, 0, "another image was set meanwhile"});
  };
  Status undone = agents.stop(name);
  if (const auto set = agents.set(name, {cat({"image=", before.image})}, is_ours); !set) undone = fail(set.error());
  if (undone && layer == Layer::kNew) undone = agents.reset(name);
  const std::string now = undone ? cat({"; the agent has the host's own system again (image=", before.image, ")"})
                                 : cat({"; it has the image still: ", undone.error().message});
  return Error{why.code, why.sys_errno,
               cat({"agent ", name, " does not start with the image ", kDefaultImage, ": ", why.message, now})};
}

}  // namespace

Status settle_image(store::AgentRecord& record, const host::StateDirs& dirs) {
  if (record.image.empty()) return {};
  if (record.image == store::kImageOnNeed) {
    if (is_namespace(record)) return {};
    return fail(Error::unsupported(cat({"image=auto: it is for backend namespace, and agent ", record.name,
                                        " has backend ", record.backend, "; set image= for none"})));
  }
  if (store::backend_kind(record) == BackendKind::kContainer) return backend::container::check_image_name(record.image);
  record.image = TRY_CTX(store::image_name(record.image), "image");
  if (!is_namespace(record)) {
    return fail(Error::unsupported(cat(
        {"image: backend ", record.backend, " has the host's own files; use backend=namespace, or image= for none"})));
  }
  // hutch builds the default image when it is needed.
  if (record.image == kDefaultImage || TRY(store::ImageStore(dirs.data).find(record.image))) return {};
  return fail(no_such_image(record.image).with_context("image"));
}

std::string system_of(const store::AgentRecord& agent) {
  const std::string backend(name_of(store::backend_kind(agent)));
  return store::has_image(agent) ? cat({backend, " ", agent.image}) : backend;
}

bool lacks_system(const store::AgentRecord& agent) { return is_namespace(agent) && !store::has_image(agent); }

// Also where another call has given it meanwhile.
bool gets_system_by_itself(AgentService& agents, const std::string& name) {
  const auto shown = agents.show(name);
  return shown && (store::has_image(shown->record) || check_may_get_it(shown->record, SystemBy::kSetting));
}

Error no_system(const store::AgentRecord& agent, const store::AgentRecord& next) {
  const std::string own = "its system is the host's own, read-only";
  if (store::has_image(next) || !is_same_backend(agent, next)) {
    const std::string what = store::has_image(next) ? cat({"image ", next.image}) : cat({"backend ", next.backend});
    return Error::unsupported(
        cat({own, "; ", what, " holds from its next start on: hutch agent stop ", agent.name, ", and try again"}));
  }
  if (!lacks_system(agent)) return Error::unsupported(cat({own, "; use an agent with backend=namespace"}));
  return Error::unsupported(cat({own, "; hutch agent set ", agent.name, " image=auto gives it the image ",
                                 kDefaultImage, " at the next installation, and its home stays"}));
}

// Looked at once more after the build, which takes minutes.
Result<std::shared_ptr<AgentSandbox>> give_system(AgentService& agents, const std::string& name, SystemBy by,
                                                  const TellImage& tell, const std::stop_token& stop) {
  const store::AgentRecord before = TRY(agents.show(name)).record;
  if (store::has_image(before)) return with_image_that_is_set(agents, before, by);
  TRY(check_may_get_it(before, by));
  const auto first = TRY(agents.sandbox(name));
  TRY(check_is_idle(*first));
  TRY(build_system(agents, name, tell, stop));
  const store::AgentRecord now = TRY(agents.show(name)).record;
  if (store::has_image(now)) return with_image_that_is_set(agents, now, by);
  const auto agent = TRY(agents.sandbox(name));
  TRY(check_is_idle(*agent));
  const Layer layer = TRY(layer_of(agents, name));
  TRY(agents.set(name, {cat({"image=", kDefaultImage})},
                 [&](const store::AgentRecord& last) { return check_may_get_it(last, by); }));
  TRY(agents.stop(name));
  const auto with_system = TRY(agents.sandbox(name));
  if (const Status started = try_start(*with_system, stop); !started) {
    return fail(without_image(agents, now, layer, started.error()));
  }
  tell(cat({"agent ", name, " has the image ", kDefaultImage, " from now on; its home is as it was"}));
  return with_system;
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
  if (!needs_system(envelope) || !gets_system_by_itself(agents, wish.agent)) return envelope;
  const auto on_line = [&](const std::string& line) {
    if (wish.on_output) wish.on_output(cat({line, "\n"}));
  };
  const auto with_system = TRY(give_system(agents, wish.agent, SystemBy::kSetting, on_line, wish.stop));
  return install(*with_system);
}

}  // namespace hutch::service
