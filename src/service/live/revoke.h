// revoke: what was allowed to sandboxes that run is taken back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/facts.h"

namespace hutch::service {

enum class EndCommands { kNo, kYes };

struct RevokedRun {
  std::string id;
  int pid = 0;
  std::int64_t grants = 0;       // answers that hold no longer
  std::int64_t connections = 0;  // that were ended
  bool ended = false;            // the command was told to end
};

struct Revoked {
  std::vector<RevokedRun> runs;            // those that had been allowed it
  std::optional<std::string> policy_file;  // from which its entries went
};

// What a person calls a host, as questions and answers do: "Example.ORG:443" is "example.org:443". "*.example.org" and
// a range of addresses, which an entry of a policy may be, stay as they are. An error where it is none of these.
Result<std::string> canonical_target(const std::string& text);

// `host` is canonical: with its port, or without for every port. `environment` is the caller's.
Result<Revoked> revoke(const std::string& host, EndCommands end, const plan::HostFacts& facts,
                       const std::vector<std::string>& environment);

}  // namespace hutch::service
