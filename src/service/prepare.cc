// The way from a request to a plan.
#include "service/prepare.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "host/paths.h"
#include "plan/make_plan.h"
#include "policy/defaults.h"

namespace hutch::service {

namespace {

Result<std::string> working_directory(const PlaceRequest& request, const plan::HostFacts& facts);
Result<host::PathQuestion> path_question(const PlaceRequest& request, const plan::HostFacts& facts,
                                         const policy::Policy& policy);
plan::ResourceLimits limits_of(const policy::Limits& policy, const LimitOptions& options);

}  // namespace

Result<Prepared> prepare(const PlaceRequest& request, const plan::HostFacts& facts, const Caller& caller) {
  Prepared prepared;
  prepared.policy = policy::default_policy();
  prepared.backend = request.backend.value_or(prepared.policy.backend.value_or("namespace"));
  const std::string cwd = TRY(working_directory(request, facts));
  host::PathQuestion question = TRY(path_question(request, facts, prepared.policy));
  question.also.push_back(cwd);
  host::PathAnswer answer = TRY(host::look_at_paths(question, facts));
  prepared.plan = TRY(plan::make_plan({
      .policy = prepared.policy,
      .rules = answer.rules,
      .facts = facts,
      .paths = answer.facts,
      .project = question.project,
      .cwd = cwd,
      .network = prepared.backend == "none" ? plan::NetworkKind::kHost : plan::NetworkKind::kNone,
      .limits = limits_of(prepared.policy.limits, request.limits),
      .caller_environment = caller.environment,
      .environment = request.environment,
  }));
  std::ranges::move(answer.notes, std::back_inserter(prepared.plan.notes));
  prepared.rules = std::move(answer.rules);
  prepared.paths = std::move(answer.facts);
  return prepared;
}

namespace {

Result<std::string> working_directory(const PlaceRequest& request, const plan::HostFacts& facts) {
  if (!request.cwd) return facts.cwd;
  const std::string path = TRY_CTX(policy::absolute_path(*request.cwd, facts.home, facts.cwd), "--cwd");
  return TRY_CTX(host::canonical_path(path), "--cwd").path;
}

Result<host::PathQuestion> path_question(const PlaceRequest& request, const plan::HostFacts& facts,
                                         const policy::Policy& policy) {
  host::PathQuestion question;
  question.project = facts.cwd;
  question.git_config = policy.filesystem.git_config;
  question.mandatory_search_depth = policy.mandatory_search_depth;
  const policy::Bases bases{.home = facts.home, .project = question.project, .cwd = facts.cwd};
  question.rules = TRY(policy::rules_of(policy, bases));
  const policy::PathOptions options{.allow_read = request.allow_read,
                                    .deny_read = request.deny_read,
                                    .allow_write = request.allow_write,
                                    .deny_write = request.deny_write};
  std::ranges::move(TRY(policy::rules_of(options, bases)), std::back_inserter(question.rules));
  return question;
}

plan::ResourceLimits limits_of(const policy::Limits& policy, const LimitOptions& options) {
  const auto number = [](const auto& option, const auto& own) { return option.value_or(own.value_or(0)); };
  using std::chrono::milliseconds;
  return {
      .memory_bytes = number(options.memory_bytes, policy.memory_bytes),
      .pids = number(options.pids, policy.pids),
      .cpu_millis = number(options.cpu_millis, policy.cpu_millis),
      .tmp_bytes = number(options.tmp_bytes, policy.tmp_bytes),
      .timeout = options.timeout.value_or(policy.timeout.value_or(milliseconds(0))),
      .idle_timeout = options.idle_timeout.value_or(policy.idle_timeout.value_or(milliseconds(0))),
      .output_bytes = policy.output_bytes.value_or(0),
  };
}

}  // namespace

}  // namespace hutch::service
