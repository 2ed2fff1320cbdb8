// The books of a pool.
#include "sandbox/pool/ledger.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace hutch::sandbox {

namespace {

constexpr std::string_view kFull = "Pool limit reached";

Error full_error(const PoolLimits& limits) {
  return {Code::kConflict, 0,
          cat({kFull, ": ", std::to_string(limits.max), " sandboxes are in use and ", std::to_string(limits.queue),
               " callers wait; release one, or raise security.maxConcurrentSandboxes"})};
}

Error late_error(const PoolLimits& limits, std::size_t busy, std::size_t starting) {
  return {Code::kTimeout, 0,
          cat({kFull, ": no sandbox became free in time; of ", std::to_string(limits.max), ", ", std::to_string(busy),
               " are in use and ", std::to_string(starting),
               " starting; release one, or raise security.maxConcurrentSandboxes"})};
}

}  // namespace

PoolLedger::Number PoolLedger::ask(const std::string& key, Moment now, Moment until) {
  keys_[key].used = now;
  tickets_.emplace(++last_, Ticket{.key = key, .until = until});
  return last_;
}

void PoolLedger::give_up(Number ticket) { tickets_.erase(ticket); }

void PoolLedger::started(Number sandbox, Moment now) {
  const auto found = sandboxes_.find(sandbox);
  if (found == sandboxes_.end()) return;
  found->second.state = State::kIdle;
  found->second.since = now;
  if (found->second.fate == Fate::kDoomed) end(found->second);
}

// Whoever has waited longest for such a one hears of it; in advance it is tried again later.
void PoolLedger::start_failed(Number sandbox, const Error& error, Moment now) {
  const auto found = sandboxes_.find(sandbox);
  if (found == sandboxes_.end()) return;
  const std::string name = found->second.key;
  sandboxes_.erase(found);
  last_error_ = error.message;
  if (const auto key = keys_.find(name); key != keys_.end()) key->second.fill_from = now + limits_.retry;
  const auto waiting = std::ranges::find_if(tickets_, [&](const auto& entry) { return entry.second.key == name; });
  if (waiting == tickets_.end()) return;
  refused_.push_back({waiting->first, error});
  tickets_.erase(waiting);
}

void PoolLedger::ended(Number sandbox) { sandboxes_.erase(sandbox); }

// It is there still, and counts.
void PoolLedger::end_failed(Number sandbox, const Error& error, Moment now) {
  const auto found = sandboxes_.find(sandbox);
  if (found == sandboxes_.end()) return;
  last_error_ = error.message;
  found->second.told = Told::kNotYet;
  found->second.retry_at = now + limits_.retry;
}

Result<PoolLedger::Number> PoolLedger::release(Number lease) {
  const auto found = leases_.find(lease);
  if (found == leases_.end()) {
    return fail(Error{Code::kConflict, 0,
                      "the sandbox is not held by this lease: it was released or destroyed before, or is another's"});
  }
  const Number sandbox = found->second;
  leases_.erase(found);
  end(sandboxes_.at(sandbox));
  return sandbox;
}

Status PoolLedger::fill(const std::string& key, std::size_t count, Moment now) {
  if (count > limits_.max) {
    return fail(Error::invalid(cat({"fill: ", std::to_string(count), " sandboxes are more than the pool has at once (",
                                    std::to_string(limits_.max),
                                    "): ask for fewer, or raise "
                                    "security.maxConcurrentSandboxes"})));
  }
  Key& known = keys_[key];
  known.used = now;
  known.wanted = count;
  known.fill_from = now;
  return {};
}

std::size_t PoolLedger::drain() {
  std::size_t ending = 0;
  for (auto& [number, sandbox] : sandboxes_) {
    const bool in_advance = sandbox.state == State::kIdle || sandbox.state == State::kStarting;
    if (!in_advance || sandbox.fate == Fate::kDoomed || is_awaited(sandbox.key)) continue;
    if (sandbox.state == State::kIdle) end(sandbox);
    sandbox.fate = Fate::kDoomed;
    ++ending;
  }
  std::erase_if(keys_, [&](const auto& entry) { return !is_awaited(entry.first); });
  return ending;
}

