// One agent's sandbox and its life: it starts when it is needed, once however many ask, and ends when told.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "host/state_dirs.h"
#include "sandbox/resident/resident.h"
#include "service/agent/bridge.h"
#include "service/agent/network.h"
#include "service/agent/places.h"
#include "service/agent/plugin_sandbox.h"
#include "service/common/given_policy.h"
#include "service/common/given_secrets.h"
#include "service/common/login_environment.h"
#include "service/common/recorder.h"
#include "service/live/installation.h"
#include "service/live/kept_sandbox.h"
#include "store/agent_record.h"

namespace hutch::service {

// What Changed tells besides the names of states: the tools the agent may call, and what it has handed out.
inline constexpr std::string_view kToolsChanged = "tools";
inline constexpr std::string_view kArtifactsChanged = "artifacts";

inline constexpr std::string_view kRootHome = "/root";
inline constexpr std::string_view kUsualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// Any thread may use it.
class AgentSandbox {
 public:
  using Tell = std::function<void(const std::string& line)>;
  // What has changed: a state's name, and the reason of an error. Called with a lock held: it does not ask back.
  using Changed = std::function<void(const std::string& agent, std::string_view what, const std::string& reason)>;
  // `plugin` is whose processes talk, where the host knows them for a plugin's; null: the agent's.
  using ServeBridge = std::function<void(AgentSandbox& agent, const PluginRights* plugin, UniqueFd socket)>;
  struct Hooks {
    Tell tell;
    Changed changed{};
    // For a start: an error where as many sandboxes as may be run already. Given back by what `changed` tells.
    std::function<hutch::Status(const std::string& agent, std::size_t at_most)> take_slot{};
    // A number for each process: an id that is another agent's, or of an earlier start, is nobody's here.
    std::function<std::uint32_t()> next_number{};
    std::unique_ptr<sandbox::Audience> audience{};  // who answers its questions; null: nobody
    std::function<void()> saved{};                  // an answer changed a policy
    std::uint64_t asked_before = 0;                 // the last question of earlier sandboxes of the agent
    secret::Secrets* secrets = nullptr;             // null: it has none
    ServeBridge serve_bridge{};  // serves one connection to the host's bridge until that ends; null: it has none
    GivenPolicy policy{};
  };
  AgentSandbox(store::AgentRecord record, host::StateDirs dirs, Hooks hooks);
  ~AgentSandbox() { stop(After::kNever); }  // what runs uses what is below it

