// A process's output and end, as the public API gives them.
#include "api/follow.h"

#include <signal.h>

#include <array>
#include <stop_token>

#include "base/text.h"
#include "base/utf8.h"

namespace hutch::api {

namespace {

using sandbox::OutputStream;
using sandbox::Process;

constexpr std::chrono::milliseconds kSlice{1000};  // a change that was told is seen at once; this is for no other
constexpr std::chrono::hours kFollowSlice{1};

// One stream on its way to a callback, in pieces that end where a character does.
class Piecewise {
 public:
  explicit Piecewise(const OutputCallback& callback) : callback_(callback) {}
  void add(const std::string& bytes) {
    held_ += bytes;
    hand_on(held_.size() - unfinished_bytes(held_));
  }
  // What is held back is no character, then.
  void end() { hand_on(held_.size()); }

 private:
  void hand_on(std::size_t count) {
    if (count == 0) return;
    const std::string piece = held_.substr(0, count);
    held_.erase(0, count);
    if (callback_) callback_(piece);
  }

  const OutputCallback& callback_;
  std::string held_;
};

void hand_on(const Process& process, const CommandOptions& options) {
  const auto changed = process.notice(Process::Notice::kChange);
  std::array<Piecewise, 2> streams = {Piecewise(options.on_stdout), Piecewise(options.on_stderr)};
  std::array<std::uint64_t, 2> next = {0, 0};
  for (bool over = false; !over;) {
    over = process.end().has_value();
    for (const auto stream : {OutputStream::kOutput, OutputStream::kError}) {
      const auto index = static_cast<std::size_t>(stream);
      for (;;) {
        const Process::Read read = process.read(stream, next[index], Process::Clock::now());
        next[index] = read.piece.next;
        if (read.piece.bytes.empty()) break;
        streams[index].add(read.piece.bytes);
      }
    }
    if (over) break;
    if (changed) {
      Process::await(changed->get(), kSlice);
    } else {
      (void)process.wait(Process::Clock::now() + std::chrono::milliseconds(20));
    }
  }
  for (Piecewise& stream : streams) stream.end();
}

}  // namespace

CommandResult follow(sandbox::Resident& resident, const std::shared_ptr<Process>& process,
                     const CommandOptions& options) {
  bool aborted = false;
  {
    const std::stop_callback abort(options.abort, [&] {
      aborted = !process->end().has_value();
      resident.end(process, sandbox::EndedBy::kSignal);
    });
    if (options.on_stdout || options.on_stderr) hand_on(*process, options);
    while (!process->wait(Process::Clock::now() + kFollowSlice)) {}
  }
  const sandbox::ProcessEnd end = process->end().value_or(sandbox::ProcessEnd());
  CommandResult result;
  ProcessOutput output = output_of(*process);
  result.stdout_text = std::move(output.stdout_text);
  result.stderr_text = std::move(output.stderr_text);
  result.stdout_omitted_bytes = output.stdout_omitted_bytes;
  result.stderr_omitted_bytes = output.stderr_omitted_bytes;
  // Why it was not executed is what a shell would have written there.
  if (!end.reason.empty()) {
    const std::string line = cat({end.reason, "\n"});
    result.stderr_text += line;
    if (options.on_stderr) options.on_stderr(line);
  }
  result.exit_code = end.exit_code;
  result.timed_out = sandbox::is_timeout(end.ended_by);
  result.killed = sandbox::is_killed(end.ended_by);
  result.aborted = aborted && result.killed && !result.timed_out;
  result.success = end.exit_code == 0 && !result.killed;
  result.execution_time_ms = end.duration.count();
  return result;
}

ProcessOutput output_of(const Process& process) {
  const sandbox::Capture output = process.captured(OutputStream::kOutput);
  const sandbox::Capture error = process.captured(OutputStream::kError);
  return {output.text(), error.text(), output.bytes_left_out(), error.bytes_left_out()};
}

CommandResult aborted_result() {
  CommandResult result;
  result.exit_code = 128 + SIGTERM;
  result.killed = true;
  result.aborted = true;
  return result;
}

}  // namespace hutch::api
