// What a person asked `run`, `explain` or `check` for, before any policy is read.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plan/make/make_plan.h"
#include "policy/backend_kind.h"
#include "policy/document/amend.h"
#include "policy/policy.h"

namespace hutch::service {

// Limits of the command line; each replaces the policy's own.
struct LimitOptions {
  std::optional<std::chrono::milliseconds> timeout;
  std::optional<std::chrono::milliseconds> idle_timeout;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> cpu_millis;
  std::optional<std::uint64_t> pids;
  std::optional<std::uint64_t> tmp_bytes;
  std::optional<std::uint64_t> disk_bytes{};
};

// The options that `run`, `explain` and `check` share: everything that decides the plan.
struct PlaceRequest {
  std::optional<policy::BackendKind> backend;  // absent: the policy's
  std::optional<std::string> image{};      // its name; the host's own files without one
  std::optional<policy::Policy> policy;    // given by a program, of the current directory
  std::optional<std::string> policy_file;  // else default.json or projects.json
  std::optional<std::string> first_policy{};  // JSON, where the user has none of these; else the built-in default
  std::optional<policy::Switch> enabled{};  // of the session, whatever the policy says
  std::string agent{};                     // whose settings the four lists are; empty: options of a command line
  std::vector<std::string> allow_read;     // as typed
  std::vector<std::string> deny_read;
  std::vector<std::string> allow_write;
  std::vector<std::string> deny_write;
  policy::OuterRepositories outer_repositories = policy::OuterRepositories::kBrought;  // if the policy says so too
  policy::NetworkOptions network;
  // Of an agent, in place of `network`: as its settings say at that moment. Any thread may call it.
  std::function<policy::NetworkOptions()> own_network{};
  std::vector<std::string> usual_hosts;  // allowed besides the policy's, where it has rules
  std::optional<std::string> cwd;
  std::vector<std::string> environment;  // "K=V", or "K" to pass the caller's own
  plan::BaseEnvironment base_environment = plan::BaseEnvironment::kPerson;
  LimitOptions limits;
};

enum class OutputForm { kText, kJson };

struct RunRequest {
  PlaceRequest place;
  // kWide: also start in a home, above it, or in a directory with other projects.
  enum class Start { kNarrow, kWide } start = Start::kNarrow;
  OutputForm form = OutputForm::kText;
  int control_fd = -1;
  std::optional<std::string> shell;   // -c STRING
  std::vector<std::string> command;   // COMMAND ARG...
};

}  // namespace hutch::service