  const store::AgentRecord& record() const { return record_; }
  // Of its tools; what is set of them holds at once, and of its network once the policy is reloaded.
  store::AutonomousExec autonomous_exec() const;
  void set_now(const store::AgentRecord& record);
  store::AgentRecord next() const;  // the record as it is set, for the next start
  void tell_artifacts_changed() const;
  GivenSecrets& secrets() { return secrets_; }
  void used(store::Service service) { kept_.used(std::move(service)); }  // of the host's; into its record
  void end_bridge();
  std::string host_program() const;  // hutch-host, as the sandbox sees it; "" where there is none
  const tool::Layout& layout() const { return places_.layout; }
  std::vector<WatchedPlace> watched() const { return watched_places(record_, directories_, places_.layout); }
  KeptSandbox::Terms terms() const { return kept_.terms(); }  // as KeptSandbox has them; what follows likewise
  Result<std::shared_ptr<sandbox::Resident>> resident() { return kept_.resident(); }
  Result<std::shared_ptr<sandbox::Resident>> resident(const std::stop_token& gone) { return kept_.resident(gone); }
  using Ready = KeptSandbox::Ready;
  Result<Ready> await(std::chrono::steady_clock::time_point until, const std::stop_token& stop) {
    return kept_.await(until, stop);
  }
  std::shared_ptr<sandbox::Resident> running() const { return kept_.running(); }
  using After = KeptSandbox::After;
  void stop(After after = After::kAgain);
  bool retire();
  std::uint64_t last_question() const { return kept_.last_question(); }
  using Status = KeptSandbox::Status;
  Status status() const { return kept_.status(); }
  bool is_busy() const;
  bool has_leftovers() const;
  Result<wire::FileReply> file(const wire::FileRequest& request) { return kept_.file(request); }
  std::vector<wire::ControlQuestion> questions() const { return kept_.questions(); }
  hutch::Status answer(const wire::ControlAnswer& answer, std::string_view by) { return kept_.answer(answer, by); }
  using Notes = KeptSandbox::Notes;
  std::vector<std::future<Notes>> reload_policy();
  egress::Gateway::Revoked revoke(const std::string& host) { return kept_.revoke(host); }
  std::optional<sandbox::Resources> resources() { return kept_.resources(directories_.home); }
  // A sandbox beside it, in which commands are root of the agent's image and see nothing of the host. One at a time;
  // waits so long for its turn. Code::kUnsupported where the agent has no image. It ends with the answer's owner.
  Result<Installation> begin_install(std::chrono::milliseconds patience);
  // Keeps what was installed: in a container or a VM by a new start, undone if that fails. Code::kConflict if busy.
  hutch::Status keep_installed();
  // User 0 of the image, beside the agent's own processes in the sandbox that runs: with the rights of a package
  // manager, and none to change a file of the host's. Code::kUnsupported, with the remedy, where there is none.
  hutch::Status check_root() const;  // as far as its record says
  Result<std::shared_ptr<sandbox::Resident>> root();
  Result<wire::FileReply> file_of_root(const wire::FileRequest& request);
  // Once root() was there. Of the agent's own environment it has nothing; relative paths begin at /root.
  sandbox::ProcessRequest request_of_root(std::vector<std::string> arguments, const std::string& cwd,
                                          const std::vector<std::string>& environment) const;
  hutch::Status signal_all(int number);  // to everything that runs in it
  tool::Users users() const;  // of its image
  Result<std::vector<std::string>> recipe_hosts();  // of its system's package managers, before the agent ran in it
  bool registries_open(const std::vector<std::pair<std::string, int>>& hosts) const;  // any of them, to a set-up
  // The sandbox of a plugin's own. Code::kUnsupported where this agent's backend has none.
  Result<std::shared_ptr<PluginSandbox>> plugin_sandbox(const PluginRights& rights);
  hutch::Status check_plugin_sandbox() const;
  void end_plugin_sandbox(const std::string& plugin) { plugins_.end(plugin); }
  std::vector<std::string> plugin_environment(PluginSandbox& sandbox) const;
  // What a login shell of it has, and then `more`; asked once a start, and again when the shell's files have changed.
  Result<std::vector<std::string>> environment(const std::vector<std::string>& more);
  Result<sandbox::LogFile> make_log(const std::string& path) const;  // a new file of its home, by its name there
  Result<std::string> status_line() const;  // of the policy that its next start would have
  // A command of it, with the sandbox's limits and its place of work.
  Result<sandbox::ProcessRequest> request(std::vector<std::string> arguments, const std::string& cwd,
                                          const std::vector<std::string>& environment);

 private:
  using Stop = std::stop_token;  // of the start
  Result<Judged> judge(const Stop& stop);
  Result<Judged> judge_install(const Stop& stop);
  Result<PlaceRequest> place_now() const;
  KeptSandboxSettings root_settings(const Hooks& hooks);
  Result<Judged> judge_root(const Stop& stop);
  Result<Judged> judge_plugin(PluginSandbox& sandbox, const Stop& stop);
  void stop_plugins();
  KeptSandboxSettings plugin_settings(PluginSandbox& sandbox);
  hutch::Status find_package_hosts();
  Result<Judged> judge_for(PlaceRequest place, Residence residence, plan::FileQuestions questions, const Stop& stop);
  Result<std::vector<std::string>> ask_login_shell(sandbox::Resident& resident);
  const store::AgentRecord record_;
  const std::shared_ptr<AgentNetworkNow> network_now_;
  const host::StateDirs dirs_;
  const GivenPolicy given_policy_;
  const std::function<hutch::Status(const std::string& agent, std::size_t at_most)> take_slot_;
  const AgentDirectories directories_;
  AgentPlaces places_;
  const std::unique_ptr<sandbox::Audience> audience_;
  GivenSecrets secrets_;
  const Changed changed_;
  const Tell tell_;
  mutable std::mutex next_mutex_;
  store::AgentRecord next_;
  LoginEnvironment login_;
  host::SharedCgroup limits_;  // of all its sandboxes
  KeptSandbox kept_;
  std::timed_mutex install_mutex_;
  std::vector<std::string> package_hosts_;  // of an engine's image; of whoever has the turn to install
  KeptSandbox installer_;  // with the root of kept_, as long as that runs; one of its own where kept_ starts anew
  KeptSandbox root_;  // in the namespaces of kept_, as long as that runs
  const ServeBridge serve_bridge_;
  const std::function<std::uint32_t()> next_number_;
  AgentBridge bridge_;  // whoever serves it uses all of the above
  PluginSandboxes plugins_;  // likewise
};

}  // namespace hutch::service
