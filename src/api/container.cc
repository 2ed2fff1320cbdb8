// Containers and their pool, as users of the library see them: a thin view on hutch's own pool.
#include <hutch/container.h>

#include <atomic>
#include <mutex>

#include "api/errors.h"
#include "api/guest_location.h"
#include "api/settled.h"
#include "base/text.h"
#include "host/machine/facts.h"
#include "host/state_dirs.h"
#include "service/image/build.h"
#include "service/image/build_stop.h"
#include "service/image/images.h"
#include "service/pool/sandbox_pool.h"
#include "sys/files/identity.h"

namespace hutch {

namespace {

using std::chrono::milliseconds;

constexpr std::chrono::hours kWaitSlice{1};

service::PoolWish wish_of(const ContainerOpts& opts) {
  service::PoolWish wish;
  wish.backend = opts.backend;
  wish.trust = opts.trust == ContainerTrust::kTrusted ? sandbox::Trust::kTrusted : sandbox::Trust::kSandboxed;
  wish.image = opts.image;
  wish.memory = opts.memory;
  wish.cpus = opts.cpu;
  wish.environment = opts.env;
  for (const VolumeMount& mount : opts.mounts) {
    const auto use = mount.readonly ? sandbox::MountUse::kReadOnly : sandbox::MountUse::kReadWrite;
    wish.mounts.push_back({mount.host, mount.container, use});
  }
  return wish;
}

std::unexpected<SandboxError> over() {
  return std::unexpected(SandboxError{ErrorCode::kNotReady, 0, "the container was stopped, or given back"});
}

ExecResult result_of(const sandbox::Process& process, const sandbox::ProcessEnd& end) {
  const sandbox::Capture output = process.captured(sandbox::OutputStream::kOutput);
  const sandbox::Capture error = process.captured(sandbox::OutputStream::kError);
  ExecResult result{.exit_code = end.exit_code,
                    .stdout_text = output.text(),
                    .stderr_text = error.text(),
                    .stdout_omitted_bytes = output.bytes_left_out(),
                    .stderr_omitted_bytes = error.bytes_left_out(),
                    .timed_out = sandbox::is_timeout(end.ended_by)};
  // Why it was not executed is what a shell would have written there.
  if (!end.reason.empty()) result.stderr_text += cat({end.reason, "\n"});
  return result;
}

sandbox::Pool::Patience patience_of(const std::stop_token& abort) {
  if (!abort.stop_possible()) return {};
  return {.is_over = [abort] { return abort.stop_requested(); }};
}

}  // namespace

struct ContainerPool::Impl {
  // The builds of images for a pool, while it is being emptied too.
  class Builds {
   public:
    std::stop_token token() const {
      const std::scoped_lock lock(mutex_);
      return source_.get_token();
    }
    // Those that run end, and those that begin until allow().
    void stop() {
      const std::stop_source now = source();
      now.request_stop();
    }
    void allow() {
      const std::scoped_lock lock(mutex_);
      source_ = std::stop_source();
    }

   private:
    std::stop_source source() const {
      const std::scoped_lock lock(mutex_);
      return source_;
    }

    mutable std::mutex mutex_;
    std::stop_source source_;
  };

  const std::shared_ptr<Builds> builds = std::make_shared<Builds>();
  std::mutex emptying;  // one after the other: none begins builds again while another waits
  std::unique_ptr<service::SandboxPool> pool;
};

struct Container::Impl {
  // Whoever forgets it gives it back.
  ~Impl() {
    if (!given_back.exchange(true)) (void)pool->pool->pool().release(lease.number);
  }
  Result<void> give_back(Status (sandbox::Pool::*how)(sandbox::PoolLedger::Number)) {
    Status given = (pool->pool->pool().*how)(lease.number);
    given_back = true;
    return given;
  }

