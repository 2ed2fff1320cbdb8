// Outcome: how a command ended, and what is left of its output.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hutch::sandbox {

// Why hutch ended a command, if it did.
enum class EndedBy { kItself, kTimeout, kIdleTimeout, kSignal, kMemoryLimit, kGuestGone };

// The first and the last bytes of a stream, and how many between them were left out: where that is, no character of
// UTF-8 is cut, and what would be half of one is left out too.
class Capture {
 public:
  void add(std::string_view bytes);
  std::uint64_t bytes_left_out() const;
  std::uint64_t bytes_total() const { return total_; }
  // Head, then a line that says what is missing when something is, then tail.
  std::string text() const;
  const std::string& head() const { return head_; }  // ends where a character does, once there is a tail
  std::string_view tail() const;  // what follows the head and the bytes that were left out

  // What is kept of the stream from its byte `offset` on, at most `bytes_max`.
  struct Piece {
    std::string bytes;
    std::uint64_t skipped = 0;  // left out before them
    std::uint64_t next = 0;     // the offset behind them
  };
  Piece read(std::uint64_t offset, std::size_t bytes_max) const;
  // What follows the last line's end, as far as it is kept.
  std::string_view unfinished_line() const;

 private:
  std::string head_;
  std::string tail_;
  std::uint64_t left_out_ = 0;
  std::uint64_t total_ = 0;
};

// Stands in a text where bytes were left out.
std::string gap_line(std::uint64_t bytes);

// What a remedy names. kOption: an option of the command line. kPolicy: an entry of an agent's policy, for its commands
// have no options.
enum class AllowedBy { kOption, kPolicy };

struct Refusal {
  std::string what;
  std::string rule{};  // that decided; empty where none is known
  // Of a host that may not be reached; its port is 0 where its name alone was asked for.
  std::string host{};
  int port = 0;
  // The process that wanted it, as the host numbers it; 0 and empty where it is not known.
  std::uint32_t pid = 0;
  std::string program{};
  // kRights: nothing was refused; the remark holds while `file` has S_ISUID or S_ISGID. kInstructions: nothing was
  // refused; the remark holds if `file`, a text that programs outside read, has changed by the end.
  enum class About { kRefusal, kRights, kInstructions } about = About::kRefusal;
  std::string file{};  // for a remark: the path in the sandbox; else empty
  std::optional<std::string> before{};  // for kInstructions: the earlier content; absent if unknown
  std::string diff{};  // for kInstructions, once the command has ended: whole lines
  // kAlways: a person is to know of it though the command succeeded.
  enum class Weight { kOfFailure, kAlways } weight = Weight::kOfFailure;
  bool operator==(const Refusal&) const = default;
};

struct Outcome {
  int exit_code = 125;  // as a shell shows it: 124 timeout, 126, 127, 128+n
  int signal = 0;  // the signal that ended the command, 0 for none
  EndedBy ended_by = EndedBy::kItself;
  int told_by = 0;  // of kSignal: the signal that told this process to end
  std::chrono::milliseconds duration{0};
  Capture standard_output;
  Capture standard_error;
  std::string lost_output{};  // why some of its output is on no stream of the caller's; else empty
  std::vector<Refusal> refusals;  // what the walls refused that a person should know of, each once
  // Of limits that the backend holds itself: how many were killed for the memory.
  std::uint64_t killed_for_memory = 0;
  std::string limits_by;  // "cgroup v2", "rlimits", ...; empty when nothing was limited
  std::uint64_t pids_limit_hits = 0;  // how often a process could not be made for the limit
};

bool is_timeout(EndedBy reason);
// Whether hutch ended it, by whatever reason.
bool is_killed(EndedBy reason);
std::string_view name_of(EndedBy reason);

}  // namespace hutch::sandbox
