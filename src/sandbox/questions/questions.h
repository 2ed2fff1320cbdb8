// The questions of one sandbox, and whoever answers them: the terminal, the control descriptor, clients of a socket.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "approval/desk.h"
#include "base/result.h"
#include "sandbox/questions/audience.h"
#include "sandbox/questions/terminal_prompt.h"
#include "wire/control.h"

namespace hutch::sandbox {

// One thread asks and steps; any thread answers and lists.
class Questions {
 public:
  struct Settings {
    approval::DeskLimits limits;
    // Where the command runs, as the user's policies have it now.
    std::function<approval::Place()> place;
    std::function<Status(const approval::Save&)> save;
    std::function<void(const approval::Desk::Closed&)> record;  // each that was answered, or was not in time
    // Whether it was allowed already, by an answer that was given elsewhere.
    std::function<bool(const approval::Question&)> is_granted{};
    std::uint64_t after = 0;  // the first id is beyond it
  };
  // The terminal may be absent.
  Questions(Settings settings, std::unique_ptr<TerminalPrompt> terminal);
  // They hear of what is asked from here on, and have to live as long.
  void add(Audience& audience) { audience_.push_back(&audience); }
  // Has step() called soon, when another thread has answered. Before anything is asked.
  void wake_by(std::function<void()> wake) { wake_ = std::move(wake); }

  // Whether there is anybody to ask now.
  bool is_attended() const;

  // Whether asking can come to anything now.
  bool may_allow() const { return settings_.is_granted || is_attended(); }

  // Called once, perhaps before ask() returns.
  using Settle = std::function<void(const approval::Effect& effect)>;
  void ask(const approval::Question& question, Settle settle);

  // `by` is what those who come late are told. An error says what can be answered, or who was faster.
  Status answer(const wire::ControlAnswer& answer, std::string_view by);
  // The oldest first.
  std::vector<wire::ControlQuestion> open() const;
  std::uint64_t last_id() const;

  // While the prompt is on the screen nothing else writes there, and no time passes for the command.
  bool is_prompting() const { return terminal_ && terminal_->is_shown(); }
  int terminal_fd() const { return terminal_ ? terminal_->fd() : -1; }
  std::optional<std::chrono::milliseconds> time_left() const;
  enum class Keys { kNone, kReady };
  Status step(Keys keys);
  // The prompt leaves the screen for a while, the questions stay; step() shows it again.
  void leave_screen();
  void resized();
  // Nobody answers any more.
  void close(std::string_view why);

 private:
  struct Over {
    approval::Desk::Closed closed;
    approval::Effect effect;
  };
  Status decide(std::uint64_t id, const approval::Decided& decided, std::string_view by);
  void settle_all();
  void settle(const Over& over);
  Status press_keys(Keys keys, approval::Moment now);
  Status show_next();

  const Settings settings_;
  std::vector<Audience*> audience_;
  std::function<void()> wake_;
  std::unique_ptr<TerminalPrompt> terminal_;
  std::map<std::uint64_t, std::vector<Settle>> waiting_;
  std::uint64_t shown_ = 0;  // the question on the screen
  approval::Moment drawn_at_{};

  std::mutex answer_mutex_;  // held while an answer is saved: no other begins
  mutable std::mutex mutex_;
  approval::Desk desk_;
  std::vector<Over> over_;  // answered, and not told yet
};

}  // namespace hutch::sandbox
