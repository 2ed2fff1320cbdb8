// A process of an agent's sandbox whose output any number of clients follow, each at its own pace: it goes on without
// them, and they find it again by its number.
#pragma once

#include <poll.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/resident/process.h"
#include "sandbox/resident/resident.h"
#include "server/e2b/followed_command.h"
#include "server/e2b/key_memory.h"
#include "server/e2b/output_ring.h"
#include "server/e2b/output_shares.h"
#include "server/protocol/http_streams.h"
#include "server/protocol/workers.h"
#include "service/agent/sandbox.h"
#include "sys/event.h"
#include "sys/terminal.h"

namespace hutch::server {

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
  class Reading;
  using Started = std::pair<std::shared_ptr<FollowedProcess>, std::shared_ptr<Reading>>;
  static Result<Started> start(const Desk& desk, service::AgentSandbox& agent, FollowedCommand command,
                               const std::vector<std::string>& environment);

  // Who reads what it writes: whoever holds this, and from its end on a thread of its own. So a short command that only
  // its starter follows wakes a thread less. Of one thread.
  class Reading {
   public:
    Reading(std::shared_ptr<FollowedProcess> process, Workers& workers)
        : process_(std::move(process)), workers_(workers) {}
    ~Reading();
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

    // Waits until something was read, it has ended, or one of `others` (at most kOthersMax) is ready. 0: for too long.
    Result<int> poll(std::span<pollfd> others, std::chrono::milliseconds at_most);
    static constexpr std::size_t kOthersMax = 2;
    // Its own thread reads from here on: false, and nothing changes, where there is none to be had.
    bool leave();
    // Whether others follow it, who would wait for the holder's client, or there is more than that one takes at once.
    bool has_to_go() const;

   private:
    const std::shared_ptr<FollowedProcess> process_;
    Workers& workers_;
    bool over_ = false;  // it has ended, or is left
  };

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
  struct Turn {
    int ready = 0;  // 0: the time was over
    bool ended = false;
  };
  // One wait for output, for its end and for `others`, and what that found is read.
  Result<Turn> turn(std::span<pollfd> others, std::optional<std::chrono::milliseconds> at_most);
  void pass(std::size_t index);
  void finish();
  void tell();  // with the lock held
  void wake_pump();  // likewise

  const std::string tag_;
  const std::shared_ptr<sandbox::Resident> resident_;
  const std::shared_ptr<sandbox::Process> process_;
  http::Ends ends_;  // outputs: of the reading thread; the input: below input_mutex_
  const bool has_terminal_;

  // Held while somebody writes: nobody else's bytes come between. What is open is closed at the end, for a process is
  // remembered longer.
  std::mutex input_mutex_;
  UniqueFd terminal_;
  UniqueFd ended_;  // likewise; the reading thread closes it, and may look at it without the lock

  mutable std::mutex mutex_;
  OutputRing ring_;
  std::map<OutputRing::Reader, std::shared_ptr<const sys::Event>> followers_;
  std::optional<sandbox::ProcessEnd> end_;
  std::shared_ptr<const FollowedCommand> command_;
  std::optional<sys::Event> wake_;  // of the reading thread; absent once that has ended
  std::shared_ptr<void> place_;  // among those that run, until its end
  std::shared_ptr<KeyMemory::Held> held_;

  std::unique_ptr<OutputShares::Member> share_;  // told of changes without the lock; the first to go
};

}  // namespace hutch::server
