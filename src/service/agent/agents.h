// The agents of this user: their records and their sandboxes.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/state_dirs.h"
#include "secret/secrets.h"
#include "service/agent/sandbox.h"
#include "service/agent/sandbox_slots.h"
#include "service/agent/spread.h"
#include "service/agent/stops.h"
#include "service/common/process_numbers.h"
#include "service/live/revoke.h"
#include "service/questions/question_board.h"
#include "service/questions/secret_prompts.h"
#include "store/agents.h"
#include "store/artifacts.h"
#include "store/host_data.h"
#include "store/memories.h"
#include "store/settings_file.h"

namespace hutch::service {

// Any thread may use it.
class AgentService {
 public:
  static Result<std::unique_ptr<AgentService>> open(host::StateDirs dirs, AgentSandbox::Tell tell);
  AgentService(std::unique_ptr<store::Agents> agents, std::unique_ptr<store::HostData> host_data,
               std::unique_ptr<store::Artifacts> artifacts, host::StateDirs dirs, AgentSandbox::Tell tell);

  // Told of every change from then on: a state's name, "created", "changed", "removed". Before anything else is asked.
  void watch(AgentSandbox::Changed changed) { changed_ = std::move(changed); }
  // What somebody else has changed of an agent.
  void tell_change(const std::string& agent, std::string_view what, const std::string& reason = {});

  struct Shown {
    store::AgentRecord record;
    AgentSandbox::Status status;
    AgentDirectories directories;
  };

  void give_policy(const std::string& name, GivenPolicy policy);  // before it is made; until it is removed
  // What an agent of that name begins with: the settings' defaults.
  Result<store::AgentRecord> draft(std::string name) const;
  Result<store::AgentRecord> create(store::AgentRecord record);
  Result<std::vector<Shown>> list();
  Result<Shown> show(const std::string& name);

  // KEY=VALUE each, all or none; valid from the next start, those of tools and network at once. An error if the running
  // sandbox stays as it was; the settings are kept even so. `admit` judges the record before, with the lock held.
  Result<ChangedAgent> set(const std::string& name, const std::vector<std::string>& settings,
                           const AdmitChange& admit = {});

  // The agent's sandbox, started or not. One and the same as long as it runs.
  Result<std::shared_ptr<AgentSandbox>> sandbox(const std::string& name);
  Status stop(const std::string& name);
  // Ends it, and drops what it changed of its image; its home stays.
  Status reset(const std::string& name);
  void end_all();  // the daemon ends: none of them starts any more, nor another
  // What was deleted: paths of the host.
  Result<std::vector<std::string>> remove(const std::string& name);

  // The agent of a working directory, made where there is none: with its tools on, and no limit of commands.
  Result<store::AgentRecord> of_directory(const std::string& directory);
  // The agent that of_directory() has made for it. Code::kNotFound where there is none.
  Result<std::string> agent_of_directory(const std::string& directory);

  secret::Secrets& secrets() { return secrets_; }
  store::Artifacts& artifacts() { return *artifacts_; }
  SecretPrompts& secret_prompts() { return secret_prompts_; }

  // --- the host's bridge ---
  // Who serves the connections of sandboxes to the bridge. Before anything else is asked.
  void serve_bridge_by(AgentSandbox::ServeBridge serve) { serve_bridge_ = std::move(serve); }
  void end_bridges();  // whoever serves is not called any more
  store::HostData& host_data() { return *host_data_; }
  store::Memories& memories() { return memories_; }

  // --- questions ---
  QuestionBoard& board() { return board_; }
  AgentStops& stops() { return stops_; }
  // Of one agent, of all where none is named, but of none that somebody attends alone: as they were asked.
  std::vector<BoardEvent> questions(const std::string& agent) const;
  // `id` is "AGENT.NUMBER", of none that somebody attends alone; `by` is what those who come late are told.
  Status answer(const std::string& id, const wire::ControlAnswer& answer, std::string_view by);
  bool take_ended() { return ended_.exchange(false); }  // whether a sandbox has ended since it was last asked
  void policy_saved();  // the user's policies have changed: each sandbox that runs goes by them soon
  std::vector<std::string> spread_policy();  // the same, and waits for it as spread_policy_to_all() does
  struct RevokedAgent {
    std::string agent;
    egress::Gateway::Revoked revoked;
    std::size_t ended = 0;  // commands that were told to end
  };
  // Those that had been allowed it. kYes: all that was started in them ends.
  std::vector<RevokedAgent> revoke(const std::string& host, EndCommands end);

  bool has_machine() const;  // a virtual one that runs
  std::size_t busy() const;  // how many sandboxes have a process that runs
  // Whether anything at all runs in one: what a command left behind is somebody's server. Looks at every process.
  bool has_leftovers() const;

  const host::StateDirs& dirs() const { return dirs_; }
  Result<store::Settings> settings() const { return store::SettingsFile(dirs_.config).read(); }

 private:
  using Sandboxes = std::map<std::string, std::shared_ptr<AgentSandbox>>;
  Result<store::AgentRecord> change(const std::string& name, const std::vector<std::string>& settings,
                                    const AdmitChange& admit);
  Status forget_kept(const std::string& name);
  Result<store::AgentRecord> draft_of(const std::string& directory) const;
  void forget(Sandboxes::iterator known);  // with the lock held
  void sandbox_changed(const std::string& agent, std::string_view what, const std::string& reason);
  AgentSandbox::Status last_status(const std::string& name) const;
  std::vector<std::shared_ptr<AgentSandbox>> known() const;
  Status make_places(const store::AgentRecord& record) const;
  Status remove_os_user(const store::AgentRecord& record) const;
  Result<std::vector<std::string>> remove_files(const store::AgentRecord& agent) const;

  std::unique_ptr<store::Agents> agents_;
  std::unique_ptr<store::HostData> host_data_;
  std::unique_ptr<store::Artifacts> artifacts_;
  const host::StateDirs dirs_;
  const AgentSandbox::Tell tell_;
  AgentSandbox::Changed changed_;
  std::atomic<bool> ended_ = false;
  secret::Secrets secrets_{secret::sealed_files(dirs_.data + "/secrets", secret::secret_service())};
  SecretPrompts secret_prompts_;
  store::Memories memories_{dirs_.data + "/memory"};
  AgentSandbox::ServeBridge serve_bridge_;
  QuestionBoard board_;  // outlives the sandboxes
  ProcessNumbers numbers_{*agents_};
  SandboxSlots slots_;
  AgentStops stops_;
  mutable std::mutex os_users_mutex_;  // useradd(8) does not wait long for another
  std::mutex settings_mutex_;  // held while a record is changed
  mutable std::mutex mutex_;
  Sandboxes sandboxes_;
  bool is_over_ = false;
  std::map<std::string, GivenPolicy> policies_;
  std::map<std::string, std::uint64_t> asked_;  // the last question of those that were forgotten
};

}  // namespace hutch::service
