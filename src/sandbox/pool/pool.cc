// A pool of sandboxes: threads and sandboxes around the ledger, which judges.
#include "sandbox/pool/pool.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "sys/process/threads.h"

namespace hutch::sandbox {

namespace {

// Each start or end keeps one of them.
constexpr std::size_t kWorkersMax = 16;
constexpr std::chrono::milliseconds kStopSlice{50};

Error closed_error() { return {Code::kConflict, 0, "the pool is closed"}; }

}  // namespace

Result<std::unique_ptr<Pool>> Pool::open(PoolLimits limits, Make make) {
  auto pool = std::make_unique<Pool>(limits, std::move(make));
  const std::size_t workers = std::clamp<std::size_t>(limits.max, 1, kWorkersMax);
  pool->keeper_ = TRY(sys::start_thread([&kept = *pool] { kept.keep(); }));
  for (std::size_t i = 0; i < workers; ++i) {
    pool->workers_.push_back(TRY(sys::start_thread([&kept = *pool] { kept.work(); })));
  }
  return pool;
}

Pool::~Pool() {
  if (!workers_.empty()) (void)destroy_all();
  {
    const std::scoped_lock lock(mutex_);
    phase_ = Phase::kClosed;
    due_.notify_all();
    jobs_changed_.notify_all();
  }
  if (keeper_.joinable()) keeper_.join();
  for (std::thread& worker : workers_) worker.join();
}

Result<Pool::Lease> Pool::acquire(const PoolSpec& spec, const Patience& patience) {
  const std::string key = key_of(spec);
  const Moment until = Process::Clock::now() + patience.at_most.value_or(ledger_.limits().patience);
  // An idle one may have died of itself: it goes, and the next one is asked for.
  for (;;) {
    Lease lease;
    {
      std::unique_lock lock(mutex_);
      if (phase_ == Phase::kClosed) return fail(closed_error());
      specs_.try_emplace(key, spec);
      const Number ticket = ledger_.ask(key, Process::Clock::now(), until);
      settle();
      lease = TRY(await(lock, ticket, patience));
    }
    if (lease.sandbox->is_alive()) return lease;
    TRY(release(lease.number));
  }
}

Result<Pool::Lease> Pool::await(std::unique_lock<std::mutex>& lock, Number ticket, const Patience& patience) {
  auto found = outcomes_.find(ticket);
  while (found == outcomes_.end()) {
    if (patience.is_over && patience.is_over()) {
      ledger_.give_up(ticket);
      settle();
      return fail(Error{Code::kConflict, 0, "whoever asked for the sandbox went away"});
    }
    if (patience.is_over) {
      changed_.wait_for(lock, kStopSlice);
    } else {
      changed_.wait(lock);
    }
    found = outcomes_.find(ticket);
  }
  Outcome outcome = std::move(found->second);
  outcomes_.erase(found);
  return outcome;
}

Status Pool::release(Number lease) {
  const std::scoped_lock lock(mutex_);
  TRY(ledger_.release(lease));
  settle();
  return {};
}

Status Pool::destroy(Number lease) {
  std::unique_lock lock(mutex_);
  const Number sandbox = TRY(ledger_.release(lease));
  end_errors_.erase(sandbox);
  settle();
  return await_ends(lock, {sandbox});
}

Status Pool::destroy_all() {
  std::unique_lock lock(mutex_);
  const std::vector<Number> all = ledger_.end_all();
  for (const Number sandbox : all) end_errors_.erase(sandbox);
  settle();
  return await_ends(lock, all);
}

// Those that failed are told of together; they count, and are tried again.
Status Pool::await_ends(std::unique_lock<std::mutex>& lock, const std::vector<Number>& sandboxes) {
  const auto is_over = [&](Number sandbox) { return !ledger_.has(sandbox) || end_errors_.contains(sandbox); };
  changed_.wait(lock, [&] { return std::ranges::all_of(sandboxes, is_over); });
  std::vector<std::string> messages;
  Error first;
  for (const Number sandbox : sandboxes) {
    const auto failed = end_errors_.find(sandbox);
    if (failed == end_errors_.end()) continue;
    if (messages.empty()) first = failed->second;
    messages.push_back(failed->second.message);
  }
  if (messages.empty()) return {};
  first.message = cat({std::to_string(messages.size()), " of ", std::to_string(sandboxes.size()),
                       " sandboxes could not be ended: ", join(messages, "; ")});
  return fail(std::move(first));
}

Status Pool::fill(const PoolSpec& spec, std::size_t count, const Patience& patience) {
  const std::string key = key_of(spec);
  const Moment until = Process::Clock::now() + patience.at_most.value_or(ledger_.limits().patience);
  std::unique_lock lock(mutex_);
  if (phase_ == Phase::kClosed) return fail(closed_error());
  TRY(ledger_.fill(key, count, Process::Clock::now()));
  specs_.try_emplace(key, spec);
  start_errors_.erase(key);
  settle();
  while (ledger_.idle_of(key) < count) {
    if (const auto failed = start_errors_.find(key); failed != start_errors_.end()) return fail(failed->second);
    const PoolStats now = ledger_.stats();
    if (Process::Clock::now() >= until || (patience.is_over && patience.is_over())) {
      return fail(
          Error{Code::kTimeout, 0,
                cat({std::to_string(ledger_.idle_of(key)), " of ", std::to_string(count), " sandboxes are ready; ",
                     std::to_string(now.busy), " of ", std::to_string(now.max), " are in use"})});
    }
    changed_.wait_until(lock, std::min(until, Process::Clock::now() + kStopSlice));
  }
  return {};
}

std::size_t Pool::drain() {
  const std::scoped_lock lock(mutex_);
  const std::size_t ending = ledger_.drain();
  settle();
  return ending;
}

PoolStats Pool::stats() const {
  const std::scoped_lock lock(mutex_);
  return ledger_.stats();
}

void Pool::settle() {
  PoolLedger::Actions actions = ledger_.settle(Process::Clock::now());
  for (const PoolLedger::Grant& grant : actions.grants) {
    outcomes_.emplace(grant.ticket, Lease{grant.lease, sandboxes_.at(grant.sandbox)});
  }
  for (PoolLedger::Refusal& refusal : actions.refusals) {
    outcomes_.emplace(refusal.ticket, Outcome(std::unexpected(std::move(refusal.error))));
  }
  for (const PoolLedger::Start& start : actions.starts) {
    jobs_.push_back({.kind = Job::Kind::kStart, .sandbox = start.sandbox, .spec = specs_.at(start.key)});
  }
  for (const Number sandbox : actions.ends) {
    jobs_.push_back({.kind = Job::Kind::kEnd, .sandbox = sandbox, .ends = sandboxes_.at(sandbox)});
  }
  const auto is_unknown = [&](const auto& entry) { return !ledger_.knows(entry.first); };
  std::erase_if(specs_, is_unknown);
  std::erase_if(start_errors_, is_unknown);
  for (std::size_t i = actions.starts.size() + actions.ends.size(); i > 0; --i) jobs_changed_.notify_one();
  changed_.notify_all();
  due_.notify_one();
}

// Wakes the ledger at the times that it names.
void Pool::keep() {
  std::unique_lock lock(mutex_);
  while (phase_ == Phase::kOpen) {
    const auto next = ledger_.next();
    if (!next) {
      due_.wait(lock);
    } else if (*next > Process::Clock::now()) {
      due_.wait_until(lock, *next);
    } else {
      settle();
    }
  }
}

void Pool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    jobs_changed_.wait(lock, [&] { return phase_ == Phase::kClosed || !jobs_.empty(); });
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    run(lock, std::move(job));
    settle();
  }
}

void Pool::run(std::unique_lock<std::mutex>& lock, Job job) {
  lock.unlock();
  if (job.kind == Job::Kind::kStart) {
    auto made = make_(job.spec);
    lock.lock();
    const Moment now = Process::Clock::now();
    if (made) {
      sandboxes_.emplace(job.sandbox, std::move(*made));
      ledger_.started(job.sandbox, now);
    } else {
      start_errors_.insert_or_assign(key_of(job.spec), made.error());
      ledger_.start_failed(job.sandbox, made.error(), now);
    }
    return;
  }
  const Status ended = job.ends->destroy();
  job.ends.reset();
  lock.lock();
  if (ended) {
    sandboxes_.erase(job.sandbox);
    end_errors_.erase(job.sandbox);
    ledger_.ended(job.sandbox);
  } else {
    end_errors_.insert_or_assign(job.sandbox, ended.error());
    ledger_.end_failed(job.sandbox, ended.error(), Process::Clock::now());
  }
}

}  // namespace hutch::sandbox
