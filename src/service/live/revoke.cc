// revoke: what was allowed to sandboxes that run is taken back.
#include "service/live/revoke.h"

#include <signal.h>

#include "base/text.h"
#include "host/daemon_paths.h"
#include "host/paths/typed_path.h"
#include "policy/document/edit.h"
#include "policy/document/reader.h"
#include "policy/network/domains.h"
#include "service/common/load_policy.h"
#include "service/live/live_runs.h"
#include "store/policies.h"
#include "sys/process/process.h"
#include "tool/value.h"

namespace hutch::service {

namespace {

using tool::Value;

constexpr std::string_view kKey = "network.allowedDomains";
constexpr std::string_view kSocketKey = "network.allowUnixSockets";

Result<std::optional<std::string>> remove_entries(const std::string& host, const plan::HostFacts& facts,
                                                  const store::Policies& policies);

}  // namespace

Result<std::string> canonical_target(const std::string& text) {
  if (text.starts_with('/')) return host::settled_socket(text);
  const policy::HostPattern pattern = TRY(policy::parse_domain(text, policy::DomainList::kAllowed));
  const auto host = policy::parse_host_port(text);
  if (!host || pattern.kind == policy::HostPattern::Kind::kBelow) return text;
  const bool bracketed = host->host.name.contains(':');
  const std::string name = bracketed ? cat({"[", host->host.name, "]"}) : host->host.name;
  return host->port ? cat({name, ":", std::to_string(*host->port)}) : name;
}

Result<Revoked> revoke(const std::string& host, EndCommands end, const plan::HostFacts& facts,
                       const std::vector<std::string>& environment) {
  const std::string runs = host::runs_directory(TRY(host::own_state_dirs(facts.uid, facts.home)));
  Revoked revoked;
  revoked.policy_file = TRY(remove_entries(host, facts, store::Policies(config_directory(facts, environment))));
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

// An answer that was saved is an entry with a port: a host without one means these as well.
bool is_meant(const std::string& entry, const policy::HostPattern& target) {
  const auto named = policy::parse_domain(entry, policy::DomainList::kAllowed);
  return named && named->kind == target.kind && named->name == target.name && named->range == target.range &&
         (!target.port || named->port == target.port);
}

// From the policy that holds here, those that name exactly this.
Result<std::optional<std::string>> remove_entries(const std::string& host, const plan::HostFacts& facts,
                                                  const store::Policies& policies) {
  const store::HeldPolicy held = TRY(policies.holding(facts.cwd));
  if (held.file.empty()) return std::optional<std::string>();
  const policy::Policy policy = TRY(policy::read_policy(held.text, held.file));
  const bool is_socket = host.starts_with('/');
  std::vector<std::string> entries = is_socket ? policy.network.allow_unix_sockets : policy.network.allowed_domains;
  if (is_socket) {
    std::erase_if(entries, [&](const std::string& entry) { return entry != host; });
  } else {
    const policy::HostPattern target = TRY(policy::parse_domain(host, policy::DomainList::kAllowed));
    std::erase_if(entries, [&](const std::string& entry) { return !is_meant(entry, target); });
  }
  if (entries.empty()) return std::optional<std::string>();
  const std::string key(is_socket ? kSocketKey : kKey);
  const auto without = [&](const std::string& text) -> Result<std::string> {
    std::string left = text;
    for (const std::string& entry : entries) {
      left = TRY(policy::edited(left, {policy::EditKind::kRemove, key, entry}));
    }
    return left;
  };
  const auto scope = held.project ? policy::Scope::kProject : policy::Scope::kDefault;
  const store::HeldPolicy changed = TRY(policies.change(scope, facts.cwd, without));
  return std::optional(changed.file);
}

}  // namespace

}  // namespace hutch::service
