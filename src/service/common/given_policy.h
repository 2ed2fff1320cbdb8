// The policy of an agent that a client has for as long as it stays, as that client gives it.
#pragma once

#include <optional>
#include <string>

#include "plan/plan.h"
#include "policy/policy.h"

namespace hutch::service {

struct GivenPolicy {
  std::optional<policy::Policy> whole;  // holds alone, whatever the user has
  std::optional<std::string> first;     // JSON: holds where the user has none, and saved answers begin with it
  plan::FileQuestions questions = plan::FileQuestions::kChanges;
};

}  // namespace hutch::service
