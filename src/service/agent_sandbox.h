// One agent's sandbox and its life: it starts when it is needed, once however many ask, and ends when told.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/state_dirs.h"
#include "sandbox/files.h"
#include "sandbox/resident.h"
#include "service/agent_places.h"
#include "service/recorder.h"
#include "store/agent_record.h"

namespace hutch::service {

enum class AgentState { kPending, kStarting, kRunning, kStopping, kStopped, kError };
std::string_view name_of(AgentState state);

// Any thread may use it.
class AgentSandbox {
 public:
  using Tell = std::function<void(const std::string& line)>;
  // What has changed: a state's name, and the reason of an error. Called with a lock held: it does not ask back.
  using Changed = std::function<void(const std::string& agent, std::string_view what, const std::string& reason)>;
  struct Hooks {
    Tell tell;
    Changed changed{};
    // A number for each process: an id that is another agent's, or of an earlier start, is nobody's here.
    std::function<std::uint32_t()> next_number{};
  };
  AgentSandbox(store::AgentRecord record, host::StateDirs dirs, Hooks hooks);
  ~AgentSandbox() { stop(); }

  const store::AgentRecord& record() const { return record_; }
  const tool::Layout& layout() const { return places_.layout; }

  // The running sandbox; starts it where it is not. Whoever waits for another's start gets what that got.
  Result<std::shared_ptr<sandbox::Resident>> resident();
  std::shared_ptr<sandbox::Resident> running() const;  // null where it does not run
  // kNever: it is not started any more, by nobody.
  enum class After { kAgain, kNever };
  void stop(After after = After::kAgain);
  // The same where it does not run; false, and nothing is done, where it does.
  bool retire();

  struct Status {
    AgentState state = AgentState::kPending;
    std::string reason;   // of kError
    std::string backend;  // that it runs on, or ran on last
  };
  Status status() const;
  bool is_busy() const;  // whether a process runs in it

  // What a login shell of the sandbox has in its environment, and then `more`; found out once for each start.
  Result<std::vector<std::string>> environment(const std::vector<std::string>& more);

  // By the sandbox's own file server; a FileFailed of it comes as the error.
  Result<wire::FileReply> file(const wire::FileRequest& request);

  // A command of it, with the sandbox's limits and its place of work.
  Result<sandbox::ProcessRequest> request(std::vector<std::string> arguments, const std::string& cwd,
                                          const std::vector<std::string>& environment);

 private:
  void set_state(AgentState state, std::string reason = {});  // with the lock held
  Result<sandbox::Resident::Parts> begin();
  void ended(const std::optional<Error>& reason);
  void record_refusal(const sandbox::Refusal& refusal);
  void record_start(const sandbox::Process& process);
  void record_end(const sandbox::Process& process, const sandbox::ProcessEnd& end);
  Result<std::shared_ptr<sandbox::Resident>> start();
  Result<std::vector<std::string>> ask_login_shell(sandbox::Resident& resident);

  const store::AgentRecord record_;
  const host::StateDirs dirs_;
  const AgentDirectories directories_;
  const AgentPlaces places_;
  const Hooks hooks_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Status status_;
  std::shared_ptr<sandbox::Resident> resident_;
  bool retired_ = false;
  std::stop_source starting_;  // of the start that is on its way
  std::optional<Error> start_error_;  // of the last start

  // Of the sandbox that runs, written by its start alone.
  std::vector<std::string> plan_environment_;
  std::uint64_t processes_max_ = 0;
  std::uint64_t address_space_max_ = 0;

  // Of the thread that keeps the sandbox.
  std::optional<Recorder> recorder_;
  std::map<std::uint32_t, Recorder> process_recorders_;  // of those that run
  std::vector<sandbox::Refusal> told_;  // each once
  store::RunStart record_of_start_;

  std::mutex login_mutex_;
  std::vector<std::string> login_environment_;  // empty: not asked since the start

  std::mutex files_mutex_;
  std::shared_ptr<sandbox::Files> files_;
  std::weak_ptr<sandbox::Resident> files_of_;  // whose files they are
};

}  // namespace hutch::service
