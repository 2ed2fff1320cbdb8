// The pool of this user.
#include "service/pool/sandbox_pool.h"

#include <algorithm>
#include <utility>

#include "backend/container/engine.h"
#include "base/text.h"
#include "host/machine/cgroups.h"
#include "host/machine/facts.h"
#include "plan/facts.h"
#include "policy/units.h"
#include "service/image/images.h"
#include "service/image/recipe.h"
#include "service/live/kept_sandbox.h"
#include "service/prepare/containers.h"
#include "store/settings_file.h"
#include "sys/files/identity.h"

namespace hutch::service {

namespace {

// A sandbox that hutch keeps itself. Never started again: it would not be the one that was asked for.
class KeptPooled : public sandbox::PooledSandbox {
 public:
  KeptPooled(const sandbox::PoolSpec& spec, const PoolHost& host)
      : kept_({.what = "a sandbox of the pool",
               .judge = [spec, host](const std::stop_token& stop) { return judge_pooled(spec, host, stop); },
               .record = {
                   .directory = host.dirs.data, .tell = host.tell, .name = "pool", .command = {"hutch", "pool"}}}) {}

  Status start() {
    TRY(kept_.resident());
    terms_ = kept_.terms();
    return {};
  }

  Result<std::shared_ptr<sandbox::Process>> spawn(sandbox::ProcessRequest request, sandbox::Input input) override;
  void end(const std::shared_ptr<sandbox::Process>& process, sandbox::EndedBy reason) override {
    if (const auto running = kept_.running()) running->end(process, reason);
  }
  bool is_alive() const override {
    const auto running = kept_.running();
    return running && running->is_alive();
  }
  Status destroy() override {
    kept_.stop(KeptSandbox::After::kNever);
    return {};
  }

 private:
  KeptSandbox::Terms terms_;  // of its one start
  KeptSandbox kept_;
};

Result<std::string> pool_image(const PoolWish& wish, const store::Settings& settings);
Result<std::uint64_t> memory_of(const PoolWish& wish, const store::Settings& settings, std::uint64_t otherwise);
Result<std::uint64_t> cpus_of(const PoolWish& wish, const store::Settings& settings, std::uint64_t otherwise);
Result<std::string> kind_digest(const PoolHost& host, const std::string& image);

}  // namespace

std::set<std::string> cgroup_controllers() {
  std::set<std::string> controllers;
  for (const auto& [name, directory] : host::find_cgroup_place(sys::user_id()).directories) controllers.insert(name);
  return controllers;
}

std::optional<std::set<std::string>> engine_controllers() {
  const auto engine = backend::container::Engine::find(engine_environment());
  const auto info = engine ? engine->info() : fail(engine.error());
  if (!info) return std::nullopt;
  std::set<std::string> controllers;
  if (info->holds_memory) controllers.emplace(host::kMemory);
  if (info->holds_cpu) controllers.emplace(host::kCpu);
  return controllers;
}

bool SandboxPool::holds(std::string_view controller, const sandbox::PoolSpec& spec) const {
  if (spec.backend != BackendKind::kContainer) return cgroups_.contains(std::string(controller));
  const std::scoped_lock lock(engine_mutex_);
  // An engine that does not answer may answer the next time; until then the start reports it.
  if (!engine_) engine_ = engine_controllers();
  return !engine_ || engine_->contains(std::string(controller));
}

std::vector<std::string> not_held(const sandbox::PoolSpec& spec) {
  std::vector<std::string> names;
  if (spec.memory_bytes == 0) names.emplace_back("memory");
  if (spec.cpu_millis == 0) names.emplace_back("cpu");
  return names;
}

Result<std::unique_ptr<SandboxPool>> SandboxPool::open(PoolHost host, std::optional<sandbox::PoolLimits> limits) {
  auto made = std::make_unique<SandboxPool>(std::move(host));
  if (!limits) limits = TRY(pool_limits(made->host_));
  made->pool_ = TRY(sandbox::Pool::open(
      *limits, [&kept = *made](const sandbox::PoolSpec& spec) { return start_pooled(spec, kept.host_); }));
  return made;
}

Result<sandbox::PoolSpec> SandboxPool::spec_of(const PoolWish& wish) const {
  const store::Settings settings = TRY(store::SettingsFile(host_.dirs.config).read());
  sandbox::PoolSpec spec;
  spec.trust = wish.trust;
  if (!settings.sandbox.backend.empty()) {
    spec.backend = TRY(find_backend("sandbox.runtime of config.json", settings.sandbox.backend));
  }
  if (!wish.backend.empty()) spec.backend = TRY(find_backend("backend", wish.backend));
  spec.image = TRY(pool_image(wish, settings));
  // What nobody has said holds where it can; what somebody has said is an error where it cannot.
  spec.memory_bytes = TRY(memory_of(wish, settings, holds(host::kMemory, spec) ? kPoolMemoryBytes : 0));
  spec.cpu_millis = TRY(cpus_of(wish, settings, holds(host::kCpu, spec) ? kPoolCpuMillis : 0));
  spec.pids = wish.pids.value_or(kPoolPids);
  if (spec.pids == 0) return fail(Error::invalid("pids: has to be more than 0"));
  spec.mounts = TRY(settle_mounts(wish.mounts));
  spec.environment = wish.environment;
  if (spec.trust == sandbox::Trust::kTrusted) spec.hosts = settings.security.allowed_hosts;
  spec.network = TRY(pool_network(spec, settings));
  spec.policy = TRY(kind_digest(host_, spec.backend == BackendKind::kContainer ? std::string() : spec.image));
  return spec;
}

Result<std::chrono::milliseconds> SandboxPool::timeout() const {
  const store::Settings settings = TRY(store::SettingsFile(host_.dirs.config).read());
  if (settings.sandbox.timeout) return std::chrono::seconds(*settings.sandbox.timeout);
  return std::chrono::milliseconds(kPoolTimeout);
}

Result<sandbox::PoolNetwork> pool_network(const sandbox::PoolSpec& spec, const store::Settings& settings) {
  using sandbox::PoolNetwork;
  const bool wanted = settings.sandbox.network == store::Settings::Sandbox::Network::kHost;
  if (!wanted || spec.trust != sandbox::Trust::kTrusted || spec.backend != BackendKind::kContainer)
    return PoolNetwork::kGateway;
  if (settings.security.allowed_hosts.empty()) return PoolNetwork::kHost;
  return fail(Error::invalid(
      "config.json: on the network that sandbox.network \"host\" gives, security.allowedHosts holds nothing; remove "
      "one of them: hutch settings remove sandbox.network"));
}

Result<sandbox::PoolLimits> pool_limits(const PoolHost& host) {
  const store::Settings settings = TRY(store::SettingsFile(host.dirs.config).read());
  sandbox::PoolLimits limits;
  limits.max = static_cast<std::size_t>(settings.security.sandboxes_max.value_or(kPoolSandboxes));
  limits.warm = static_cast<std::size_t>(settings.pool.warm.value_or(static_cast<int>(limits.warm)));
  limits.queue = static_cast<std::size_t>(settings.pool.queue.value_or(static_cast<int>(limits.queue)));
  if (settings.pool.wait) limits.patience = std::chrono::seconds(*settings.pool.wait);
  if (settings.pool.idle) limits.idle = std::chrono::seconds(*settings.pool.idle);
  return limits;
}

Result<std::unique_ptr<sandbox::PooledSandbox>> start_pooled(const sandbox::PoolSpec& spec, const PoolHost& host) {
  auto made = std::make_unique<KeptPooled>(spec, host);
  TRY(made->start());
  return made;
}

namespace {

Result<std::shared_ptr<sandbox::Process>> KeptPooled::spawn(sandbox::ProcessRequest request, sandbox::Input input) {
  const auto running = kept_.running();
  if (!running) return fail(Error{Code::kConflict, 0, "the sandbox of the pool has ended, or was released"});
  const auto is_replaced = [&](const std::string& entry) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('=') + 1);
    return std::ranges::any_of(request.environment, [&](const std::string& own) { return own.starts_with(name); });
  };
  for (const std::string& entry : terms_.environment) {
    if (!is_replaced(entry)) request.environment.push_back(entry);
  }
  if (request.cwd.empty()) {
    request.cwd = terms_.cwd;
  } else if (!request.cwd.starts_with('/')) {
    request.cwd = cat({terms_.cwd, "/", request.cwd});
  }
  // A limit of the policy holds, whatever is asked for.
  const auto most = terms_.limits.timeout;
  if (most.count() > 0) request.timeout = request.timeout.count() > 0 ? std::min(request.timeout, most) : most;
  request.processes_max = terms_.processes_max;
  request.address_space_max = terms_.address_space_max;
  return running->spawn(std::move(request), input);
}

