// The books of a pool: who gets which sandbox, which goes, which is made next. Pure: no thread, no clock, no sandbox.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/pool/limits.h"

namespace hutch::sandbox {

// A sandbox serves one holder and ends: the next one's is new, which is why nothing of the last holder's is in it.
class PoolLedger {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  using Number = std::uint64_t;  // of a sandbox, a ticket, a lease: never the same twice

  explicit PoolLedger(PoolLimits limits) : limits_(limits) {}

  // --- what happened ---

  // Whoever asks has a ticket, which settle() grants or refuses at some time.
  Number ask(const std::string& key, Moment now, Moment until);
  void give_up(Number ticket);
  void started(Number sandbox, Moment now);
  void start_failed(Number sandbox, const Error& error, Moment now);
  void ended(Number sandbox);
  void end_failed(Number sandbox, const Error& error, Moment now);
  // The lease is over, and its sandbox is to end. An error, and nothing else, where it is nobody's lease.
  Result<Number> release(Number lease);
  // So many idle ones of that key from now on, as long as it is asked for at times.
  Status fill(const std::string& key, std::size_t count, Moment now);
  // The idle ones end, and no more are made in advance until somebody asks. How many they are.
  std::size_t drain();
  // All end, whoever holds them, and whoever waits is refused. Which they are.
  std::vector<Number> end_all();

  // --- what follows from it ---

  struct Start {
    Number sandbox = 0;
    std::string key;
  };
  struct Grant {
    Number ticket = 0;
    Number lease = 0;
    Number sandbox = 0;
  };
  struct Refusal {
    Number ticket = 0;
    Error error;
  };
  struct Actions {
    std::vector<Start> starts;
    std::vector<Number> ends;
    std::vector<Grant> grants;
    std::vector<Refusal> refusals;
  };
  // To be called after all that happened, and at next().
  Actions settle(Moment now);
  // When there is something to do although nothing happens.
  std::optional<Moment> next() const;

  PoolStats stats() const;
  std::size_t idle_of(const std::string& key) const;
  bool knows(const std::string& key) const { return keys_.contains(key); }
  bool has(Number sandbox) const { return sandboxes_.contains(sandbox); }
  const PoolLimits& limits() const { return limits_; }

 private:
  enum class State { kStarting, kIdle, kBusy, kEnding };
  enum class Fate { kServes, kDoomed };  // kDoomed: it ends as soon as it has started
  enum class Told { kNotYet, kYes };     // of its end
  struct Sandbox {
    std::string key;
    State state = State::kStarting;
    Moment since{};  // idle
    Fate fate = Fate::kServes;
    Told told = Told::kNotYet;
    std::optional<Moment> retry_at{};  // its end failed
  };
  enum class Seen { kNew, kBefore };  // by settle()
  struct Ticket {
    std::string key;
    Moment until{};
    Seen seen = Seen::kNew;
  };
  struct Key {
    Moment used{};
    std::optional<std::size_t> wanted{};  // limits_.warm without it
    Moment fill_from{};
  };
  using Tickets = std::map<Number, Ticket>;
  // What waiting tickets can count on: sandboxes that start, and room that others leave.
  struct Coming {
    std::map<std::string, std::size_t> starting;
    std::size_t leaving = 0;
    std::size_t queued = 0;  // tickets without any of it
  };

  void expire(Moment now, Actions& actions);
  void grant_idle(Moment now, Actions& actions);
  void provide(Actions& actions);
  bool is_provided(const std::string& key, Actions& actions, Coming& coming);
  void age(Moment now);
  void fill_up(Moment now, Actions& actions);
  void tell_ends(Moment now, Actions& actions);
  void refuse(Tickets::iterator ticket, Error error, Actions& actions);
  void start(const std::string& key, Actions& actions);
  void end(Sandbox& sandbox);
  Sandbox* oldest_idle(const std::string* key);
  bool is_awaited(const std::string& key) const;
  std::size_t count(State state) const;
  std::size_t count(State state, const std::string& key) const;
  std::optional<Moment> fill_time(const std::string& name, const Key& key) const;

  const PoolLimits limits_;
  Number last_ = 0;
  std::map<Number, Sandbox> sandboxes_;
  Tickets tickets_;  // in the order in which they were asked for
  std::map<Number, Number> leases_;  // whose sandbox it is
  std::map<std::string, Key> keys_;
  std::vector<Refusal> refused_;  // until settle() tells them
  Moment filled_{};               // the last start in advance
  std::uint64_t hits_ = 0;
  std::uint64_t waits_ = 0;
  std::string last_error_;
};

}  // namespace hutch::sandbox
