// config: shows, checks and changes the user's policies.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/facts.h"
#include "service/common/request.h"
#include "store/policies.h"

namespace hutch::service {

struct ConfigRequest {
  std::string action;  // empty: the wizard; show, check, edit, path, enable, disable, get, set, add, remove, schema,
                       // import, reload, preset
  std::vector<std::string> words;  // what follows it
  std::optional<store::Scope> scope;
  OutputForm form = OutputForm::kText;
  enum class Lasts { kSaved, kSession } lasts = Lasts::kSaved;  // of enable and disable
};

struct ConfigAnswer {
  std::string text;
  int exit_code = 0;  // 1: what was asked about is not set, or not right
  bool saved = false;  // a policy was changed: sandboxes that run are to hear of it
};

// `environment` is the caller's, "K=V" each.
Result<ConfigAnswer> configure(const ConfigRequest& request, const plan::HostFacts& facts,
                               const std::vector<std::string>& environment);

// Where a policy is saved, for a person.
std::string place_name(const store::HeldPolicy& entry);

}  // namespace hutch::service
