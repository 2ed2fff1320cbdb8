// What all connections of one gateway share.
#include "egress/core.h"

#include <algorithm>

#include "base/text.h"
#include "policy/network/domains.h"
#include "sys/net/interfaces.h"

namespace hutch::egress {

namespace {

// More hosts than this are refused as well, but not told.
constexpr std::size_t kRefusedMax = 1000;
constexpr std::chrono::seconds kOwnAddressesKeep{5};
// After a look for a process that took longer than this, there is none for so many times as long.
constexpr std::chrono::milliseconds kLookFree{5};
constexpr int kLookPause = 20;

policy::HostDecision decision_of(const policy::Network& network, const Target& target) {
  if (target.port == 0) return policy::decide_name(network, target.host);
  if (target.transport == sys::Transport::kUdp) return policy::decide_udp(network, {target.host, target.port});
  return policy::decide_host(network, target.host, target.port);
}

}  // namespace

std::string to_string(const Target& target) {
  if (target.port == 0) return target.host.name;
  const bool v6 = target.host.address && target.host.address->family == IpFamily::kV6;
  return cat({v6 ? "[" : "", target.host.name, v6 ? "]:" : ":", std::to_string(target.port),
              target.transport == sys::Transport::kUdp ? "/udp" : ""});
}

bool is_named(std::string_view name, std::string_view target) {
  if (name == target) return true;
  if (name.size() <= target.size() + 1 || !name.starts_with(target) || name[target.size()] != ':') return false;
  // "[::1]:22" is no port of "[".
  return name.find(':', target.size() + 1) == std::string_view::npos;
}

Core::Core(std::unique_ptr<Loop> loop, Settings settings)
    : loop_(std::move(loop)), settings_(std::move(settings)), resolver_(*loop_), inspector_(*loop_) {}

Settings::Placeholders Core::placeholders(const policy::Host& host, int port) const {
  if (!settings_.placeholders) return {};
  for (const std::string& entry : network().tls.exclude_domains) {
    if (policy::matches_domain(entry, host, port)) return {};
  }
  return settings_.placeholders(host);
}

Ruling Core::rule(const Target& target) const {
  const policy::HostDecision decision = decision_of(network(), target);
  switch (decision.verdict) {
    case policy::HostVerdict::kAllow: return {Verdict::kAllow, decision.rule, decision.why};
    case policy::HostVerdict::kDeny: return {Verdict::kDeny, decision.rule, decision.why};
    case policy::HostVerdict::kAsk: break;
  }
  if (is_granted(target)) return {Verdict::kAllow, std::string(kAnswerRule), "was allowed for this run"};
  const bool attended = settings_.attended && settings_.attended();
  return {attended ? Verdict::kAsk : Verdict::kDeny, decision.rule, decision.why};
}

bool Core::is_denied(const Target& target) const {
  return decision_of(network(), target).verdict == policy::HostVerdict::kDeny;
}

bool Core::is_granted(const Target& target) const {
  const auto found = granted_.find(to_string(target));
  return found != granted_.end() && SteadyClock::now() < found->second.until;
}

void Core::forget_saved_grants() {
  std::erase_if(granted_, [](const auto& entry) { return entry.second.saved; });
}

std::size_t Core::revoke(const std::string& target) {
  return std::erase_if(granted_, [&](const auto& entry) { return is_named(entry.first, target); });
}

policy::AddressDecision Core::rule_address(const Target& target, const IpAddress& address, policy::AddressSource source,
                                           Basis basis) {
  if (basis == Basis::kAnswer && target.host.address == address) {
    return policy::decide_answered(network(), address, target.port);
  }
  if (target.transport == sys::Transport::kUdp) {
    return policy::decide_udp_address(network(), {target.host, target.port}, address, own_addresses(), source);
  }
  return policy::decide_address(network(), target.host, address, target.port, own_addresses(), source);
}

void Core::ask(const Target& target, const Peer& peer, OnPermission on_answer) {
  const std::string name = to_string(target);
  const auto same = std::ranges::find_if(
      questions_, [&](const auto& open) { return to_string(open.second.question.target) == name; });
  if (same != questions_.end()) return same->second.on_answers.push_back(std::move(on_answer));
  const std::uint64_t id = ++last_question_;
  Open& open = questions_[id];
  open.question = {id, target, process_of(peer)};
  open.on_answers.push_back(std::move(on_answer));
  tell(open.question);
}

bool Core::answer(std::uint64_t id, Answer answer, std::optional<std::chrono::minutes> holds) {
  const auto found = questions_.find(id);
  if (found == questions_.end()) return false;
  if (answer == Answer::kSession || answer == Answer::kSaved) {
    const Moment until = holds ? SteadyClock::now() + *holds : Moment::max();
    granted_.insert_or_assign(to_string(found->second.question.target), Grant{until, answer == Answer::kSaved});
  }
  close_question(id, answer == Answer::kNo     ? Permission::kRefused
                     : answer == Answer::kOnce ? Permission::kOnce
                                               : Permission::kGiven);
  return true;
}

void Core::close_question(std::uint64_t id, Permission permission) {
  auto closed = questions_.extract(id);
  if (closed.empty()) return;
  const Open& open = closed.mapped();
  for (std::size_t at = 0; at < open.on_answers.size(); ++at) {
    open.on_answers[at](permission, at == 0 ? open.question.process : Process{});
  }
}

void Core::refuse(const Target& target, const Ruling& ruling, const Peer& peer, const Process& known) {
  const bool is_first = !refused_.contains(target.host.name);
  if (is_first ? refused_.size() >= kRefusedMax : settings_.refusals == Settings::Refusals::kFirst) return;
  if (is_first) refused_.insert(target.host.name);
  tell(Refusal{.target = target,
               .rule = ruling.rule,
               .why = ruling.why,
               .remedy = remedy_for(target, ruling),
               .process = known.pid != 0 || !is_first ? known : process_of(peer)});
}

// A look at all processes, and how many there are is up to the sandbox: it takes a small part of the time at most.
Process Core::process_of(const Peer& peer) {
  const Moment began = SteadyClock::now();
  if (!find_process_ || began < next_look_) return {};
  Process process = find_process_(peer.transport, peer.endpoint);
  const auto took = SteadyClock::now() - began;
  if (took > kLookFree) next_look_ = began + took * kLookPause;
  return process;
}

std::string Core::remedy_for(const Target& target, const Ruling& ruling) const {
  const bool by_address = ruling.rule == "the address";
  if (ruling.rule != "default" && !by_address) return {};
  // An address that is refused because of what it is needs an entry that names it.
  if (by_address && !target.host.address) return {};
  const bool v6 = target.host.address && target.host.address->family == IpFamily::kV6;
  return cat({settings_.remedy, " ", v6 ? "'[" : "", target.host.name, v6 ? "]'" : ""});
}

Status Core::start_inspector() {
  if (inspector_.is_started()) return {};
  const bool first = inspector_trust_.ca_certificate.empty();
  wire::InspectReady ready =
      TRY(inspector_.start(settings_.inspector_program, {.extra_ca_paths = network().tls.extra_ca_paths,
                                                         .java_store = first && settings_.java_store}));
  if (first) inspector_trust_ = std::move(ready);
  return {};
}

const std::vector<IpAddress>& Core::own_addresses() {
  const Moment now = SteadyClock::now();
  if (now < own_addresses_until_) return own_addresses_;
  own_addresses_ = sys::interface_addresses();
  own_addresses_until_ = now + kOwnAddressesKeep;
  return own_addresses_;
}

}  // namespace hutch::egress