std::vector<PoolLedger::Number> PoolLedger::end_all() {
  std::vector<Number> all;
  for (const auto& [ticket, asked] : tickets_) {
    refused_.push_back({ticket, {Code::kConflict, 0, "all sandboxes of the pool were ended"}});
  }
  tickets_.clear();
  leases_.clear();
  keys_.clear();
  for (auto& [number, sandbox] : sandboxes_) {
    all.push_back(number);
    sandbox.fate = Fate::kDoomed;
    sandbox.retry_at.reset();
    if (sandbox.state == State::kIdle || sandbox.state == State::kBusy) end(sandbox);
  }
  return all;
}

PoolLedger::Actions PoolLedger::settle(Moment now) {
  Actions actions;
  actions.refusals = std::exchange(refused_, {});
  grant_idle(now, actions);
  expire(now, actions);
  provide(actions);
  age(now);
  fill_up(now, actions);
  tell_ends(now, actions);
  return actions;
}

std::optional<PoolLedger::Moment> PoolLedger::next() const {
  std::optional<Moment> first;
  const auto take = [&](Moment moment) { first = first ? std::min(*first, moment) : moment; };
  for (const auto& [number, ticket] : tickets_) take(ticket.until);
  for (const auto& [number, sandbox] : sandboxes_) {
    if (sandbox.retry_at && sandbox.told == Told::kNotYet) take(*sandbox.retry_at);
  }
  for (const auto& [name, key] : keys_) {
    take(key.used + limits_.idle);
    if (const auto time = fill_time(name, key)) take(*time);
  }
  return first;
}

PoolStats PoolLedger::stats() const {
  return {.idle = count(State::kIdle),
          .busy = count(State::kBusy),
          .starting = count(State::kStarting),
          .ending = count(State::kEnding),
          .total = sandboxes_.size(),
          .max = limits_.max,
          .queued = tickets_.size(),
          .hits = hits_,
          .waits = waits_,
          .last_error = last_error_};
}

std::size_t PoolLedger::idle_of(const std::string& key) const { return count(State::kIdle, key); }

// The oldest first, on both sides.
void PoolLedger::grant_idle(Moment now, Actions& actions) {
  for (auto ticket = tickets_.begin(); ticket != tickets_.end();) {
    Sandbox* idle = oldest_idle(&ticket->second.key);
    if (idle == nullptr) {
      ++ticket;
      continue;
    }
    const auto found = std::ranges::find_if(sandboxes_, [&](const auto& entry) { return &entry.second == idle; });
    idle->state = State::kBusy;
    if (ticket->second.seen == Seen::kNew) ++hits_;
    Key& key = keys_[ticket->second.key];
    key.used = now;
    if (key.fill_from <= now) key.fill_from = now + limits_.fill_gap;
    leases_.emplace(++last_, found->first);
    actions.grants.push_back({ticket->first, last_, found->first});
    ticket = tickets_.erase(ticket);
  }
}

void PoolLedger::expire(Moment now, Actions& actions) {
  for (auto ticket = tickets_.begin(); ticket != tickets_.end();) {
    const auto current = ticket++;
    if (current->second.until <= now)
      refuse(current, late_error(limits_, count(State::kBusy), count(State::kStarting)), actions);
  }
}

void PoolLedger::provide(Actions& actions) {
  Coming coming;
  for (const auto& [number, sandbox] : sandboxes_) {
    if (sandbox.state == State::kStarting && sandbox.fate == Fate::kServes) ++coming.starting[sandbox.key];
    const bool goes = sandbox.state == State::kEnding || sandbox.fate == Fate::kDoomed;
    if (goes && !sandbox.retry_at) ++coming.leaving;
  }
  for (auto ticket = tickets_.begin(); ticket != tickets_.end();) {
    const auto current = ticket++;
    const bool is_new = std::exchange(current->second.seen, Seen::kBefore) == Seen::kNew;
    const std::size_t started = actions.starts.size();
    const std::size_t queued = coming.queued;
    const bool had_starting = coming.starting[current->second.key] > 0;
    const bool provided = is_provided(current->second.key, actions, coming);
    if (is_new && actions.starts.size() == started && !had_starting) ++waits_;
    // Who waits already stays: it is only one more that there is no place for.
    if (!provided && (limits_.max == 0 || (is_new && queued >= limits_.queue))) {
      refuse(current, full_error(limits_), actions);
      --coming.queued;
    }
  }
}

