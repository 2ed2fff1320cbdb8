// A sandbox that stays, and its life: it starts when it is needed, once however many ask, and ends when told.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"
#include "plan/facts.h"
#include "sandbox/io/resources.h"
#include "sandbox/resident/resident.h"
#include "sandbox/run/files.h"
#include "service/git/watch.h"
#include "service/live/kept_sandbox_settings.h"
#include "service/live/live_policy.h"
#include "store/machine_settings.h"

namespace hutch::service {

enum class LifeState { kPending, kStarting, kRunning, kStopping, kStopped, kError };
std::string_view name_of(LifeState state);

// Any thread may use it.
class KeptSandbox {
 public:
  using Settings = KeptSandboxSettings;
  explicit KeptSandbox(Settings settings)
      : settings_(std::move(settings)), asked_before_(settings_.asked_before), record_(settings_.record) {}
  ~KeptSandbox();

  // The running sandbox; starts it where it is not. Whoever waits for another's start gets what that got.
  Result<std::shared_ptr<sandbox::Resident>> resident();
  // The same for a client that may go: a start that nobody else waits for ends with it. Code::kConflict then.
  Result<std::shared_ptr<sandbox::Resident>> resident(const std::stop_token& gone);
  // The same, but waits no longer than this; the start goes on. An error where it fails.
  enum class Ready { kYes, kNotYet };
  Result<Ready> await(std::chrono::steady_clock::time_point until, const std::stop_token& stop);
  std::shared_ptr<sandbox::Resident> running() const;  // null where it does not run
  enum class After { kAgain, kNever };  // kNever: it is not started any more, by nobody
  void stop(After after = After::kAgain);
  // The same where it does not run; false, and nothing is done, where it does.
  bool retire();

  struct Status {
    LifeState state = LifeState::kPending;
    std::string reason;   // of kError
    std::string backend;  // that it runs on, or ran on last
    // Of the last start; nothing where that was no machine's.
    std::shared_ptr<const sandbox::Console> console{};
    std::optional<store::MachineSettings> machine{};
  };
  Status status() const;
  bool is_busy() const;        // whether a process that was asked for runs in it
  bool has_leftovers() const;  // whether anything does

  // --- its questions ---

  std::vector<wire::ControlQuestion> questions() const;
  std::uint64_t last_question() const;  // the number of the last one; 0 before the first
  hutch::Status answer(const wire::ControlAnswer& answer, std::string_view by);
  // The user's policies have changed. What of it does not hold there comes once it was tried; failures are recorded.
  using Notes = ReloadNotes;
  std::future<Notes> reload_policy();
  // What answers allowed for that host, at every port where none is named, holds no longer, and its connections end.
  egress::Gateway::Revoked revoke(const std::string& host);

  void used(store::Service service) { record_.used(std::move(service)); }  // of the host's; into the record

  // By the sandbox's own file server; a FileFailed of it comes as the error.
  Result<wire::FileReply> file(const wire::FileRequest& request);

  // What is changed of the running one's root becomes an image of its engine. Code::kConflict where it does not run,
  // kUnsupported where it is no engine's.
  hutch::Status keep_root(const backend::KeptRoot& kept);

  // What the last start came to: its plan's own part of every command.
  struct Terms {
    std::vector<std::string> environment;
    std::string cwd;
    std::uint64_t processes_max = 0;
    std::uint64_t address_space_max = 0;
    plan::ResourceLimits limits;
    plan::IdMap::Kind ids = plan::IdMap::Kind::kOwn;
    std::vector<std::string> own_places{};  // tmpfs of the plan's that anybody in there may write in
    std::string no_repository{};  // why git finds none in its directory; empty: git finds one, or there is none
    bool opens_tls = false;  // so that its programs trust the authority by which hutch does
  };
  Terms terms() const;

  // Absent where it does not run. `disk` is a directory of the host's whose size counts.
  std::optional<sandbox::Resources> resources(const std::string& disk);

 private:
  void set_state(LifeState state, std::string reason = {});  // with the lock held
  Result<Ready> await_starter(std::unique_lock<std::mutex>& lock, std::chrono::steady_clock::time_point until,
                              const std::stop_token& stop);
  hutch::Status begin_starter();  // with the lock held
  Result<std::shared_ptr<sandbox::Resident>> started_or_start();
  Result<std::shared_ptr<sandbox::Resident>> start();
  Result<sandbox::Resident::Parts> begin(std::shared_ptr<GitWatch>& git);  // null: nothing is isolated
  void ended(const std::optional<Error>& reason);
  Result<std::unique_ptr<sandbox::Network>> make_network(Judged& judged);
  std::shared_ptr<sandbox::Questions> make_questions(const Judged& judged);
  void make_sockets(const Judged& judged);
  hutch::Status ask_for_none(const Judged& judged);
  void answered(const approval::Desk::Closed& closed);
  Notes reload_now(sandbox::Questions* questions, const LivePolicy& policy);

  const Settings settings_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Status status_;
  std::shared_ptr<sandbox::Resident> resident_;
  bool retired_ = false;
  std::stop_source starting_;  // of the start that is on its way
  std::optional<Error> start_error_;  // of the last start
  unsigned stops_ = 0;                // how often it was told to stop
  Terms terms_;                       // written by a start alone
  std::function<hutch::Status(const backend::KeptRoot&)> keep_root_;  // of the last start
  std::shared_ptr<sandbox::Questions> questions_;  // of the last start
  std::shared_ptr<const LivePolicy> policy_;       // likewise
  bool is_outdated_ = false;  // the policy was to be reloaded after the last start had begun to be judged
  std::uint64_t asked_before_;                     // the last question of earlier starts
  bool none_allowed_ = false;                      // by an answer for all starts; the keeping thread's

  ResidentRecord record_;
  sandbox::Network* network_ = nullptr;  // likewise
  plan::NetworkKind network_kind_ = plan::NetworkKind::kGateway;  // likewise
  std::unique_ptr<HostSockets> sockets_;  // likewise
  std::unique_ptr<HostFiles> host_files_;  // likewise

  std::mutex files_mutex_;
  std::shared_ptr<sandbox::Files> files_;
  std::weak_ptr<sandbox::Resident> files_of_;  // whose files they are

  std::mutex meter_mutex_;
  sandbox::CpuMeter meter_;
  std::weak_ptr<sandbox::Resident> meter_of_;

  // Of those who do not wait for a start's end. Last: it ends before what it uses.
  enum class Starter { kIdle, kAtWork } starter_state_ = Starter::kIdle;
  std::optional<Error> starter_error_;  // of its last start
  std::size_t waiting_ = 0;             // for a start, with those on whose thread it is
  bool goes_on_ = false;                // that start, whoever leaves: somebody is to find it done
  bool is_left_ = false;                // it was ended, since nobody waited for it
  std::thread starter_;
};

}  // namespace hutch::service
