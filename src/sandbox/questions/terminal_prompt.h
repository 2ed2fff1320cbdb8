// The prompt on this process's terminal: drawn over what is there, answered by keys, and gone again.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "approval/desk.h"
#include "approval/keys.h"
#include "approval/prompt.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/questions/screen_watch.h"
#include "sys/terminal.h"

namespace hutch::sandbox {

class TerminalPrompt {
 public:
  // Null where this process has no terminal. `screen` is what the command does to it; it has to live as long.
  static std::unique_ptr<TerminalPrompt> open(const ScreenWatch* screen);

  // Whether open() would find one, and its keys are this process's.
  static bool may_ask();

  // `terminal` must be non-blocking.
  explicit TerminalPrompt(UniqueFd terminal, const ScreenWatch* screen)
      : terminal_(std::move(terminal)), screen_(screen) {}
  ~TerminalPrompt();

  // A process in the background cannot ask: the terminal's keys are another's.
  bool is_attended() const { return sys::is_foreground(terminal_.get()); }

  struct Shown {
    approval::Question question;
    approval::Place place;
    std::size_t others = 0;
    approval::Moment end;
  };
  // What was typed before counts for nothing.
  Status show(Shown shown);
  bool is_shown() const { return prompt_.has_value(); }
  // How many wait behind, and a word about why the last answer did not do.
  void tell_others(std::size_t others) { shown_.others = others; }
  void complain(std::string message);
  Status draw();
  // The screen as it was.
  void hide();

  int fd() const { return is_shown() ? terminal_.get() : -1; }
  // Reads what there is; the decision, once there is one. Nothing to read after a pause is a key as well: Esc.
  Result<std::optional<approval::Decided>> read();
  Result<std::optional<approval::Decided>> settle();
  std::optional<std::chrono::milliseconds> time_left() const;

 private:
  Result<std::optional<approval::Decided>> press(const std::vector<approval::Key>& keys);
  Status write(std::string_view text);
  Status flush();

  UniqueFd terminal_;
  const ScreenWatch* screen_;
  Shown shown_;
  std::string complaint_;
  std::string held_;  // written, but the terminal has no room: nobody reads it
  std::optional<approval::Prompt> prompt_;
  std::optional<sys::RawMode> raw_;
  approval::KeyReader keys_;
  bool own_screen_ = false;  // the alternate one, unless the command has that
};

}  // namespace hutch::sandbox
