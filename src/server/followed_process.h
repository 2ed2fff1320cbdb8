// A process of an agent's sandbox whose output any number of clients follow, each at its own pace: it goes on without
// them, and they find it again by its number.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/process.h"
#include "sandbox/resident.h"
#include "server/http_streams.h"
#include "server/key_memory.h"
#include "server/output_ring.h"
#include "server/output_shares.h"
#include "server/workers.h"
#include "service/agent_sandbox.h"
#include "sys/event.h"
#include "sys/terminal.h"

namespace hutch::server {

struct FollowedCommand {
  std::string program;
  std::vector<std::string> arguments;  // without the program
  std::map<std::string, std::string, std::less<>> variables;  // as they were asked for
  std::string cwd;
  std::string tag;
  std::string key{};  // the API key's name whose sandbox it is in; empty: the daemon's own user
  std::optional<sys::TerminalSize> terminal{};
  enum class Input { kNone, kWritten } input = Input::kNone;
  std::chrono::milliseconds timeout{0};  // 0: none
};

// Any thread may use it.
class FollowedProcess final : public KeepsOutput {
 public:
  using Clock = std::chrono::steady_clock;

  // `environment` is beside that of a login shell. It has started when this returns.
  struct Desk {
    Workers& workers;
    OutputShares& outputs;
    std::shared_ptr<KeyMemory::Held> held;  // for the command; half of it once that has ended
  };
  static Result<std::shared_ptr<FollowedProcess>> start(const Desk& desk, service::AgentSandbox& agent,
                                                        FollowedCommand command,
                                                        const std::vector<std::string>& environment);

  std::shared_ptr<const FollowedCommand> command() const;  // null once it has ended
  const std::string& tag() const { return tag_; }
  std::uint32_t pid() const { return process_->pid_inside(); }
  const sandbox::Process& process() const { return *process_; }
  bool has_ended() const { return process_->end().has_value(); }
  Kept kept() const override;  // of its output, that nobody has read
  void drop(std::uint64_t bytes) override;

  // An error where it has no input any more, or reads nothing until then.
  Status write_input(std::string_view bytes, Clock::time_point until);
  Status close_input();
  Status resize(sys::TerminalSize size);
  Status signal(int number);  // to it and all that it started

  // One client's look at its output, until it goes.
  class Follower {
   public:
    explicit Follower(std::shared_ptr<FollowedProcess> process, sys::Event event);
    ~Follower();
    Follower(const Follower&) = delete;
    Follower& operator=(const Follower&) = delete;

    int fd() const { return event_->fd(); }  // readable when there is something
    void clear() const { event_->clear(); }
    std::optional<OutputRing::Piece> take();
    // Once it has ended and everything before its end was taken.
    std::optional<sandbox::ProcessEnd> end() const;

   private:
    const std::shared_ptr<FollowedProcess> process_;
    const std::shared_ptr<const sys::Event> event_;
    OutputRing::Reader reader_;
  };
  static Result<std::unique_ptr<Follower>> follow(std::shared_ptr<FollowedProcess> process);

  FollowedProcess(FollowedCommand command, std::shared_ptr<sandbox::Resident> resident,
                  std::shared_ptr<sandbox::Process> process, http::Ends ends, UniqueFd terminal, UniqueFd ended,
                  sys::Event wake);

 private:
  void pump();  // until its end
  void pass(std::size_t index);
  void finish();
  void tell();       // with the lock held
  void wake_pump();  // likewise

  const std::string tag_;
  const std::shared_ptr<sandbox::Resident> resident_;
  const std::shared_ptr<sandbox::Process> process_;
  http::Ends ends_;  // outputs: of the pumping thread; the input: below input_mutex_
  const bool has_terminal_;

  // Held while somebody writes: nobody else's bytes come between. What is open is closed at the end, for a process is
  // remembered longer.
  std::mutex input_mutex_;
  UniqueFd terminal_;
  UniqueFd ended_;  // likewise; the pumping thread closes it, and may look at it without the lock

  mutable std::mutex mutex_;
  OutputRing ring_;
  std::map<OutputRing::Reader, std::shared_ptr<const sys::Event>> followers_;
  std::optional<sandbox::ProcessEnd> end_;
  std::shared_ptr<const FollowedCommand> command_;
  std::optional<sys::Event> wake_;  // of the pumping thread; absent once that has ended
  std::shared_ptr<void> place_;  // among those that run, until its end
  std::shared_ptr<KeyMemory::Held> held_;

  std::unique_ptr<OutputShares::Member> share_;  // told of changes without the lock; the first to go
};

}  // namespace hutch::server