  std::shared_ptr<ContainerPool::Impl> pool;
  sandbox::Pool::Lease lease;
  std::string id;
  milliseconds timeout{0};
  std::atomic<int> running = 0;
  std::atomic<bool> given_back = false;
};

Container::Container(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

const std::string& Container::id() const { return impl_->id; }

ContainerStatus Container::status() const {
  if (impl_->given_back || !impl_->lease.sandbox->is_alive()) return ContainerStatus::kStopped;
  return impl_->running > 0 ? ContainerStatus::kBusy : ContainerStatus::kIdle;
}

Expected<ExecResult> Container::exec(const std::string& command, const ExecOpts& opts) {
  if (command.contains('\0')) return api::refuse(Error::invalid("the command cannot hold a NUL byte"));
  const milliseconds timeout = opts.timeout.value_or(impl_->timeout);
  if (timeout.count() <= 0) return api::refuse(Error::invalid("timeout: has to be more than 0"));
  auto environment = api::environment_of(opts.env);
  if (!environment) return api::refuse(environment.error());
  if (impl_->given_back) return over();
  ++impl_->running;
  auto process = impl_->lease.sandbox->spawn({.arguments = {"/bin/sh", "-c", command},
                                              .environment = std::move(*environment),
                                              .cwd = opts.cwd,
                                              .timeout = timeout},
                                             sandbox::Input::kNone);
  if (process) {
    while (!(*process)->wait(sandbox::Process::Clock::now() + kWaitSlice)) {}
  }
  --impl_->running;
  if (!process) return impl_->given_back ? over() : api::refuse(process.error());
  return result_of(**process, (*process)->end().value_or(sandbox::ProcessEnd()));
}

Expected<void> Container::stop() {
  if (impl_->given_back) return {};
  const Status stopped = impl_->give_back(&sandbox::Pool::destroy);
  if (!stopped) return api::refuse(stopped.error());
  return {};
}

Expected<ContainerPool> ContainerPool::create(PoolOptions options) {
  auto guest = api::locate_guest(options.guest_program);
  if (!guest) return api::refuse(guest.error());
  const auto home = host::home_directory();
  if (!home) return api::refuse(home.error());
  auto dirs = host::own_state_dirs(sys::user_id(), *home);
  if (!dirs) return api::refuse(dirs.error());
  const auto noted = std::make_shared<std::mutex>();
  service::PoolHost host{.dirs = std::move(*dirs),
                         .guest_program = std::move(*guest),
                         .tell = [noted, on_note = std::move(options.on_note)](const std::string& line) {
                           const std::scoped_lock lock(*noted);
                           if (on_note) on_note(line);
                         }};
  auto impl = std::make_shared<Impl>();
  host.stop = [builds = impl->builds] { return builds->token(); };
  auto limits = service::pool_limits(host);
  if (!limits) return api::refuse(limits.error());
  limits->max = options.max.value_or(limits->max);
  limits->warm = options.warm;
  limits->queue = options.queue;
  limits->patience = options.patience;
  limits->idle = options.idle;
  auto pool = service::SandboxPool::open(std::move(host), *limits);
  if (!pool) return api::refuse(pool.error());
  impl->pool = std::move(*pool);
  return ContainerPool(std::move(impl));
}

ContainerPool::ContainerPool(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
ContainerPool::ContainerPool(ContainerPool&& other) noexcept = default;

ContainerPool& ContainerPool::operator=(ContainerPool&& other) noexcept {
  if (impl_) (void)destroy_all();
  impl_ = std::move(other.impl_);
  return *this;
}

// Whoever still holds one has it for nothing.
ContainerPool::~ContainerPool() {
  if (impl_) (void)destroy_all();
}

Expected<Container> ContainerPool::acquire(const ContainerOpts& opts) {
  static std::atomic<unsigned> last = 0;
  if (opts.timeout && opts.timeout->count() <= 0) {
    return api::refuse(Error::invalid("timeout: has to be more than 0"));
  }
  auto otherwise = impl_->pool->timeout();
  if (!otherwise) return api::refuse(otherwise.error());
  auto spec = impl_->pool->spec_of(wish_of(opts));
  if (!spec) return api::refuse(spec.error());
  auto lease = impl_->pool->pool().acquire(*spec, patience_of(opts.abort));
  if (!lease) return api::refuse(lease.error());
  auto impl = std::make_shared<Container::Impl>();
  impl->pool = impl_;
  impl->lease = std::move(*lease);
  impl->id = cat({"hutch-container-", std::to_string(++last)});
  impl->timeout = opts.timeout.value_or(*otherwise);
  return Container(std::move(impl));
}

Expected<void> ContainerPool::release(const Container& container) {
  if (container.impl_->pool != impl_) return api::refuse(Error::invalid("the container is another pool's"));
  const Status released = container.impl_->give_back(&sandbox::Pool::release);
  if (!released) return api::refuse(released.error());
  return {};
}

Expected<void> ContainerPool::destroy(const Container& container) {
  if (container.impl_->pool != impl_) return api::refuse(Error::invalid("the container is another pool's"));
  const Status destroyed = container.impl_->give_back(&sandbox::Pool::destroy);
  if (!destroyed) return api::refuse(destroyed.error());
  return {};
}

Expected<void> ContainerPool::destroy_all() {
  const std::scoped_lock one_by_one(impl_->emptying);
  impl_->builds->stop();
  const Status ended = impl_->pool->pool().destroy_all();
  impl_->builds->allow();
  if (!ended) return api::refuse(ended.error());
  return {};
}

Expected<void> ContainerPool::fill(const ContainerOpts& opts, std::size_t count) {
  auto spec = impl_->pool->spec_of(wish_of(opts));
  if (!spec) return api::refuse(spec.error());
  const Status filled = impl_->pool->pool().fill(*spec, count, patience_of(opts.abort));
  if (!filled) return api::refuse(filled.error());
  return {};
}

PoolStats ContainerPool::stats() const {
  const sandbox::PoolStats now = impl_->pool->pool().stats();
  return {now.idle, now.busy, now.starting, now.ending, now.total, now.max, now.hits, now.waits};
}

Expected<void> ensure_image(const std::string& name, const std::function<void(std::string_view line)>& on_note,
                            const std::stop_token& abort) {
  const auto facts = host::probe_facts();
  if (!facts) return api::refuse(facts.error());
  const auto tell = [&](const std::string& line) {
    if (on_note) on_note(line);
  };
  const service::BuildStop stop{abort};
  const Status made = service::ensure_image(name, service::Signals::kOthers, *facts, tell, &stop);
  if (!made) return api::refuse(made.error());
  const auto there = service::show_image(name, *facts);
  if (!there) return api::refuse(there.error());
  return {};
}

}  // namespace hutch
