// The messages of a sandbox's supervisor of file changes and sockets, and about calls that were refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace hutch::wire {

// --- to the guest ---

// The first message to an access supervisor.
struct AccessRules {
  std::vector<plan::NameRule> names;
};

// To a SocketAsked. 0: the file of the socket, opened with O_PATH, travels along; else the errno of the connect(2).
struct SocketAnswered {
  std::uint64_t id = 0;
  int error = 0;
};

// --- to the host ---

// A process wants to connect to a Unix socket that is none of the sandbox's own. `path` is canonical where the sandbox
// has something there; else it is what the process said, made absolute, and `error` what the sandbox's own files
// answer to it.
struct SocketAsked {
  std::uint64_t id = 0;
  std::uint32_t pid = 0;  // a thread, as the host numbers it
  std::string path;
  int error = 0;  // 0: something is there
};

enum class RefusedCall { kUnixSocket, kFileChange };
// A call was refused that a person should be told of.
struct Refused {
  RefusedCall call = RefusedCall::kUnixSocket;
  std::uint32_t pid = 0;
  std::string path;  // kFileChange
  std::string rule;
};
// The sandbox wants its supervisor (guest/access.h). Along travel: where the calls arrive, the writable
// copy of its tree of mounts, its user namespace, its mount namespace.
struct Supervise {};

}  // namespace hutch::wire
