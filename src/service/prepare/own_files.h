// The sandbox's own files in place of the host's: accounts, names, and files that programs want their user to own.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/facts.h"
#include "plan/make/make_plan.h"
#include "plan/paths/name_files.h"
#include "service/common/prepared.h"

namespace hutch::service {

// Which files the sandbox sees: the host's in a tree of the sandbox's own, or another system's.
enum class SystemFiles { kHosts, kOther };

struct OwnFiles {
  std::vector<plan::CoveredFile> covered;
  plan::SearchRules search;
  std::vector<std::string> notes;
  std::vector<std::string> environment{};  // of the command: "K=V", or "K"
};

// `residence` is null if the account stays the same.
Result<OwnFiles> own_files(SystemFiles system, plan::NetworkKind network, const Residence* residence,
                           const plan::HostFacts& facts);

}  // namespace hutch::service
