// The standard streams of a command: which go straight through, which are relayed, which are a terminal of its own.
#pragma once

#include <poll.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/io/outcome.h"
#include "sandbox/questions/screen_watch.h"
#include "sys/terminal.h"
#include "wire/message.h"

namespace hutch::sandbox {

enum class Output {
  kPass,     // to this process's own 1 and 2
  kCapture,  // kept for the outcome
};

// Whether the command has a terminal of its own for all of its streams where not all of this process's are one.
enum class Terminal { kWhereThereIsOne, kAlways };

struct StreamOptions {
  Output output = Output::kPass;
  bool watch_output = false;  // every byte of output has to pass here: an idle timeout counts them
  ScreenWatch* screen = nullptr;  // hears what goes to the terminal; it has to live as long
  Terminal terminal = Terminal::kWhereThereIsOne;
};

// Moves bytes from one descriptor to another, or into a Capture.
struct Pump {
  UniqueFd owned_from;
  UniqueFd owned_to;
  int from = -1;
  int to = -1;
  Capture* capture = nullptr;
  std::string_view name = "standard output";  // of `to`
  std::string held;       // read and not yet written
  bool is_output = false;
  ScreenWatch* screen = nullptr;  // of output to a terminal
  bool finished = false;
  bool types_end = false;          // of input that is no terminal, to one: its end is a key there
  bool within_line = false;        // likewise: the last line that was typed has no end yet
  UniqueFd unread;                 // of input from a file: the pipe's other end, which tells what was not read of it
  bool terminal_input = false;     // from the caller's terminal: only while hutch is in its foreground
};

class Streams {
 public:
  // Looks at 0, 1 and 2 of this process and makes the pipes that are wanted.
  static Result<Streams> open(StreamOptions options);

  // What the command gets. The descriptors are those of `exec.streams`, in order; they are closed by `sent`.
  wire::TerminalUse terminal_use() const { return terminal_; }
  std::uint8_t stream_mask() const;
  std::vector<int> child_descriptors() const;
  void sent();

  // The size and the modes of the caller's terminal, for the command's own.
  Status describe_terminal(wire::Exec& exec);
  // The master of the command's terminal has come.
  Status attach_terminal(UniqueFd master);
  bool has_terminal() const { return static_cast<bool>(master_); }
  Status resize_terminal() const;
  // Where the command has the alternate screen, it is told to draw that again.
  void redraw_terminal() const;
  // Gives the caller's terminal back as it was found, and takes it once this process is in its foreground.
  Status release_caller_terminal() const;
  Status take_caller_terminal();

  void add_to(std::vector<pollfd>& wait) const;
  enum class Progress { kNone, kOutput };
  // `wait` is what add_to appended, after poll(2).
  Result<Progress> move(std::span<const pollfd> wait);

  // After the end of the command: everything that it wrote is delivered, what it did not read is given back.
  Status finish();

  // The first error of a stream of the caller's that still has a reader: what came after it is lost.
  const std::optional<Error>& lost_output() const { return lost_output_; }

  const Capture& standard_output() const { return *captures_[0]; }
  const Capture& standard_error() const { return *captures_[1]; }

 private:
  Streams() : captures_{std::make_unique<Capture>(), std::make_unique<Capture>()} {}
  Status open_input(StreamOptions options);
  Status open_output(int number, StreamOptions options);
  Status add_pipe_from(int source);
  Result<UniqueFd> add_pipe_to(int number, StreamOptions options);
  void write_held(Pump& pump);

  wire::TerminalUse terminal_ = wire::TerminalUse::kNone;
  std::array<UniqueFd, 3> childs_;  // empty: the terminal
  std::vector<Pump> pumps_;
  UniqueFd master_;
  int caller_terminal_ = -1;  // where keys come from
  int size_source_ = -1;
  Terminal wanted_ = Terminal::kWhereThereIsOne;
  ScreenWatch* screen_ = nullptr;
  std::optional<sys::RawMode> raw_;
  std::optional<Error> lost_output_;
  std::array<std::unique_ptr<Capture>, 2> captures_;
};

}  // namespace hutch::sandbox
