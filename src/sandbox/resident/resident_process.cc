// What the start and the end of a process in a sandbox that stays come to.
#include "sandbox/resident/resident_process.h"

#include <fmt/format.h>

#include <cerrno>

#include "base/limits.h"
#include "base/text.h"
#include "sys/io.h"
#include "sys/process/process.h"

namespace hutch::sandbox {

Result<KeptStreams> open_kept_streams(const ProcessRequest& request, Input input) {
  KeptStreams streams;
  if (request.terminal) {
    streams.childs.mask = 0;
    streams.childs.terminal = wire::TerminalUse::kOwn;
    streams.childs.rows = request.terminal->rows;
    streams.childs.columns = request.terminal->columns;
    return streams;
  }
  std::vector<UniqueFd>& childs = streams.childs.descriptors;
  if (input == Input::kWritten) {
    auto [read, write] = TRY(sys::pipe());
    TRY(sys::set_nonblocking(write.get()));
    childs.push_back(std::move(read));
    streams.input = std::move(write);
  } else {
    // Its end at once: /dev/null of the host is no file to hand in.
    childs.push_back(std::move(TRY(sys::pipe()).read));
  }
  for (const OutputStream stream : {OutputStream::kOutput, OutputStream::kError}) {
    if (stream == OutputStream::kError && request.error == ErrorStream::kIntoOutput) {
      childs.push_back(TRY(sys::duplicate(childs.back().get())));
      break;
    }
    auto [read, write] = TRY(sys::pipe());
    TRY(sys::set_nonblocking(read.get()));
    childs.push_back(std::move(write));
    streams.pipes.push_back({nullptr, stream, std::move(read)});
  }
  return streams;
}

// Three descriptors of one open file: each is closed by whoever is done with it.
Result<KeptPipe> keep_terminal(const std::shared_ptr<Process>& process, UniqueFd master) {
  TRY(sys::set_nonblocking(master.get()));
  UniqueFd reader = TRY(sys::duplicate(master.get()));
  process->keep_input(TRY(sys::duplicate(master.get())));
  process->keep_terminal(std::move(master));
  return KeptPipe{process, OutputStream::kOutput, std::move(reader)};
}

bool is_gone(const Error& error) { return error.sys_errno == EPIPE || error.sys_errno == ECONNRESET; }

Error over_error(const std::optional<Error>& reason) {
  return reason ? *reason : Error{Code::kConflict, 0, "the sandbox has ended"};
}

Status check_sendable(const wire::Exec& exec) {
  constexpr std::size_t kFixed = 4096;  // all but the lists
  std::size_t bytes = kFixed + exec.cwd.size() + exec.modes.size();
  for (const auto* list : {&exec.arguments, &exec.environment}) {
    if (list->size() > limits::kListItemsMax) return fail(Error::invalid("more words than a message may have"));
    for (const std::string& word : *list) bytes += sizeof(std::uint32_t) + word.size();
  }
  return bytes <= limits::kFrameBytesMax ? Status() : fail(Error::invalid("longer than a message may be"));
}

ProcessEnd end_of_status(int raw, const Process& process) {
  const sys::WaitStatus status{raw};
  ProcessEnd end;
  end.ended_by = process.ending();
  end.signal = status.signal();
  end.exit_code = status.exited() ? status.exit_code() : 128 + status.signal();
  if (is_timeout(end.ended_by)) end.exit_code = 124;
  return end;
}

ProcessEnd end_of_refusal(const wire::NotExecuted& refused) {
  ProcessEnd end;
  const bool absent = refused.error == ENOENT || refused.error == ENOTDIR;
  const std::string name = printable(refused.path);
  end.exit_code = absent ? 127 : 126;
  end.reason = absent ? fmt::format("{}: not found in the sandbox", name)
                      : Error::from_errno(cat({"cannot execute ", name}), refused.error).message;
  return end;
}

}  // namespace hutch::sandbox
