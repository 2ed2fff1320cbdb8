// Narrows a network to some hosts.
#include "policy/document/narrow.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "policy/network/domains.h"
#include "policy/network/hosts.h"

namespace hutch::policy {

namespace {

// The entry for this host alone, at the pattern's port; nothing where the pattern is about others.
std::optional<std::string> entry_for(const std::string& pattern, const Host& host) {
  const auto parsed = parse_domain(pattern, DomainList::kAllowed);
  if (!parsed || !parsed->matches_host(host)) return std::nullopt;
  return parsed->port ? cat({host.name, ":", std::to_string(*parsed->port)}) : host.name;
}

}  // namespace

Status narrow_to(Network& network, const std::vector<std::string>& hosts) {
  if (network.mode == NetworkMode::kHost) {
    return fail(Error::unsupported("the network is the machine's own, which no rule holds"));
  }
  std::vector<std::string> allowed;
  std::vector<HttpRule> rules;
  for (const std::string& name : hosts) {
    const Host host = TRY(canonical_host(name));
    if (network.mode == NetworkMode::kOutbound) allowed.push_back(host.name);
    for (const std::string& pattern : network.allowed_domains) {
      if (auto entry = entry_for(pattern, host)) allowed.push_back(std::move(*entry));
    }
    for (const HttpRule& rule : network.rules) {
      auto entry = entry_for(rule.host, host);
      if (!entry) continue;
      rules.push_back(rule);
      rules.back().host = std::move(*entry);
    }
  }
  const bool opens = network.mode != NetworkMode::kNone && (!allowed.empty() || !rules.empty());
  network.mode = opens ? NetworkMode::kRules : NetworkMode::kNone;
  network.allowed_domains = std::move(allowed);
  network.rules = std::move(rules);
  network.asking = Asking::kNever;
  network.connect_questions = Asking::kNever;
  network.allowed_udp.clear();
  network.allow_unix_sockets.clear();
  network.host_ports.clear();
  network.publish.clear();
  return {};
}

}  // namespace hutch::policy
