// A pool of sandboxes of any backend: warm ones for the next request, never more at once than its limit.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "sandbox/io/process_request.h"
#include "sandbox/pool/ledger.h"
#include "sandbox/pool/spec.h"
#include "sandbox/resident/process.h"
#include "sandbox/resident/resident_process.h"

namespace hutch::sandbox {

// One sandbox of a pool, of whatever backend. Any thread may use it.
class PooledSandbox {
 public:
  virtual ~PooledSandbox() = default;
  // The sandbox's own environment comes before the request's; its directory of work is where the request names none.
  virtual Result<std::shared_ptr<Process>> spawn(ProcessRequest request, Input input) = 0;
  virtual void end(const std::shared_ptr<Process>& process, EndedBy reason) = 0;
  virtual bool is_alive() const = 0;
  // Everything in it is gone when this returns, or the error says what is not. Again is fine.
  virtual Status destroy() = 0;
};

class Pool {
 public:
  using Moment = PoolLedger::Moment;
  // Starts one; called by several threads at once.
  using Make = std::function<Result<std::unique_ptr<PooledSandbox>>(const PoolSpec& spec)>;

  static Result<std::unique_ptr<Pool>> open(PoolLimits limits, Make make);
  Pool(PoolLimits limits, Make make) : make_(std::move(make)), ledger_(limits) {}
  // Ends all of them.
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Whoever has it holds the sandbox, until they give it back. Never valid again after that.
  struct Lease {
    PoolLedger::Number number = 0;
    std::shared_ptr<PooledSandbox> sandbox;
  };
  struct Patience {
    std::optional<std::chrono::milliseconds> at_most{};  // the pool's own without it
    // Asked now and then while somebody waits, with the pool's lock held: nobody wants it any more.
    std::function<bool()> is_over{};
  };
  Result<Lease> acquire(const PoolSpec& spec, const Patience& patience);
  // The sandbox ends, in the background; a new one takes its place. An error that changes nothing where it is not held.
  Status release(PoolLedger::Number lease);
  // The same, and waits until it is gone.
  Status destroy(PoolLedger::Number lease);
  // All that there are, idle and busy; waits until they are gone. One that cannot be ended keeps none of the others,
  // and is the error.
  Status destroy_all();
  // So many idle ones of the kind; waits for them.
  Status fill(const PoolSpec& spec, std::size_t count, const Patience& patience);
  // The idle ones end, in the background: how many.
  std::size_t drain();
  PoolStats stats() const;

 private:
  using Number = PoolLedger::Number;
  struct Job {
    enum class Kind { kStart, kEnd } kind = Kind::kStart;
    Number sandbox = 0;
    PoolSpec spec{};  // of kStart
    std::shared_ptr<PooledSandbox> ends{};  // of kEnd
  };
  using Outcome = Result<Lease>;

  void settle();  // with the lock held, as all below but for the threads' own
  Result<Lease> await(std::unique_lock<std::mutex>& lock, Number ticket, const Patience& patience);
  Status await_ends(std::unique_lock<std::mutex>& lock, const std::vector<Number>& sandboxes);
  void keep();
  void work();
  void run(std::unique_lock<std::mutex>& lock, Job job);

  const Make make_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;  // for those who wait for an outcome
  std::condition_variable due_;  // for the keeping thread
  std::condition_variable jobs_changed_;
  PoolLedger ledger_;
  std::map<std::string, PoolSpec> specs_;  // by their keys, as long as the ledger knows them
  std::map<Number, std::shared_ptr<PooledSandbox>> sandboxes_;
  std::map<Number, Outcome> outcomes_;  // of tickets
  std::map<Number, Error> end_errors_;  // of those that could not be ended
  std::deque<Job> jobs_;
  std::map<std::string, Error> start_errors_;  // the last one of each key
  enum class Phase { kOpen, kClosed } phase_ = Phase::kOpen;
  std::thread keeper_;
  std::vector<std::thread> workers_;
};

}  // namespace hutch::sandbox
