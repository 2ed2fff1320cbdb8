// Unix sockets of the host: which of them a policy opens to a sandbox, and which nobody is asked about. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "policy/policy.h"

namespace hutch::policy {

enum class SocketVerdict {
  kAllow,
  kAsk,   // no rule says anything
  kDeny,  // and nobody is asked
};

struct SocketDecision {
  SocketVerdict verdict = SocketVerdict::kDeny;
  std::string rule;  // "default" where no rule says anything
  std::string why;   // one sentence; of kAllow empty
  bool routine = false;  // of kDeny: programs try it without being told to, so a person need not hear of it
};

// `path` is the socket's own, canonical. An entry of allowUnixSockets is a path or a pattern, absolute by now. Sockets
// by which a program gets others started outside of its sandbox (an engine of containers, the system's or the session's
// manager, a display) are opened by an entry that names that very path, by no pattern and by no answer.
SocketDecision decide_socket(const Network& network, const Asks& asks, std::string_view path);

// What is wrong with an entry as it is written.
Status check_socket_entry(std::string_view entry);

}  // namespace hutch::policy
