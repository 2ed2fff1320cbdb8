// The supervisor of a sandbox's file changes and sockets, as the host keeps it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "sandbox/outcome.h"
#include "sys/process.h"
#include "wire/connection.h"

namespace hutch::sandbox {

// What is needed to start one.
struct AccessRules {
  std::string guest_program;
  std::vector<plan::NameRule> names;
};

// A process of the sandbox wants to connect to a Unix socket that is none of the sandbox's own.
struct SocketRequest {
  std::uint64_t id = 0;
  std::uint32_t pid = 0;  // a thread, as this process numbers it
  std::string path;       // absolute; where `error` is 0 canonical, as the sandbox sees it
  int error = 0;          // what the sandbox's own files answer; 0: something is there
};

// `file` is a descriptor (O_PATH) of the socket's file, which it is connected to; else `error` is the errno of the
// call, and `refusal` what a person is told.
struct SocketAnswer {
  UniqueFd file;
  int error = 0;
  std::optional<Refusal> refusal;
};

// Who says which sockets of the host a sandbox may connect to. `settle` is called once, now or later, on the thread
// that asked.
using SettleSocket = std::function<void(const SocketAnswer& answer)>;
using JudgeSocket = std::function<void(const SocketRequest& request, SettleSocket settle)>;

class AccessSupervisor {
 public:
  struct Heard {
    std::vector<Refusal> refusals;
    std::vector<SocketRequest> requests;
  };
  // `descriptors` came with wire::Supervise. Ends with its owner, and with the thread that starts it.
  static Result<AccessSupervisor> start(const AccessRules& rules, std::vector<UniqueFd> descriptors);

  // To poll(2) for reading; -1 once it has gone.
  int fd() const { return connection_ ? connection_->fd() : -1; }
  // What it has told since. Where it has gone, every change of a supervised file fails from then on, and that is what
  // is told.
  Heard hear();
  // An answer that comes too late is none.
  void answer(std::uint64_t id, const SocketAnswer& answer);

 private:
  AccessSupervisor(sys::ChildProcess process, wire::Connection connection)
      : process_(std::move(process)), connection_(std::move(connection)) {}
  Result<Heard> receive();

  sys::ChildProcess process_;
  std::optional<wire::Connection> connection_;
};

// How a refusal that a guest tells of is told to a person.
Refusal refusal_of(const wire::Refused& refused);

}  // namespace hutch::sandbox
