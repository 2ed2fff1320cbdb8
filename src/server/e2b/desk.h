// The sandboxes of the E2B-compatible API: made of templates, each an agent, ended when their time is over.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/e2b/key_memory.h"
#include "server/e2b/output_shares.h"
#include "server/e2b/sandbox.h"
#include "server/protocol/workers.h"
#include "service/agent/agents.h"
#include "store/e2b_sandboxes.h"

namespace hutch::server {

// Any thread may use it.
class E2bDesk {
 public:
  static constexpr std::chrono::seconds kTimeout{300};  // of one that says none
  static constexpr std::int64_t kTimeoutSecondsMax = 366LL * 24 * 3600;
  static constexpr std::size_t kSandboxesMax = 1000;
  // Of one key: what its processes wrote and nobody has read; what its watchers have seen, and its commands that run;
  // what its calls say and are answered.
  static constexpr std::uint64_t kOutputBytesMax = 64 << 20;
  static constexpr std::uint64_t kKeptBytesMax = 32 << 20;
  static constexpr std::uint64_t kCallBytesMax = 64 << 20;

  using Tell = std::function<void(const std::string& line)>;
  static Result<std::unique_ptr<E2bDesk>> open(service::AgentService& agents, Workers& workers, Tell tell);
  E2bDesk(service::AgentService& agents, Workers& workers, Tell tell, std::unique_ptr<store::E2bSandboxes> records)
      : agents_(agents), workers_(workers), tell_(std::move(tell)), records_(std::move(records)) {}

  struct Wish {
    std::string owner{};
    std::string template_name{};
    std::int64_t timeout_seconds = kTimeout.count();
    bool pauses_at_end = false;
    bool resumes_by_itself = false;
    std::string metadata{};  // JSON
    std::string variables{};  // JSON
  };
  // It runs when this returns. `gone`: the client, for which it starts no more.
  Result<std::shared_ptr<E2bSandbox>> create(const Wish& wish, const std::stop_token& gone);

  // Code::kNotFound. An owner sees no others' sandboxes; the empty one sees all.
  Result<std::shared_ptr<E2bSandbox>> find(const std::string& id, const std::string& owner) const;
  std::vector<std::shared_ptr<E2bSandbox>> list(const std::string& owner) const;

  Status kill(const std::shared_ptr<E2bSandbox>& sandbox);
  // kStopped: its processes stay in memory, and go on where they were. kEnded: its files alone stay.
  enum class Processes { kStopped, kEnded };
  Status pause(E2bSandbox& sandbox, Processes processes);  // Code::kConflict where it is paused already
  // Where it is paused by now, what runs in it stands still: a pause sees no process that begins beside it.
  Status stand_still_if_paused(E2bSandbox& sandbox);
  // Goes on, where it is paused, and ends no earlier than then.
  Status resume(E2bSandbox& sandbox, std::int64_t timeout_seconds);
  enum class End { kThen, kNoEarlier };
  Status set_end(E2bSandbox& sandbox, std::int64_t timeout_seconds, End end);

  Result<std::shared_ptr<service::AgentSandbox>> agent(const E2bSandbox& sandbox) {
    return agents_.sandbox(sandbox.agent());
  }

  void sweep();  // those whose time is over
  void forget(const std::string& agent);  // somebody removed it
  service::AgentService& agents() { return agents_; }
  OutputShares& outputs() { return outputs_; }
  KeyMemory& kept() { return kept_; }
  KeyMemory& calls() { return calls_; }

 private:
  Result<store::AgentRecord> agent_record(const std::string& id, const std::string& template_name) const;
  Status check_room(const std::string& owner) const;  // for one more; with the lock held
  Status start(E2bSandbox& sandbox, const std::stop_token& gone);
  // These four with its life() held.
  Status save(E2bSandbox& sandbox, const std::function<void(store::E2bRecord& record)>& change);
  Status stop(E2bSandbox& sandbox, Processes processes);
  Status remove(E2bSandbox& sandbox);
  Status end_if_over(E2bSandbox& sandbox);
  bool is_known(const std::string& id) const;
  void hide(const std::string& id);  // found by nobody from here on
  void end(const std::shared_ptr<E2bSandbox>& sandbox);

  service::AgentService& agents_;
  Workers& workers_;
  const Tell tell_;
  const std::unique_ptr<store::E2bSandboxes> records_;
  OutputShares outputs_{kOutputBytesMax};
  KeyMemory kept_{kKeptBytesMax};
  KeyMemory calls_{kCallBytesMax};
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<E2bSandbox>> sandboxes_;
  std::set<std::string> ending_;  // whose time is over, until that is done
};

}  // namespace hutch::server
