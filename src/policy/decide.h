// decide: which rule says whether a path may be read or written. Pure; the mount planner asks the same question.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/rules.h"

namespace hutch::policy {

enum class Access { kRead, kWrite };

// What the sandbox sees at a path.
enum class View {
  kHidden,
  kReadOnly,   // the host's own
  kReadWrite,  // the host's own
  kPrivate,    // an empty writable directory of the sandbox's own
  kProc,
  kSys,
  kDevices,
};

// The view, and the rules that made it; a null rule is the default: readable, not writable.
struct Judgement {
  View view = View::kReadOnly;
  const Rule* read_rule = nullptr;
  const Rule* write_rule = nullptr;
};

// `covering`: every rule whose path is the judged path or above it, in any order.
Judgement judge(std::span<const Rule* const> covering);

struct Decision {
  bool allowed = false;
  std::string rule;  // "default" where no rule says anything
  std::string why;   // one sentence
  View view = View::kReadOnly;
};

// `path` is canonical. What the file's own mode then allows is the kernel's business.
//  - Reading is allowed by default. The rule with the longest path decides; for the same path a literal entry beats a
//    pattern, an option beats the policy, allowRead beats denyRead.
//  - Writing is denied by default. A path that may not be read cannot be written; any denyWrite at or above the path
//    beats any allowWrite; a mandatory deny is lifted by an allowWrite of that very path
//    alone, or of one in it for that one.
//  - A credential cannot be read, however long the path of what allows it: a literal allowRead of that very path, or of
//    one in it for that one, lifts this.
Decision decide(const std::vector<Rule>& rules, Access access, std::string_view path);

// The devices that every sandbox has, below /dev.
std::span<const std::string_view> device_names();

}  // namespace hutch::policy
