// A command in an agent's sandbox whose streams are this process's own.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/daemon_client.h"
#include "sandbox/io/streams.h"

namespace hutch::client {

struct ExecRequest {
  std::string agent;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "K=V" each
  std::string cwd;                       // empty: the agent's place of work
  std::chrono::milliseconds timeout{0};
  sandbox::Terminal terminal = sandbox::Terminal::kWhereThereIsOne;
};

struct ExecEnd {
  int exit_code = 125;
  bool timed_out = false;
  std::string lost_output{};  // why some of its output is on no stream of the caller's; else empty
  std::vector<std::string> refusals{};  // hosts that could not be reached meanwhile, with what allows them
  std::vector<std::string> notes{};  // what the daemon said meanwhile and the caller's terminal had no place for
  std::string reason{};  // why it was not executed, or what ended it besides itself
};

// Until it has ended. Signals to this process are passed on to it.
Result<ExecEnd> exec(DaemonClient& daemon, const ExecRequest& request);

}  // namespace hutch::client
