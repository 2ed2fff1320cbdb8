// One command of a sandbox that stays: its output as far as it is kept, its input, its end.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/io/outcome.h"
#include "sandbox/io/process_request.h"
#include "sys/terminal.h"

namespace hutch::sandbox {

// Of one process's log file; what it writes after that is in the file no more.
inline constexpr std::uint64_t kLogBytesMax = 64 << 20;

struct ProcessEnd {
  int exit_code = 125;  // as a shell shows it: 124 timeout, 126, 127, 128+n
  int signal = 0;       // that ended it, 0 for none
  EndedBy ended_by = EndedBy::kItself;
  std::chrono::milliseconds duration{0};
  std::string reason;  // why it was not executed, or what ended it besides itself; else empty
  Code code = Code::kSystem;  // of a reason why it was not started
  // What the sandbox was refused while it ran; untrusted text, each once.
  std::vector<std::string> refusals{};
  std::vector<std::pair<std::string, int>>
      refused_hosts{};  // the hosts among them; the port is 0 if only the name was asked for
};

enum class OutputStream { kOutput, kError };

// Any thread may ask. The sandbox's own thread alone tells it what happened.
class Process {
 public:
  using Clock = std::chrono::steady_clock;
  enum class State { kStarting, kRunning, kEnded };

  Process(std::uint32_t number, std::vector<std::string> arguments)
      : number_(number), arguments_(std::move(arguments)), started_at_(Clock::now()) {}

  std::uint32_t number() const { return number_; }
  // What it is called by: means something to its own sandbox alone.
  std::string id() const { return std::to_string(number_); }
  const std::vector<std::string>& arguments() const { return arguments_; }
  std::chrono::system_clock::time_point started() const { return started_; }

  State state() const;
  std::uint32_t pid_inside() const;
  // Absent while it runs.
  std::optional<ProcessEnd> end() const;
  // Waits; absent when it has not ended by then.
  std::optional<ProcessEnd> wait(Clock::time_point until) const;
  // Waits until it runs or has ended, whichever is first; false when neither is so by then.
  bool wait_for_start(Clock::time_point until) const;

  Capture captured(OutputStream stream) const;
  // What is kept from `offset` on; waits until there is something, or the stream's or the process's end.
  struct Read {
    Capture::Piece piece;
    bool ended = false;  // no more will come
  };
  Read read(OutputStream stream, std::uint64_t offset, Clock::time_point until) const;

  // A descriptor that is readable once it has ended, or, with kChange, after every change until then.
  enum class Notice { kChange, kEnd };
  Result<UniqueFd> notice(Notice notice) const;
  static void clear(int notice);
  static void await(int notice, std::chrono::milliseconds at_most);  // and clears it

  // Its stdin, where that was asked for. An error when it was closed, or the process does not read for that long.
  Status write_input(std::string_view bytes, Clock::time_point until);
  void close_input();

  // Whether it has a terminal whose output is kept: what is written to its input is typed there.
  bool has_terminal() const;
  enum class Redraw { kIfChanged, kAlways };
  Status resize_terminal(sys::TerminalSize size, Redraw redraw);

  // --- for the sandbox ---

  void keep_input(UniqueFd pipe);
  void keep_terminal(UniqueFd master);
  // The master of its terminal, where it has one that is not kept; once.
  UniqueFd take_terminal();
  void keeps_terminal();  // it is to have one whose output is kept
  void started_as(std::uint32_t pid);
  void opened(OutputStream stream);  // it is kept
  bool keeps_output() const;
  std::size_t bytes_kept() const;
  void keep_log(LogFile log);
  std::string log_name() const;  // empty: there is none
  void wrote(OutputStream stream, std::string_view bytes);
  void closed(OutputStream stream);
  void ended(ProcessEnd end);
  // Who ends it, and that it was: the first reason holds.
  bool begin_end(EndedBy reason);
  EndedBy ending() const;

  Clock::time_point started_at() const { return started_at_; }

 private:
  void tell_change();  // with the lock held
  void append_log(std::string_view bytes);

  const std::uint32_t number_;
  const std::vector<std::string> arguments_;
  const Clock::time_point started_at_;
  const std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  State state_ = State::kStarting;
  std::uint32_t pid_ = 0;
  std::optional<ProcessEnd> end_;
  EndedBy ending_ = EndedBy::kItself;
  Capture captures_[2];
  bool open_[2] = {false, false};
  bool kept_ = false;
  std::string log_name_;
  UniqueFd terminal_;
  bool keeps_terminal_ = false;
  mutable std::vector<UniqueFd> on_change_;  // the other ends of notices
  mutable std::vector<UniqueFd> on_end_;

  UniqueFd log_;  // the sandbox's own thread's
  std::uint64_t logged_ = 0;

  std::mutex input_mutex_;  // held while somebody writes: nobody else's bytes come between
  UniqueFd input_;
};

}  // namespace hutch::sandbox
