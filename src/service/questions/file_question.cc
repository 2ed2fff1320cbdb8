// Whether a file of the host that the rules close is somebody's to open, by an answer.
#include "service/questions/file_question.h"

#include <algorithm>

#include "base/text.h"
#include "plan/make/mounts.h"
#include "plan/paths/names.h"
#include "policy/decide.h"
#include "sys/files/tree.h"

namespace hutch::service {

using approval::Kind;
using policy::View;

FileOutcome judge_file(const FileRules& rules, Kind kind, const std::string& path) {
  std::vector<const policy::Rule*> covering;
  for (const policy::Rule& rule : rules.rules) {
    if (is_within(path, rule.path)) covering.push_back(&rule);
  }
  const policy::Judgement judgement = policy::judge(covering);
  const bool is_host =
      judgement.view == View::kHidden || judgement.view == View::kReadOnly || judgement.view == View::kReadWrite;
  const bool reads = kind == Kind::kRead;
  FileOutcome outcome;
  outcome.hidden = judgement.view == View::kHidden;
  outcome.allowed = reads ? is_host && !outcome.hidden : judgement.view == View::kReadWrite;
  const policy::Rule* rule = outcome.hidden ? judgement.read_rule : judgement.write_rule;
  outcome.never = approval::never_asked(kind, rule, rules.asks);
  // Of what is hidden a judgement says nothing about writing, and an answer would open it for that too.
  for (const policy::Rule* denies : covering) {
    if (reads || !outcome.hidden || outcome.never || denies->verb != policy::Verb::kDenyWrite) continue;
    outcome.never = approval::never_asked(kind, denies, rules.asks);
  }
  if (!is_host) outcome.never = "it is the sandbox's own";
  if (!reads && !outcome.never) {
    if (judgement.write_rule != nullptr) outcome.never = approval::never_asked(kind, judgement.write_rule, rules.asks);
  }
  const auto named = reads || rules.names == nullptr ? std::nullopt : plan::denied_name(*rules.names, path);
  if (named && !outcome.never) {
    outcome.allowed = false;
    if (named->asking == plan::NameRule::Asking::kNever) outcome.never = "a rule by name denies it";
  }
  if (rule != nullptr) outcome.closed_at = rule->path;
  const policy::Rule* opens = reads ? judgement.read_rule : judgement.write_rule;
  if (outcome.allowed && opens != nullptr) outcome.opened_at = opens->path;
  outcome.question = {.kind = kind,
                      .target = path,
                      .rule = named             ? named->rule
                              : rule != nullptr ? policy::describe(*rule)
                                                : "default",
                      .visibility = outcome.hidden ? approval::Visibility::kHidden : approval::Visibility::kVisible};
  return outcome;
}

Result<bool> mode_allows(const plan::HostFacts& facts, const std::string& path, Kind kind) {
  const bool reads = kind == Kind::kRead;
  const std::optional<sys::PathStatus> status = TRY(sys::status_of(path));
  if (!status) return true;
  if (!sys::may_open(path, reads ? sys::Permission::kRead : sys::Permission::kWrite)) return false;
  if (facts.uid != 0) return true;
  const unsigned bit = reads ? 04 : 02;
  if (status->uid == facts.uid) return (status->mode & (bit << 6)) != 0;
  if (status->gid == facts.gid) return (status->mode & (bit << 3)) != 0;
  return (status->mode & bit) != 0;
}

bool is_divided(std::span<const policy::Rule> rules, const plan::SandboxPlan& plan, const std::string& directory) {
  const auto is_below = [&](const std::string& path) { return path != directory && is_within(path, directory); };
  const auto closes = [&](const policy::Rule& rule) {
    const bool denies = rule.verb == policy::Verb::kDenyRead || rule.verb == policy::Verb::kDenyWrite;
    return denies && is_below(rule.path);
  };
  const auto mounts = [&](const plan::MountStep& step) {
    return (step.kind == plan::MountKind::kBind || step.kind == plan::MountKind::kTmpfs) && is_below(step.target);
  };
  // In a private home the sandbox has its own files.
  const bool is_private = plan::private_home(plan, directory) != nullptr;
  return is_private || std::ranges::any_of(rules, closes) || std::ranges::any_of(plan.mounts, mounts);
}

bool is_passed_through(const plan::SandboxPlan& plan, const std::string& path) {
  return std::ranges::any_of(plan.mounts, [&](const plan::MountStep& step) {
    const bool makes = step.kind == plan::MountKind::kDirectory || step.kind == plan::MountKind::kTmpfs;
    return makes && is_within(step.target, path);
  });
}

}  // namespace hutch::service
