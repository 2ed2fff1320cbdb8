// A process that runs in an agent's sandbox already, with this process's streams or terminal.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "client/daemon_client.h"
#include "sys/terminal.h"

namespace hutch::client {

struct AttachRequest {
  std::string agent;
  std::string pid;
  std::function<Result<DaemonClient>()> connect;
  std::function<Status(const Value& event)> show;  // what it wrote
};

struct AttachEnd {
  enum class Why { kEnded, kDetached, kSignal } why = Why::kEnded;
  int exit_code = 0;  // the process's; 128+n of a signal that told this process to leave
};

// Until the process ends, or its terminal is left by ctrl-p ctrl-q.
Result<AttachEnd> attach(const AttachRequest& request);

// Of the first of this process's streams that is a terminal; else what terminals have had since the VT100.
sys::TerminalSize own_terminal_size();

}  // namespace hutch::client
