// The questions of one sandbox, and whoever answers them: the terminal and the control descriptor.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "approval/desk.h"
#include "base/result.h"
#include "sandbox/control.h"
#include "sandbox/terminal_prompt.h"

namespace hutch::sandbox {

class Questions {
 public:
  struct Settings {
    approval::DeskLimits limits;
    // Where the command runs, as the user's policies have it now.
    std::function<approval::Place()> place;
    std::function<Status(const approval::Save&)> save;
    std::function<void(const approval::Desk::Closed&)> record;  // each that was answered, or was not in time
  };
  // Each of the two may be absent.
  Questions(Settings settings, Control* control, std::unique_ptr<TerminalPrompt> terminal);

  // Whether there is anybody to ask now.
  bool is_attended() const;
  // Whether there may be in the course of this run.
  bool may_be_attended() const { return control_ != nullptr || terminal_ != nullptr; }

  // Called once, perhaps before ask() returns.
  using Settle = std::function<void(const approval::Effect& effect)>;
  void ask(const approval::Question& question, Settle settle);

  // The control descriptor's.
  Status answer(const wire::ControlAnswer& answer);

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
  Status decide(std::uint64_t id, const approval::Decided& decided, std::string_view by);
  void settle(const approval::Desk::Closed& closed, const approval::Effect& effect);
  Status show_next();

  Settings settings_;
  Control* control_;
  std::unique_ptr<TerminalPrompt> terminal_;
  approval::Desk desk_;
  std::map<std::uint64_t, std::vector<Settle>> waiting_;
  std::uint64_t shown_ = 0;  // the question on the screen
  approval::Moment drawn_at_{};
};

}  // namespace hutch::sandbox
