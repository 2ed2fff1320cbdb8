// revoke: what was allowed to sandboxes that run is taken back.
#include "service/revoke.h"

#include <signal.h>

#include <algorithm>

#include "base/text.h"
#include "host/daemon_paths.h"
#include "policy/edit.h"
#include "policy/reader.h"
#include "service/live_runs.h"
#include "service/load_policy.h"
#include "store/policies.h"
#include "sys/process.h"
#include "tool/value.h"

namespace hutch::service {

namespace {

using tool::Value;

constexpr std::string_view kKey = "network.allowedDomains";

Result<std::optional<std::string>> remove_entry(const std::string& host, const plan::HostFacts& facts,
                                                const store::Policies& policies);

}  // namespace

Result<Revoked> revoke(const std::string& host, EndCommands end, const plan::HostFacts& facts,
                       const std::vector<std::string>& environment) {
  const std::string runs = host::runs_directory(host::own_state_dirs(facts.uid, facts.home));
  Revoked revoked;
  revoked.policy_file = TRY(remove_entry(host, facts, store::Policies(config_directory(facts, environment))));
  // Those that the entry alone allowed it are told as well: with it gone they end its connections by themselves.
  if (revoked.policy_file) reload_runs(runs);
  const Value line(Value::Object{{"v", 1}, {"type", "revoke"}, {"host", host}});
  for (const Answered& answered : ask_runs(runs, tool::json_text(line), "revoked")) {
    if (!answered.error.empty()) continue;
    RevokedRun run{.id = answered.run, .pid = answered.pid};
    run.grants = answered.number("grants");
    run.connections = answered.number("connections");
    if (run.grants == 0 && run.connections == 0) continue;
    run.ended = end == EndCommands::kYes && sys::send_signal(run.pid, SIGTERM).has_value();
    revoked.runs.push_back(std::move(run));
  }
  return revoked;
}

namespace {

// From the policy that holds here, where it names exactly this.
Result<std::optional<std::string>> remove_entry(const std::string& host, const plan::HostFacts& facts,
                                                const store::Policies& policies) {
  const store::HeldPolicy held = TRY(policies.holding(facts.cwd));
  if (held.file.empty()) return std::optional<std::string>();
  const policy::Policy policy = TRY(policy::read_policy(held.text, held.file));
  const auto& domains = policy.network.allowed_domains;
  if (std::ranges::find(domains, host) == domains.end()) return std::optional<std::string>();
  const policy::Edit edit{policy::EditKind::kRemove, std::string(kKey), host};
  const auto scope = held.project ? policy::Scope::kProject : policy::Scope::kDefault;
  const store::HeldPolicy changed =
      TRY(policies.change(scope, facts.cwd, [&](const std::string& text) { return policy::edited(text, edit); }));
  return std::optional(changed.file);
}

}  // namespace

}  // namespace hutch::service
