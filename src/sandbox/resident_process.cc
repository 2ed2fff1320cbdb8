// What the start and the end of a process in a sandbox that stays come to.
#include "sandbox/resident_process.h"

#include <fmt/format.h>

#include <cerrno>

#include "base/limits.h"
#include "base/text.h"
#include "sys/process.h"

namespace hutch::sandbox {

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
