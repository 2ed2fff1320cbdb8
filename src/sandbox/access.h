// The supervisor of a sandbox's file changes, as the host keeps it.
#pragma once

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

class AccessSupervisor {
 public:
  // `descriptors` came with wire::Supervise. Ends with its owner, and with the thread that starts it.
  static Result<AccessSupervisor> start(const AccessRules& rules, std::vector<UniqueFd> descriptors);

  // To poll(2) for reading; -1 once it has gone.
  int fd() const { return connection_ ? connection_->fd() : -1; }
  // What it has refused since. Where it has gone, every change of a supervised file fails from then on, and that is
  // what is told.
  std::vector<Refusal> take_refusals();

 private:
  AccessSupervisor(sys::ChildProcess process, wire::Connection connection)
      : process_(std::move(process)), connection_(std::move(connection)) {}
  Result<std::vector<Refusal>> receive();

  sys::ChildProcess process_;
  std::optional<wire::Connection> connection_;
};

// How a refusal that a guest tells of is told to a person.
Refusal refusal_of(const wire::Refused& refused);

}  // namespace hutch::sandbox
