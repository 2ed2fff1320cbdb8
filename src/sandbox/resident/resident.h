// A sandbox that stays: one thread keeps it, any thread has commands run in it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
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
#include "base/unique_fd.h"
#include "sandbox/io/process_request.h"
#include "sandbox/io/resources.h"
#include "sandbox/resident/process.h"
#include "sandbox/resident/resident_process.h"
#include "sandbox/resident/resident_settings.h"
#include "sandbox/run/access_desk.h"
#include "sys/event.h"
#include "sys/process/process.h"
#include "wire/message.h"

namespace hutch::sandbox {

// How many processes that have ended are remembered: of those whose output is kept, and of the others.
inline constexpr std::size_t kEndedProcessesMax = 64;
inline constexpr std::size_t kEndedBytesMax = 64 << 20;  // of what is kept of their output
// Each that runs takes descriptors of whoever keeps the sandbox.
inline constexpr std::size_t kRunningProcessesMax = 1024;
inline constexpr std::size_t kToldRefusalsMax = 16;  // that a process is told of at its end

class Resident {
 public:
  using Parts = ResidentParts;
  using Settings = ResidentSettings;

  // Waits until the guest has applied its plan. The settings' functions have to live as long.
  static Result<std::unique_ptr<Resident>> start(Settings settings);
  explicit Resident(Settings settings) : settings_(std::move(settings)) {}
  ~Resident() { stop(); }

  // The process has started, or ended as one that could not be executed. Its output is kept.
  Result<std::shared_ptr<Process>> spawn(ProcessRequest request, Input input);
  Result<std::shared_ptr<Process>> spawn(ProcessRequest request, GivenStreams streams);

  std::shared_ptr<Process> find(const std::string& id) const;  // null: none
  std::vector<std::shared_ptr<Process>> list() const;  // in the order of their starts

  Status signal(const Process& process, int number, wire::SignalTarget target);
  Status signal_all(int number);  // to everything that runs in it, what commands left behind included
  // TERM to all that it started, a grace, then KILL. Returns at once.
  void end(const std::shared_ptr<Process>& process, EndedBy reason);

  Result<UniqueFd> serve_files();  // a stream to a new server of the sandbox's files (sandbox/run/files.h)
  // Call these around each change that a file server is asked for.
  void begin_change(Changes changes = Changes::kSurely);
  void end_change();
  // hutch gave up on a file server, which may still carry out its request.
  void doubt_file_servers();

  // Its own root without what is mounted in it: for a sandbox beside it that is to have the same image.
  Result<UniqueFd> hand_root();
  // For a guest that is to join it.
  Result<JoinedNamespaces> hand_namespaces();

  // Has it done by the thread that keeps the sandbox, soon; never where nobody is asked anything, or it has ended.
  void on_keeping_thread(std::function<void()> work);

  bool is_alive() const;
  bool is_busy() const;  // whether a process that was asked for runs
  bool has_leftovers();  // whether anything at all runs in it: what such a process left behind
  Usage usage();  // empty once the sandbox has ended
  Process::Clock::time_point started_at() const { return started_at_; }
  void stop();  // ends everything in it and waits until it is gone; again is fine

 private:
  using Tracked = TrackedProcess;
  using Pipe = KeptPipe;
  struct FileServer {
    UniqueFd stream;
    std::uint32_t pid = 0;  // as the sandbox counts processes
  };
  void keep();
  Status keep_until_stopped();
  bool is_stopped();
  Status turn();
  std::optional<std::chrono::milliseconds> time_left();
  void read_pipes(const std::vector<pollfd>& wait, std::size_t first);
  bool drain(Pipe& pipe);  // false at its end
  Status serve_network();
  Status serve_questions();
  Status take_messages();
  Status take(const wire::Frame& frame);
  void take_started(const wire::Started& started);
  void take_terminal(Tracked& of, UniqueFd master);  // with the lock held
  void take_end(std::uint32_t number, ProcessEnd end);
  void tell_refusal(const Refusal& refusal);
  void check_deadlines();
  void finish(std::optional<Error> reason);
  Status await_heard();
  template <class Handed>
  Result<Handed> have_handed(std::function<Result<Handed>(AccessDesk& desk)> hand);
  Result<std::shared_ptr<Process>> launch(ProcessRequest request, KeptStreams kept);
  Result<std::shared_ptr<Process>> send_exec(ProcessRequest request, KeptStreams kept);
  Others others();
  std::vector<sys::ChildrenThen> children_of_own() const;
  void begin_with_own();
  Others change_ended();  // kRun: others may still change files
  bool nothing_but(std::size_t running) const;  // so many commands are under way
  void settle_changes();
  void park(std::size_t running);
  void go_on_for_change();
  void park_after_change();
  void before_first_change();
  void take_as_own(const FileServer& server);
  void tell_of_launches();
  void look_for_others();
  Status send(const wire::ToGuest& message, std::span<const int> descriptors = {});
  void want_stop();
  void remember(std::uint32_t number, ProcessRequest::Shown shown);  // it has ended
  void wake();
  const Process::Clock::time_point started_at_ = Process::Clock::now();
  Settings settings_;
  const Surroundings surroundings_{[this] { return others(); }, [this] { return is_parked_.load(); }};
  std::optional<Parts> parts_;  // the keeping thread's, but for sending
  std::optional<std::vector<ProcessStart>> own_;  // the running processes except for commands; guarded by send_mutex_
  std::optional<std::vector<ProcessStart>> first_;  // the same before any file server; guarded by send_mutex_
  std::vector<sys::ChildrenThen> as_own_;  // while they are the same only own processes run; guarded by send_mutex_
  std::uint64_t launches_ = 0;
  std::uint64_t launches_told_ = 0;  // to whoever says which files are seen
  std::atomic<bool> has_others_ = false;
  std::atomic<bool> is_parked_ = false;  // the supervisor
  std::atomic<bool> wants_to_park_ = false;
  std::atomic<bool> will_park_ = false;  // at `next_park_`
  std::atomic<bool> wants_to_go_on_ = false;
  std::atomic<int> changing_ = 0;  // changes by file servers, and launches that are not among running_ yet
  Process::Clock::time_point next_park_{};  // only for the thread that keeps the sandbox
  Process::Clock::time_point next_look_{};  // at these processes; only for the thread that keeps the sandbox
  std::shared_ptr<const sys::Event> wake_;
  std::optional<AccessDesk> access_;  // the keeping thread's
  std::vector<Pipe> pipes_;  // likewise
  std::mutex send_mutex_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  enum class State { kStarting, kReady, kOver } state_ = State::kStarting;
  std::optional<Error> error_;
  bool stop_wanted_ = false;
  bool is_supervised_ = false;  // access_ is there
  std::optional<std::chrono::steady_clock::time_point> leaving_until_;  // what runs has been told
  std::uint32_t last_number_ = 0;
  std::map<std::uint32_t, Tracked> running_;
  std::deque<std::shared_ptr<Process>> ended_;  // the last ended processes, in the order of their ends
  std::optional<Error> stuck_;  // why no more can be sent
  std::vector<Pipe> new_pipes_;
  std::vector<std::function<void()>> work_;
  unsigned file_servers_asked_ = 0;
  std::vector<FileServer> file_servers_;
  std::mutex join_mutex_;
  std::thread thread_;
};

}  // namespace hutch::sandbox