// Whether it can count on a sandbox without anybody giving up theirs.
bool PoolLedger::is_provided(const std::string& key, Actions& actions, Coming& coming) {
  if (auto& starting = coming.starting[key]; starting > 0) {
    --starting;
    return true;
  }
  if (sandboxes_.size() < limits_.max) {
    start(key, actions);
    return true;
  }
  if (coming.leaving > 0) {
    --coming.leaving;
    return true;
  }
  if (Sandbox* idle = oldest_idle(nullptr)) {
    end(*idle);
    return true;
  }
  ++coming.queued;
  return false;
}

void PoolLedger::age(Moment now) {
  for (auto key = keys_.begin(); key != keys_.end();) {
    if (now - key->second.used < limits_.idle) {
      ++key;
      continue;
    }
    for (auto& [number, sandbox] : sandboxes_) {
      if (sandbox.key == key->first && sandbox.state == State::kIdle) end(sandbox);
    }
    if (!is_awaited(key->first) && count(State::kStarting, key->first) == 0) {
      key = keys_.erase(key);
    } else {
      key++->second.used = now;
    }
  }
}

// Never at the cost of another, and never before who waits: only what room there is.
void PoolLedger::fill_up(Moment now, Actions& actions) {
  if (sandboxes_.size() >= limits_.max) return;
  const std::pair<const std::string, Key>* best = nullptr;
  for (const auto& entry : keys_) {
    const auto time = fill_time(entry.first, entry.second);
    if (time && *time <= now && (best == nullptr || entry.second.used > best->second.used)) best = &entry;
  }
  if (best == nullptr) return;
  filled_ = now;
  start(best->first, actions);
}

// Nothing where the key has as many as it is to have, or there is no room.
std::optional<PoolLedger::Moment> PoolLedger::fill_time(const std::string& name, const Key& key) const {
  const bool alone = tickets_.empty() && count(State::kStarting) == 0 && sandboxes_.size() < limits_.max;
  if (!alone || count(State::kIdle, name) >= key.wanted.value_or(limits_.warm)) return std::nullopt;
  return std::max(key.fill_from, filled_ + limits_.fill_gap);
}

void PoolLedger::tell_ends(Moment now, Actions& actions) {
  for (auto& [number, sandbox] : sandboxes_) {
    const bool due = !sandbox.retry_at || *sandbox.retry_at <= now;
    if (sandbox.state != State::kEnding || sandbox.told == Told::kYes || !due) continue;
    sandbox.told = Told::kYes;
    actions.ends.push_back(number);
  }
}

void PoolLedger::refuse(Tickets::iterator ticket, Error error, Actions& actions) {
  actions.refusals.push_back({ticket->first, std::move(error)});
  tickets_.erase(ticket);
}

void PoolLedger::start(const std::string& key, Actions& actions) {
  sandboxes_.emplace(++last_, Sandbox{.key = key});
  actions.starts.push_back({last_, key});
}

void PoolLedger::end(Sandbox& sandbox) { sandbox.state = State::kEnding; }

// Of that key, or of those that nobody has asked for for the longest time.
PoolLedger::Sandbox* PoolLedger::oldest_idle(const std::string* key) {
  const auto used = [&](const Sandbox& sandbox) {
    const auto found = keys_.find(sandbox.key);
    return std::pair(key != nullptr || found == keys_.end() ? Moment() : found->second.used, sandbox.since);
  };
  Sandbox* oldest = nullptr;
  for (auto& [number, sandbox] : sandboxes_) {
    if (sandbox.state != State::kIdle || (key != nullptr && sandbox.key != *key)) continue;
    if (oldest == nullptr || used(sandbox) < used(*oldest)) oldest = &sandbox;
  }
  return oldest;
}

bool PoolLedger::is_awaited(const std::string& key) const {
  return std::ranges::any_of(tickets_, [&](const auto& entry) { return entry.second.key == key; });
}

std::size_t PoolLedger::count(State state) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(sandboxes_, [&](const auto& entry) { return entry.second.state == state; }));
}

std::size_t PoolLedger::count(State state, const std::string& key) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      sandboxes_, [&](const auto& entry) { return entry.second.state == state && entry.second.key == key; }));
}

}  // namespace hutch::sandbox
