// The parts of a persistent sandbox, and the calls by which it tells its keeper of changes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "backend/backend.h"
#include "base/result.h"
#include "host/cgroup.h"
#include "sandbox/access_desk.h"
#include "sandbox/console.h"
#include "sandbox/network.h"
#include "sandbox/process.h"
#include "sandbox/resident_process.h"

namespace hutch::sandbox {

// Whether anything runs in the sandbox but its own programs and what is asked about; servers of files count. Processes
// of containers and of machines are not seen.
enum class Others { kNone, kRun };

struct ResidentParts {
  backend::Instance instance;
  std::shared_ptr<Questions> questions{};  // absent where nobody is asked
  std::unique_ptr<Network> network{};      // absent where no gateway has its connections
  std::optional<host::Cgroup> cgroup{};
  AccessRules access_rules{};  // of a plan that has a supervisor
  JudgeSocket judge_socket{};  // absent: none of the host's is connected to
  FileJudge files{};
  std::shared_ptr<Console> console{};  // of an instance that has one: where it goes
  std::uint64_t killed_for_memory = 0;  // what its limit had ended when it was last asked
};

struct ResidentSettings {
  // Starts the guest. Called on the thread that keeps it, because a guest dies with the thread that started it
  // (PR_SET_PDEATHSIG, prctl(2)).
  std::function<Result<ResidentParts>()> begin;
  std::function<void(const Refusal& refusal)> on_refusal{};
  // On the keeping thread, of processes that are shown.
  std::function<void(const Process& process)> on_process_start{};
  std::function<void(const Process& process, const ProcessEnd& end)> on_process_end{};
  // As often as each other: before a process starts, or files are changed by their server, on the thread that wants it;
  // once it has ended, or could not start, before anybody knows that.
  std::function<void(Others others)> before_change{};
  std::function<void(Others others)> after_change{};
  // On the keeping thread: what a change left running has ended, a second ago at most.
  std::function<void()> on_quiet{};
  // Once, at the end, on the keeping thread: why it ended, or nothing where it was told to.
  std::function<void(const std::optional<Error>& reason)> on_end{};
  // A command's number, never the same twice; without it they count from 1 in each sandbox.
  std::function<std::uint32_t()> next_number{};
  std::stop_token stop{};  // of the start: nobody waits for it any more
};

}  // namespace hutch::sandbox
