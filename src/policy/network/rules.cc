// Decides about hosts and addresses; http_rules.cc about requests.
#include "policy/network/rules.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "policy/network/address_kinds.h"
#include "policy/network/domains.h"
#include "policy/network/udp.h"

namespace hutch::policy {

namespace {

// What is asked about: without a port, of a name alone.
struct Question {
  const Host& host;
  std::optional<int> port;
};

// What a list is called in a policy file, and on the command line.
struct ListName {
  std::string_view key;
  std::string_view option;
};

// What is known of an address besides what it is.
struct Circumstances {
  std::span<const IpAddress> own;  // the host's
  bool exempt = false;             // an entry names it
};

constexpr ListName kUdpList = {"network.allowedUdp", "--allow-udp"};

AddressDecision judge_address(const Network& network, const UdpEntry& asked, const IpAddress& resolved,
                              const Circumstances& circumstances);
HostDecision nothing_is_reachable();
HostDecision decide_question(const Network& network, const Question& question);
std::optional<HostDecision> denied(const Network& network, const Question& question);
std::optional<HostDecision> denied_as_address(const Network& network, const Host& host);
std::optional<HostDecision> allowed(const Network& network, const Question& question);
bool allows(const std::string& entry, const Question& question);
bool denies(const std::string& entry, const Question& question);
const std::optional<HostPattern>& pattern_of(const std::string& entry, DomainList list);
std::string_view reason_of(const Network& network, std::string_view entry);
std::string rule_name(const Network& network, const ListName& name, const std::string& entry);
std::string quoted(std::string_view list, std::string_view entry);
bool port_fits(const HostPattern& pattern, int port);
const std::string* denying_range(const Network& network, const IpAddress& address, int port);
bool is_exempt(const Network& network, const Host& asked, const IpAddress& address, int port);
bool is_named(const Network& network, const Host& asked, int port);
bool is_of_others(std::span<const IpAddress> own, const IpAddress& address);
bool is_own(std::span<const IpAddress> own, const IpAddress& address);

}  // namespace

HostDecision decide_host(const Network& network, const Host& host, int port) {
  return decide_question(network, {host, port});
}

HostDecision decide_name(const Network& network, const Host& host) {
  return decide_question(network, {host, std::nullopt});
}

AddressDecision decide_address(const Network& network, const Host& asked, const IpAddress& resolved, int port,
                               std::span<const IpAddress> own, AddressSource source) {
  const bool listed =
      source == AddressSource::kHostsFile && is_of_others(own, resolved) && is_named(network, asked, port);
  return judge_address(network, {asked, port}, resolved, {own, listed || is_exempt(network, asked, resolved, port)});
}

AddressDecision decide_answered(const Network& network, const IpAddress& answered, int port) {
  return judge_address(network, {{to_string(answered), answered}, port}, answered, {{}, true});
}

HostDecision decide_udp(const Network& network, const UdpEntry& asked) {
  using enum HostVerdict;
  if (network.mode == NetworkMode::kNone) return nothing_is_reachable();
  if (auto decision = denied(network, {asked.host, asked.port})) return *std::move(decision);
  for (const std::string& text : network.allowed_udp) {
    const auto entry = parse_udp(text);
    if (entry && *entry == asked) return {kAllow, rule_name(network, kUdpList, text), "an entry allows it"};
  }
  return {kDeny, std::string(kUdpList.key), "no entry of it names this host and port"};
}

AddressDecision decide_udp_address(const Network& network, const UdpEntry& asked, const IpAddress& resolved,
                                   std::span<const IpAddress> own, AddressSource source) {
  // An entry for UDP always names its host without a star.
  const bool listed = source == AddressSource::kHostsFile && is_of_others(own, resolved);
  const bool exempt = listed || asked.host.address == resolved || is_exempt(network, asked.host, resolved, asked.port);
  return judge_address(network, asked, resolved, {own, exempt});
}

namespace {

AddressDecision judge_address(const Network& network, const UdpEntry& asked, const IpAddress& resolved,
                              const Circumstances& circumstances) {
  const std::string text = to_string(resolved);
  const auto refused = [&](std::initializer_list<std::string_view> why) {
    return AddressDecision{.allowed = false, .why = cat({text, " ", cat(why)})};
  };
  if (network.mode == NetworkMode::kNone) return refused({"cannot be reached: network is \"none\""});
  if (const std::string* entry = denying_range(network, resolved, asked.port)) {
    return refused({"is denied by ", *entry});
  }
  const bool own = is_own(circumstances.own, resolved) && !is_loopback(resolved);
  const std::string_view kind = own ? "an address of this host" : special_kind(resolved);
  if (kind.empty()) return {.allowed = true, .why = cat({text, " is a public address"})};
  if (circumstances.exempt) return {.allowed = true, .why = cat({text, " is ", kind, ", and an entry names it"})};
  return refused({"is ", kind,
                  "; only an entry of network.allowedDomains that names the address, or a range around it, ",
                  "allows that"});
}

HostDecision nothing_is_reachable() { return {HostVerdict::kDeny, "network \"none\"", "nothing is reachable"}; }

HostDecision decide_question(const Network& network, const Question& question) {
  using enum HostVerdict;
  if (network.mode == NetworkMode::kNone) return nothing_is_reachable();
  if (auto decision = denied(network, question)) return *std::move(decision);
  if (auto decision = denied_as_address(network, question.host)) return *std::move(decision);
  if (auto decision = allowed(network, question)) return *std::move(decision);
  if (network.mode == NetworkMode::kOutbound) {
    return {kAllow, "network \"outbound\"", "everything but this host and private addresses"};
  }
  if (network.asking == Asking::kNever) {
    return {kDeny, "network.strictAllowlist", "no entry of network.allowedDomains names it"};
  }
  if (network.connect_questions == Asking::kNever) {
    return {kDeny, "ask.connect \"deny\"", "no entry of network.allowedDomains names it"};
  }
  const std::string_view kind = question.host.address ? special_kind(*question.host.address) : std::string_view();
  return {kAsk, "default",
          cat({kind.empty() ? "" : "it is ", kind, kind.empty() ? "" : ", and ",
               "no entry of network.allowedDomains names it"})};
}

// An answer would open none of these.
std::optional<HostDecision> denied_as_address(const Network& network, const Host& host) {
  if (!host.address) return std::nullopt;
  for (const std::string& entry : network.denied_resolved_addresses) {
    const auto range = parse_address_range(entry);
    if (range && !range_holds(*range, *host.address)) continue;
    return HostDecision{HostVerdict::kDeny, quoted("network.deniedResolvedAddresses", entry), "an entry denies it"};
  }
  return std::nullopt;
}

std::optional<HostDecision> denied(const Network& network, const Question& question) {
  for (const std::string& entry : network.denied_domains) {
    if (!denies(entry, question)) continue;
    const std::string_view reason = reason_of(network, entry);
    return HostDecision{HostVerdict::kDeny, rule_name(network, {"network.deniedDomains", "--deny-domain"}, entry),
                        std::string(reason.empty() ? "an entry denies it" : reason)};
  }
  return std::nullopt;
}

std::optional<HostDecision> allowed(const Network& network, const Question& question) {
  for (const std::string& entry : network.allowed_domains) {
    if (!allows(entry, question)) continue;
    return HostDecision{HostVerdict::kAllow, rule_name(network, {"network.allowedDomains", "--allow-domain"}, entry),
                        "an entry allows it"};
  }
  for (const HttpRule& rule : network.rules) {
    if (!allows(rule.host, question)) continue;
    return HostDecision{HostVerdict::kAllow, quoted("network.rules", rule.host), "a rule is about its requests"};
  }
  if (question.port) return std::nullopt;
  for (const std::string& text : network.allowed_udp) {
    const auto entry = parse_udp(text);
    if (!entry || entry->host != question.host) continue;
    return HostDecision{HostVerdict::kAllow, rule_name(network, kUdpList, text), "an entry allows it"};
  }
  return std::nullopt;
}

bool allows(const std::string& entry, const Question& question) {
  const std::optional<HostPattern>& pattern = pattern_of(entry, DomainList::kAllowed);
  if (!pattern) return false;
  return question.port ? pattern->matches(question.host, *question.port) : pattern->matches_host(question.host);
}

// A deny of one port is none of the name. What cannot be read denies: the reader has refused such entries, and a list
// that came another way may not become weaker by it.
bool denies(const std::string& entry, const Question& question) {
  const std::optional<HostPattern>& pattern = pattern_of(entry, DomainList::kDenied);
  if (!pattern) return true;
  if (pattern->port && pattern->port != question.port) return false;
  return pattern->matches_host(question.host) || (question.host.address && pattern->holds(*question.host.address));
}

// The lists are text, and are asked with each query and each connection: what was parsed is kept. One policy's entries
// at a time, but for those of its predecessors.
const std::optional<HostPattern>& pattern_of(const std::string& entry, DomainList list) {
  static constexpr std::size_t kKeptMax = 16'384;
  thread_local std::unordered_map<std::string, std::optional<HostPattern>> kept[2];
  auto& patterns = kept[list == DomainList::kDenied ? 1 : 0];
  const auto found = patterns.find(entry);
  if (found != patterns.end()) return found->second;
  if (patterns.size() >= kKeptMax) patterns.clear();
  auto parsed = parse_domain(entry, list);
  return patterns.emplace(entry, parsed ? std::optional(*std::move(parsed)) : std::nullopt).first->second;
}

std::string_view reason_of(const Network& network, std::string_view entry) {
  const auto found = std::ranges::find_if(network.denied_reasons, [&](const auto& one) { return one.first == entry; });
  return found == network.denied_reasons.end() ? std::string_view() : std::string_view(found->second);
}

std::string rule_name(const Network& network, const ListName& name, const std::string& entry) {
  const bool by_option = std::ranges::find(network.from_options, entry) != network.from_options.end();
  return quoted(by_option ? name.option : name.key, entry);
}

std::string quoted(std::string_view list, std::string_view entry) { return cat({list, " \"", printable(entry), "\""}); }

bool port_fits(const HostPattern& pattern, int port) { return !pattern.port || *pattern.port == port; }

const std::string* denying_range(const Network& network, const IpAddress& address, int port) {
  for (const std::string& entry : network.denied_resolved_addresses) {
    const auto range = parse_address_range(entry);
    if (!range || range_holds(*range, address)) return &entry;
  }
  for (const std::string& entry : network.denied_domains) {
    const std::optional<HostPattern>& pattern = pattern_of(entry, DomainList::kDenied);
    if (!pattern || (port_fits(*pattern, port) && pattern->holds(address))) return &entry;
  }
  return nullptr;
}

bool is_exempt(const Network& network, const Host& asked, const IpAddress& address, int port) {
  const bool own_name = asked.name == "localhost" && is_loopback(address);
  const auto exempts = [&](const std::string& entry) {
    const std::optional<HostPattern>& pattern = pattern_of(entry, DomainList::kAllowed);
    if (!pattern || !port_fits(*pattern, port)) return false;
    return pattern->holds(address) ||
           (own_name && pattern->kind == HostPattern::Kind::kName && pattern->name == "localhost");
  };
  return std::ranges::any_of(network.allowed_domains, exempts) ||
         std::ranges::any_of(network.rules, exempts, &HttpRule::host);
}

// Whether an entry without a star names the host.
bool is_named(const Network& network, const Host& asked, int port) {
  const auto names = [&](const std::string& entry) {
    const std::optional<HostPattern>& pattern = pattern_of(entry, DomainList::kAllowed);
    return pattern && pattern->kind == HostPattern::Kind::kName && pattern->matches(asked, port);
  };
  return std::ranges::any_of(network.allowed_domains, names) ||
         std::ranges::any_of(network.rules, names, &HttpRule::host);
}

// Whether the address belongs to another host in a private network.
bool is_of_others(std::span<const IpAddress> own, const IpAddress& address) {
  return is_private(address) && !is_own(own, address);
}

bool is_own(std::span<const IpAddress> own, const IpAddress& address) {
  const auto plain = [](const IpAddress& one) { return embedded_v4(one).value_or(one); };
  return std::ranges::any_of(own, [&](const IpAddress& one) { return plain(one) == plain(address); });
}

}  // namespace

}  // namespace hutch::policy
