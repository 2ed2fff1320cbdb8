// Whether a file of the host that the rules close is somebody's to open, by an answer.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "approval/question.h"
#include "base/result.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "policy/policy.h"
#include "policy/rules.h"

namespace hutch::service {

struct FileOutcome {
  approval::Question question;
  std::optional<std::string> never;  // why it is not asked
  bool allowed = false;              // by a rule
  bool hidden = false;
  std::string closed_at;  // the path of the rule that closes it; empty where none is about it
  std::string opened_at;  // of the one that allows it
};

struct FileRules {
  std::span<const policy::Rule> rules;
  const policy::Asks& asks;
  const plan::GuardedNames* names = nullptr;  // null: none
};

// `path` is canonical; `kind` is kRead or kWrite.
FileOutcome judge_file(const FileRules& rules, approval::Kind kind, const std::string& path);

// Whether the file's own mode lets this user do it, as far as it is there; of root what it would without capabilities,
// which it has none of inside.
Result<bool> mode_allows(const plan::HostFacts& facts, const std::string& path, approval::Kind kind);

// Whether a rule closes something strictly below, or the sandbox has a mount of its own there. What rules open below is
// no reason: a saved answer for a file would make its directory one that nobody can allow.
bool is_divided(std::span<const policy::Rule> rules, const plan::SandboxPlan& plan, const std::string& directory);

// Whether the sandbox has it as a directory to pass through.
bool is_passed_through(const plan::SandboxPlan& plan, const std::string& path);

}  // namespace hutch::service
