// The daemon's pool and its leases.
#include "server/state/pool_desk.h"

#include <vector>

#include "base/text.h"
#include "server/protocol/call_reader.h"
#include "service/common/programs.h"
#include "sys/files/journal.h"

namespace hutch::server {

namespace {

constexpr std::size_t kPoolIdBytes = 16;

Result<std::map<std::string, std::string>> pool_environment(const Value& value) {
  std::map<std::string, std::string> environment;
  const auto* variables = value.get<Value::Object>();
  if (variables == nullptr) return fail(Error::invalid("env must be an object of texts"));
  for (const auto& [name, one] : *variables) {
    const auto* text = one.get<std::string>();
    if (text == nullptr) return fail(Error::invalid("env must be an object of texts"));
    environment.emplace(name, *text);
  }
  return environment;
}

Result<std::vector<sandbox::PoolMount>> mounts_of(const Value& value) {
  std::vector<sandbox::PoolMount> mounts;
  const auto* list = value.get<Value::List>();
  if (list == nullptr) return fail(Error::invalid("mounts must be a list"));
  for (const Value& one : *list) {
    const auto* object = one.get<Value::Object>();
    if (object == nullptr) return fail(Error::invalid("mounts: each is an object {host, container, readonly}"));
    for (const auto& [key, member] : *object) {
      if (key != "host" && key != "container" && key != "readonly") {
        return fail(Error::invalid(cat({"mounts: ", printable(key, 64), ": unknown key"})));
      }
    }
    const CallReader reader(*object);
    const bool read_only = TRY_CTX(reader.truth("readonly"), "mounts");
    mounts.push_back({TRY_CTX(reader.text("host"), "mounts"), TRY_CTX(reader.text("container"), "mounts"),
                      read_only ? sandbox::MountUse::kReadOnly : sandbox::MountUse::kReadWrite});
  }
  return mounts;
}

Result<service::PoolWish> pool_wish(const Value::Object& object) {
  const CallReader reader(object);
  service::PoolWish wish;
  wish.backend = TRY(reader.optional_text("backend"));
  const std::string trust = TRY(reader.optional_text("trust"));
  if (!trust.empty()) wish.trust = TRY(sandbox::trust_named(trust));
  if (object.contains("image")) wish.image = TRY(reader.text("image"));
  wish.memory = TRY(reader.optional_text("memory"));
  wish.cpus = TRY(reader.optional_text("cpu"));
  if (object.contains("pids")) {
    const std::int64_t pids = TRY(reader.number("pids", 0));
    if (pids <= 0) return fail(Error::invalid("pids: has to be more than 0"));
    wish.pids = static_cast<std::uint64_t>(pids);
  }
  if (const auto env = object.find("env"); env != object.end()) wish.environment = TRY(pool_environment(env->second));
  if (const auto found = object.find("mounts"); found != object.end()) wish.mounts = TRY(mounts_of(found->second));
  return wish;
}

}  // namespace

Result<service::SandboxPool*> PoolDesk::opened() {
  const std::scoped_lock lock(mutex_);
  if (!pool_) {
    service::PoolHost host{.dirs = dirs_,
                           .guest_program = TRY(service::guest_program()),
                           .tell = tell_,
                           .stop = [ending = ending_.get_token()] { return ending; }};
    pool_ = TRY(service::SandboxPool::open(std::move(host)));
  }
  return pool_.get();
}

service::SandboxPool* PoolDesk::pool() const {
  const std::scoped_lock lock(mutex_);
  return pool_.get();
}

Result<PoolDesk::Acquired> PoolDesk::acquire(const Value::Object& wish, const IsGone& is_gone) {
  const service::PoolWish wanted = TRY(pool_wish(wish));
  service::SandboxPool& pool = *TRY(opened());
  const sandbox::PoolSpec spec = TRY(pool.spec_of(wanted));
  Acquired acquired{.id = TRY(sys::random_hex(kPoolIdBytes)), .held = std::make_shared<Held>()};
  acquired.held->timeout = TRY(pool.timeout());
  acquired.held->lease = TRY(pool.pool().acquire(spec, {.is_over = is_gone}));
  acquired.held->used = Clock::now();
  acquired.held->spec = spec;
  const std::scoped_lock lock(mutex_);
  held_.emplace(acquired.id, acquired.held);
  return acquired;
}

Result<std::shared_ptr<PoolDesk::Held>> PoolDesk::find(const std::string& id) const {
  const std::scoped_lock lock(mutex_);
  const auto found = held_.find(id);
  if (found == held_.end()) {
    return fail(Error::not_found("nobody holds a sandbox of the pool by this id: it was given back, or never given"));
  }
  found->second->used = Clock::now();
  return found->second;
}

Status PoolDesk::give_back(const std::string& id, How how) {
  const auto held = TRY(find(id));
  {
    const std::scoped_lock lock(mutex_);
    held_.erase(id);
  }
  sandbox::Pool& all = pool()->pool();
  return how == How::kDestroy ? all.destroy(held->lease.number) : all.release(held->lease.number);
}

Status PoolDesk::fill(const Value::Object& wish, std::int64_t count, const IsGone& is_gone) {
  if (count < 0) return fail(Error::invalid("count: has to be 0 or more"));
  const service::PoolWish wanted = TRY(pool_wish(wish));
  service::SandboxPool& pool = *TRY(opened());
  const sandbox::PoolSpec spec = TRY(pool.spec_of(wanted));
  return pool.pool().fill(spec, static_cast<std::size_t>(count), {.is_over = is_gone});
}

std::size_t PoolDesk::drain() {
  service::SandboxPool* const open = pool();
  return open == nullptr ? 0 : open->pool().drain();
}

Value::Object pool_limits_object(const sandbox::PoolSpec& spec) {
  const std::vector<std::string> names = service::not_held(spec);
  Value::Object limits = {{"memory", spec.memory_bytes == 0 ? Value() : Value(spec.memory_bytes)},
                          {"cpu", spec.cpu_millis == 0 ? Value() : Value(static_cast<double>(spec.cpu_millis) / 1000)},
                          {"pids", spec.pids}};
  return {{"limits", std::move(limits)}, {"notHeld", Value::List(names.begin(), names.end())}};
}

// Without a pool: what it would have.
Value PoolDesk::stats() const {
  sandbox::PoolStats now;
  if (service::SandboxPool* const open = pool()) {
    now = open->pool().stats();
  } else if (const auto limits = service::pool_limits({.dirs = dirs_, .guest_program = {}, .tell = tell_})) {
    now.max = limits->max;
  }
  Value::Object object;
  object.emplace("idle", now.idle);
  object.emplace("busy", now.busy);
  object.emplace("starting", now.starting);
  object.emplace("ending", now.ending);
  object.emplace("total", now.total);
  object.emplace("max", now.max);
  object.emplace("queued", now.queued);
  object.emplace("hits", now.hits);
  object.emplace("waits", now.waits);
  // Of a sandbox of which nothing is said.
  service::SandboxPool* const open = pool();
  const auto usual = open != nullptr
                         ? open->spec_of({})
                         : service::SandboxPool({.dirs = dirs_, .guest_program = {}, .tell = tell_}).spec_of({});
  if (usual) object.merge(pool_limits_object(*usual));
  if (!now.last_error.empty()) object.emplace("lastError", now.last_error);
  return Value(std::move(object));
}

std::size_t PoolDesk::busy() const {
  service::SandboxPool* const open = pool();
  return open == nullptr ? 0 : open->pool().stats().busy;
}

void PoolDesk::sweep() {
  std::vector<std::string> unused;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [id, held] : held_) {
      if (held->running == 0 && Clock::now() - held->used.load() > kUnused) unused.push_back(id);
    }
  }
  for (const std::string& id : unused) {
    tell_("pool: a sandbox that nobody used is taken back");
    (void)give_back(id, How::kRelease);
  }
}

Status PoolDesk::end_all() {
  ending_.request_stop();
  service::SandboxPool* const open = pool();
  {
    const std::scoped_lock lock(mutex_);
    held_.clear();
  }
  return open == nullptr ? Status() : open->pool().destroy_all();
}

}  // namespace hutch::server
