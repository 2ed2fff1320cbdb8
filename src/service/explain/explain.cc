// Which rule decides about a path or a host.
#include "service/explain/explain.h"

#include <algorithm>

#include "base/text.h"
#include "host/paths/paths.h"
#include "host/paths/typed_path.h"
#include "plan/make/mounts.h"
#include "plan/make/widening.h"
#include "plan/paths/names.h"
#include "policy/network/address_kinds.h"
#include "policy/network/hosts.h"
#include "policy/network/rules.h"
#include "policy/rules.h"
#include "service/common/filter.h"
#include "service/prepare/start.h"
#include "service/questions/file_question.h"
#include "service/questions/host_sockets.h"
#include "sys/files/tree.h"
#include "sys/net/interfaces.h"
#include "sys/process/host_info.h"

namespace hutch::service {

namespace {

using policy::Access;
using policy::View;

struct Target {
  std::string path;
  plan::FileType type = plan::FileType::kAbsent;
  bool on_host() const { return type != plan::FileType::kAbsent; }  // something is there now
};

Result<PathVerdict> judge_without_questions(const Prepared& prepared, const plan::HostFacts& facts,
                                            const std::string& typed, const Target& target, Access access);
Result<PathVerdict> judge_hidden_way(const Prepared& prepared, const plan::HostFacts& facts, const Target& target,
                                     PathVerdict hidden);
Result<bool> is_asked(const Prepared& prepared, const plan::HostFacts& facts, const Target& target, Access access);
void judge_private(const Prepared& prepared, const Target& target, PathVerdict& verdict);
Status judge_private_home(const Prepared& prepared, const Target& target, PathVerdict& verdict);
void judge_proc(const Prepared& prepared, const Target& target, PathVerdict& verdict);
void judge_name(const plan::SandboxPlan& plan, const Target& target, PathVerdict& verdict);
Status judge_new_name(const Prepared& prepared, const Target& target, PathVerdict& verdict);
Status judge_mode(const plan::HostFacts& facts, const Target& target, PathVerdict& verdict);
bool is_made(const Prepared& prepared, std::string_view path);
bool is_path(const std::string& name, const std::string& cwd);
bool is_own_loopback(const policy::Host& host);
bool is_host_port(const policy::Network& network, const policy::Host& host, int port);
HostVerdict judge_udp(const policy::Network& network, const policy::UdpEntry& target, HostVerdict verdict);
void take(HostVerdict& verdict, policy::HostDecision decision);
void take(HostVerdict& verdict, const policy::AddressDecision& address);
void refuse(PathVerdict& verdict, std::string rule, std::string why);
std::string parent_of(const std::string& path);

}  // namespace

Result<PathVerdict> judge_path(const Prepared& prepared, const plan::HostFacts& facts, const std::string& typed,
                               Access access) {
  if (prepared.backend == BackendKind::kUser) {
    return fail(Error::unsupported(cat(
        {printable(typed), ": backend user has no rules about files; what its user may, the kernel says: sudo -u \\#",
         std::to_string(prepared.plan.uid), " test -r ", shell_word(typed)})));
  }
  if (prepared.backend == BackendKind::kVm) {
    return fail(
        Error::unsupported(cat({printable(typed), ": nothing of this machine's files is in a virtual machine"})));
  }
  const std::string absolute = TRY(policy::absolute_path(typed, facts.home, prepared.plan.cwd));
  const auto is_made_at = [&](std::string_view path) { return is_made(prepared, path); };
  host::PathSeen seen = TRY(host::path_as_seen(absolute, prepared.rules, is_made_at));
  const Target target{std::move(seen.leads_to.path), seen.leads_to.type};
  PathVerdict verdict = TRY(judge_without_questions(prepared, facts, typed, target, access));
  if (prepared.backend == BackendKind::kNone) return verdict;
  if (seen.is_lost) {
    refuse(verdict, "built in", "the way there goes up (..) out of a directory that is not there");
    return verdict;
  }
  if (verdict.allowed) return verdict;
  const host::CanonicalPath host = host::canonical_path(target.path).value_or(host::CanonicalPath());
  if (host.path != target.path) {
    return judge_hidden_way(prepared, facts, {host.path, host.type}, std::move(verdict));
  }
  verdict.asked = TRY(is_asked(prepared, facts, target, access));
  return verdict;
}

Result<HostVerdict> judge_host(const Prepared& prepared, const std::string& typed) {
  static constexpr int kDefaultPort = 443;
  static constexpr std::string_view kUdp = "/udp";
  const bool udp = typed.ends_with(kUdp);
  const policy::HostPort target =
      TRY(policy::parse_host_port(std::string_view(typed).substr(0, typed.size() - (udp ? kUdp.size() : 0))));
  if (udp && !target.port) return fail(Error::invalid(cat({printable(typed), ": write HOST:PORT/udp"})));
  HostVerdict verdict{
      .typed = typed, .host = target.host.name, .port = target.port.value_or(kDefaultPort), .rule = {}, .why = {}};
  if (prepared.backend == BackendKind::kNone) {
    verdict.verdict = policy::HostVerdict::kAllow;
    verdict.rule = "--backend none";
    verdict.why = "nothing is isolated";
    return verdict;
  }
  const policy::Network& network = prepared.policy.network;
  if (network.mode == policy::NetworkMode::kHost) {
    verdict.verdict = policy::HostVerdict::kAllow;
    verdict.rule = "network \"host\"";
    verdict.why = "the network is this machine's own";
    return verdict;
  }
  const policy::UdpEntry datagrams{target.host, verdict.port};
  if (udp) return judge_udp(network, datagrams, std::move(verdict));
  if (is_host_port(network, target.host, verdict.port)) {
    verdict.verdict = policy::HostVerdict::kAllow;
    verdict.rule = cat({"network.hostPorts ", std::to_string(verdict.port)});
    verdict.why = "this host's port is there";
    return verdict;
  }
  take(verdict, policy::decide_host(network, target.host, verdict.port));
  if (target.host.address && verdict.verdict == policy::HostVerdict::kAllow) {
    take(verdict,
         policy::decide_address(network, target.host, *target.host.address, verdict.port, sys::interface_addresses()));
  }
  if (is_own_loopback(target.host)) {
    verdict.why +=
        cat({"; a program that does not use the proxy for it reaches the sandbox's own loopback, where "
             "--allow-host-port ",
             std::to_string(verdict.port), " shows this host's port"});
  }
  return verdict;
}

Result<SocketOutcome> judge_socket(const Prepared& prepared, const plan::HostFacts& facts, const std::string& typed) {
  const std::string absolute = TRY(policy::absolute_path(typed, facts.home, prepared.plan.cwd));
  const auto canonical = sys::canonical_path(absolute);
  SocketOutcome outcome{
      .typed = typed, .path = canonical ? *canonical : host::settled_socket(absolute), .rule = {}, .why = {}};
  if (prepared.backend == BackendKind::kNone) {
    outcome.verdict = policy::SocketVerdict::kAllow;
    outcome.rule = "--backend none";
    outcome.why = "nothing is isolated";
    return outcome;
  }
  const policy::SocketDecision decision =
      judge_socket(prepared.policy.network, prepared.policy.asks, prepared.rules, outcome.path).decision;
  outcome.verdict = decision.verdict;
  outcome.rule = decision.rule;
  outcome.why = decision.verdict == policy::SocketVerdict::kAllow ? "it names that socket" : decision.why;
  if (prepared.plan.supervisor != plan::Supervisor::kNone) return outcome;
  outcome.verdict = policy::SocketVerdict::kDeny;
  outcome.rule = "built in";
  outcome.why = prepared.backend == BackendKind::kVm ? "backend vm reaches none of the host's sockets"
                : prepared.backend == BackendKind::kUser
                    ? "backend user reaches none of the host's sockets"
                    : "this kernel has no supervised sockets: none of the host's is reached";
  return outcome;
}

Result<Explanation> explain(const PlaceRequest& request, const plan::HostFacts& facts, const Caller& caller,
                            const std::vector<std::string>& names) {
  Explanation explanation;
  explanation.prepared = TRY(prepare(request, facts, caller));
  // Where hutch knows no table, a run says so.
  (void)add_filter(explanation.prepared, facts);
  for (const std::string& name : names) {
    if (is_path(name, explanation.prepared.plan.cwd)) {
      explanation.paths.push_back(TRY(judge_path(explanation.prepared, facts, name, Access::kRead)));
      explanation.paths.push_back(TRY(judge_path(explanation.prepared, facts, name, Access::kWrite)));
      continue;
    }
    explanation.hosts.push_back(TRY(judge_host(explanation.prepared, name)));
  }
  return explanation;
}

namespace {

Result<PathVerdict> judge_without_questions(const Prepared& prepared, const plan::HostFacts& facts,
                                            const std::string& typed, const Target& target, Access access) {
  const policy::Decision decision = policy::decide(prepared.rules, access, target.path);
  PathVerdict verdict{.typed = typed,
                      .path = target.path,
                      .access = access,
                      .allowed = decision.allowed,
                      .rule = decision.rule,
                      .why = decision.why};
  if (prepared.backend == BackendKind::kNone) {
    verdict.allowed = true;
    verdict.rule = "--backend none";
    verdict.why = "nothing is isolated";
    TRY(judge_mode(facts, target, verdict));
    return verdict;
  }
  if (decision.view == View::kHidden && plan::is_in_private_home(prepared.plan, facts.home, target.path)) {
    TRY(judge_private_home(prepared, target, verdict));
  }
  if (!verdict.allowed) return verdict;
  switch (decision.view) {
    case View::kPrivate:
    case View::kDevices: judge_private(prepared, target, verdict); break;
    case View::kProc:
      judge_proc(prepared, target, verdict);
      if (verdict.allowed) TRY(judge_mode(facts, target, verdict));
      break;
    case View::kReadWrite:
      if (access == Access::kWrite) judge_name(prepared.plan, target, verdict);
      if (access == Access::kWrite && verdict.allowed) TRY(judge_new_name(prepared, target, verdict));
      if (verdict.allowed) TRY(judge_mode(facts, target, verdict));
      break;
    case View::kReadOnly:
    case View::kSys: TRY(judge_mode(facts, target, verdict)); break;
    case View::kHidden: break;
  }
  return verdict;
}

// A hidden link of the host is followed by whoever answers for a look at it, hutch itself where a rule shows what it
// leads to. Nobody does it for a change.
Result<PathVerdict> judge_hidden_way(const Prepared& prepared, const plan::HostFacts& facts, const Target& target,
                                     PathVerdict hidden) {
  const bool looks = hidden.access == Access::kRead && prepared.plan.questions == plan::FileQuestions::kAll;
  const bool is_file = target.type == plan::FileType::kDirectory || target.type == plan::FileType::kFile;
  const View view = policy::decide(prepared.rules, hidden.access, target.path).view;
  const bool is_host = view == View::kHidden || view == View::kReadOnly || view == View::kReadWrite;
  if (!looks || !is_file || !is_host) return hidden;
  PathVerdict verdict = TRY(judge_without_questions(prepared, facts, hidden.typed, target, hidden.access));
  if (verdict.allowed) verdict.why += "; the link to it is hidden, and followed only where somebody may be asked";
  if (!verdict.allowed) verdict.asked = TRY(is_asked(prepared, facts, target, hidden.access));
  return verdict;
}

// As service/questions/host_files has it, which opens what the answer allows.
Result<bool> is_asked(const Prepared& prepared, const plan::HostFacts& facts, const Target& target, Access access) {
  const bool reads = access == Access::kRead;
  if (prepared.plan.questions == plan::FileQuestions::kNone) return false;
  if (!plan::is_of_host(prepared.plan, target.path)) return false;
  // In a private home a new file is the sandbox's own.
  const bool is_own = !target.on_host() || is_made(prepared, parent_of(target.path));
  if (!reads && is_own && plan::is_in_private_home(prepared.plan, facts.home, target.path)) return false;
  if (reads && (prepared.plan.questions != plan::FileQuestions::kAll || !target.on_host())) return false;
  if (target.on_host() && target.type != plan::FileType::kDirectory && target.type != plan::FileType::kFile) {
    return false;
  }
  const FileRules rules{prepared.rules, prepared.policy.asks, &prepared.plan.names};
  const FileOutcome outcome = judge_file(rules, reads ? approval::Kind::kRead : approval::Kind::kWrite, target.path);
  if (outcome.never || outcome.allowed) return false;
  PathVerdict mode{.typed = {}, .path = target.path, .access = access, .allowed = true, .rule = {}, .why = {}};
  TRY(judge_mode(facts, target, mode));
  if (!mode.allowed) return false;
  if (is_divided(prepared.rules, prepared.plan, target.path)) return false;
  if (reads) return true;
  const std::string parent = parent_of(target.path);
  const auto above = TRY(sys::status_of(parent));
  return above && (!outcome.hidden || target.on_host() || is_passed_through(prepared.plan, parent));
}

HostVerdict judge_udp(const policy::Network& network, const policy::UdpEntry& target, HostVerdict verdict) {
  take(verdict, policy::decide_udp(network, target));
  if (!target.host.address || verdict.verdict == policy::HostVerdict::kDeny) return verdict;
  take(verdict, policy::decide_udp_address(network, target, *target.host.address, sys::interface_addresses()));
  return verdict;
}

void take(HostVerdict& verdict, policy::HostDecision decision) {
  verdict.verdict = decision.verdict;
  verdict.rule = std::move(decision.rule);
  verdict.why = std::move(decision.why);
}

void take(HostVerdict& verdict, const policy::AddressDecision& address) {
  if (address.allowed) return;
  verdict.verdict = policy::HostVerdict::kDeny;
  verdict.rule = "addresses";
  verdict.why = address.why;
}

// What the host has below a private place is not there; what the sandbox makes there itself is.
void judge_private(const Prepared& prepared, const Target& target, PathVerdict& verdict) {
  if (verdict.access == Access::kWrite || !target.on_host() || is_made(prepared, target.path)) return;
  const bool below_devices = is_within(target.path, "/dev");
  const bool hosts_own = target.path.starts_with("/dev/shm/") || target.path.starts_with("/dev/pts/");
  if (below_devices && !hosts_own) return;
  refuse(verdict, verdict.rule,
         "the host's file is not visible there; the sandbox's own directory is empty at the start");
}

// The host's files in a private home stay hidden, including those in directories that hutch makes there.
Status judge_private_home(const Prepared& prepared, const Target& target, PathVerdict& verdict) {
  const bool made = is_made(prepared, target.path);
  if (verdict.access == Access::kRead && !made) return {};
  const std::string parent = parent_of(target.path);
  if (target.on_host() && !made) {
    refuse(verdict, verdict.rule, "the host's file is not visible there; the home inside is the sandbox's own");
    return {};
  }
  if (!made && !is_made(prepared, parent) && TRY(sys::status_of(parent))) {
    refuse(verdict, verdict.rule,
           cat({"the host's directory ", printable(parent), " is not visible there; the sandbox may make its own"}));
    return {};
  }
  verdict.allowed = true;
  verdict.why = "the home is the sandbox's own, empty at the start and gone at the end";
  return {};
}

void judge_proc(const Prepared& prepared, const Target& target, PathVerdict& verdict) {
  for (const std::string& name : prepared.plan.hidden_proc) {
    if (is_within(target.path, "/proc/" + name))
      refuse(verdict, "built in", "the kernel's own memory and keys are hidden");
  }
}

// An entry that allows writing what does not exist is of use only where the directory above can be written.
// What the supervisor would say, which knows names wherever they turn up.
void judge_name(const plan::SandboxPlan& plan, const Target& target, PathVerdict& verdict) {
  const auto covers = [&](const std::string& mount) { return is_within(target.path, mount); };
  if (std::ranges::none_of(plan.supervised, covers)) return;
  const auto rule = plan::denied_name(plan.names, target.path);
  if (rule) refuse(verdict, rule->rule, "this name is not written, wherever it is");
}

Status judge_new_name(const Prepared& prepared, const Target& target, PathVerdict& verdict) {
  std::string existing = target.path;
  if (!target.on_host()) {
    do {
      existing = parent_of(existing);
    } while (existing != "/" && !TRY(sys::status_of(existing)));
  }
  if (existing == "/") {
    refuse(verdict, "built in", "/ itself is the sandbox's own, and no name can be made in it");
    return {};
  }
  const policy::Decision above = policy::decide(prepared.rules, Access::kWrite, existing);
  if (!above.allowed) {
    refuse(verdict, above.rule,
           cat({"it does not exist, and no name can be made in ", printable(existing), ": ", above.why}));
  }
  return {};
}

// What the kernel asks besides: the mode of the file, or of the directory in which it would be made.
Status judge_mode(const plan::HostFacts& facts, const Target& target, PathVerdict& verdict) {
  const std::string subject = target.on_host() ? target.path : parent_of(target.path);
  if (!target.on_host() && verdict.access == Access::kRead) return {};
  const auto kind = verdict.access == Access::kRead ? approval::Kind::kRead : approval::Kind::kWrite;
  if (!TRY(mode_allows(facts, subject, kind))) {
    refuse(verdict, "file mode",
           cat({"the mode of ", printable(subject), " does not let this user ",
                verdict.access == Access::kRead ? "read" : "write", " it"}));
  }
  return {};
}

bool is_made(const Prepared& prepared, std::string_view path) {
  return std::ranges::any_of(prepared.plan.mounts,
                             [&](const plan::MountStep& step) { return is_within(step.target, path); });
}

bool is_path(const std::string& name, const std::string& cwd) {
  if (name.find('/') != std::string::npos || name.starts_with('.') || name.starts_with('~')) return true;
  const bool like_a_host = name.find_first_of(".:") != std::string::npos || name == "localhost";
  if (!like_a_host) return true;
  const auto status = sys::status_of(cat({cwd, "/", name}));
  return status && status->has_value();
}

// Programs connect there directly (NO_PROXY), and the gateway never sees it.
bool is_own_loopback(const policy::Host& host) {
  return host.name == "localhost" || (host.address && policy::is_loopback(*host.address));
}

// At the sandbox's own loopback.
bool is_host_port(const policy::Network& network, const policy::Host& host, int port) {
  return is_own_loopback(host) && network.mode != policy::NetworkMode::kNone &&
         std::ranges::find(network.host_ports, port) != network.host_ports.end();
}

void refuse(PathVerdict& verdict, std::string rule, std::string why) {
  verdict.allowed = false;
  verdict.rule = std::move(rule);
  verdict.why = std::move(why);
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? std::string("/") : path.substr(0, slash);
}

}  // namespace

}  // namespace hutch::service