// Nothing is installed in a sandbox of a pool: what an agent gets at its first installation, a pool does not need.
Result<std::string> pool_image(const PoolWish& wish, const store::Settings& settings) {
  if (!wish.image) return settings.sandbox.image == store::kImageOnNeed ? std::string() : settings.sandbox.image;
  if (*wish.image != store::kImageOnNeed) return *wish.image;
  return fail(Error::invalid(cat({"image: \"auto\" is for agents, which install packages; name an image, as ",
                                  kDefaultImage, ", or leave image out"})));
}

Result<std::uint64_t> memory_of(const PoolWish& wish, const store::Settings& settings, std::uint64_t otherwise) {
  // Docker writes "512m".
  std::string text = wish.memory;
  if (text.ends_with('m')) text.back() = 'M';
  if (text.ends_with('g')) text.back() = 'G';
  if (!text.empty()) return TRY_CTX(policy::parse_memory(text), "memory");
  if (settings.sandbox.memory.empty()) return otherwise;
  return policy::parse_memory(settings.sandbox.memory);
}

Result<std::uint64_t> cpus_of(const PoolWish& wish, const store::Settings& settings, std::uint64_t otherwise) {
  if (!wish.cpus.empty()) return TRY_CTX(policy::parse_cpus(wish.cpus), "cpu");
  if (settings.sandbox.cpus.empty()) return otherwise;
  return policy::parse_cpus(settings.sandbox.cpus);
}

// An image that was made anew under its name is another one.
Result<std::string> kind_digest(const PoolHost& host, const std::string& image) {
  std::string digest = TRY(policy_digest(host));
  if (image.empty()) return digest;
  plan::HostFacts facts = TRY(host::probe_facts());
  // One that is not there yet is made, or missed, by the start.
  if (const auto there = show_image(image, facts)) digest += cat({":", there->digest});
  return digest;
}

}  // namespace

}  // namespace hutch::service
