// The user's policies for a sandbox that runs.
#include "service/live/live_policy.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/text.h"
#include "policy/document/reader.h"
#include "service/common/load_policy.h"
#include "service/prepare/prepare.h"
#include "service/vm/machine_place.h"
#include "store/policies.h"

namespace hutch::service {

namespace {

constexpr std::string_view kPolicy = "your policy";

std::optional<approval::Answer> settled(const LiveSandbox& live, const wire::ControlQuestion& open);
void close_answered(const LiveSandbox& live);
std::vector<std::string> left_out(const policy::Network& wanted, const policy::Network& held);

}  // namespace

approval::Place LivePolicy::place() const {
  approval::Place place{approval::Coverage::kFixed, facts_.cwd, {}};
  if (is_fixed()) return place;
  const auto coverage = store::Policies(config_directory(facts_, environment_)).coverage(facts_.cwd);
  // A file that somebody broke meanwhile cannot be written to.
  if (!coverage) return place;
  place.coverage = !coverage->project ? approval::Coverage::kNone
                   : coverage->exact  ? approval::Coverage::kExact
                                      : approval::Coverage::kParent;
  place.project = coverage->project.value_or("");
  return place;
}

Status LivePolicy::save(const approval::Save& save) const {
  const auto apply = [&](const std::string& policy) -> Result<std::string> {
    std::string text = policy;
    for (const policy::Edit& edit : save.edits) text = TRY(policy::edited(text, edit));
    return text;
  };
  const store::Policies policies(config_directory(facts_, environment_), request_.first_policy);
  TRY(policies.change(save.scope, facts_.cwd, apply));
  return {};
}

Result<std::vector<std::string>> LivePolicy::reload(const LiveSandbox& live) const {
  if (is_fixed() && !request_.own_network) return std::vector<std::string>();
  const bool is_kept = is_fixed() && at_start_;
  LoadedPolicy loaded =
      is_kept ? LoadedPolicy{*at_start_, facts_.cwd, {}} : TRY(load_policy(request_, facts_, environment_));
  policy::Network& wanted = loaded.policy.network;
  TRY(settle_network(wanted, network_options(request_, wanted), facts_, loaded.project));
  const BackendKind backend = backend_of(request_, loaded.policy).value_or(policy::kBackendDefault);
  TRY(settle_machine_network(backend, wanted, facts_));
  std::vector<std::string> left;
  if (live.network != nullptr) {
    policy::Network held = live.network->gateway().changeable(wanted);
    left = left_out(wanted, held);
    live.network->gateway().forget_saved_grants();
    TRY(live.network->replace_rules(std::move(held)));
  } else if (live.kind == plan::NetworkKind::kHost) {
    // Without isolation no start has another.
    const bool has_other = wanted.mode != policy::NetworkMode::kHost && backend != BackendKind::kNone;
    if (has_other) left.emplace_back("the network, which is this machine's own until then,");
  } else if (wanted.mode != policy::NetworkMode::kNone && wanted.mode != policy::NetworkMode::kHost) {
    left.emplace_back("the network, which was closed at the start,");
  }
  if (live.sockets != nullptr) live.sockets->replace(wanted, loaded.policy.asks);
  Status files;
  if (live.files != nullptr && !is_kept) {
    FilesNow now = TRY(file_rules(request_, facts_, loaded));
    files = live.files->replace(std::move(now), loaded.policy.asks);
  }
  close_answered(live);
  TRY(files);
  return left;
}

Status LivePolicy::replace(const LiveSandbox& live, const std::string& policy) const {
  policy::Policy given = TRY(policy::read_policy(policy, "policy"));
  const policy::NetworkOptions options = request_.own_network ? request_.own_network() : request_.network;
  TRY(settle_network(given.network, options, facts_, facts_.cwd));
  TRY(settle_machine_network(backend_of(request_, given).value_or(policy::kBackendDefault), given.network, facts_));
  if (live.sockets != nullptr) live.sockets->replace(given.network, given.asks);
  return live.network != nullptr ? live.network->replace_rules(std::move(given.network)) : Status();
}

bool is_saved(approval::Answer answer) {
  return answer == approval::Answer::kProject || answer == approval::Answer::kNewEntry ||
         answer == approval::Answer::kEverywhere;
}

namespace {

// Absent where it is still a question.
std::optional<approval::Answer> settled(const LiveSandbox& live, const wire::ControlQuestion& open) {
  using approval::Answer;
  using approval::Kind;
  const auto answer = [](auto verdict) -> std::optional<Answer> {
    using Verdict = decltype(verdict);
    if (verdict == Verdict::kAsk) return std::nullopt;
    return verdict == Verdict::kAllow ? Answer::kOnce : Answer::kAbort;
  };
  if (open.kind == approval::name_of(Kind::kConnect)) {
    return live.network != nullptr ? answer(live.network->verdict(open.host, open.port)) : std::nullopt;
  }
  if (open.kind == approval::name_of(Kind::kSocket)) {
    return live.sockets != nullptr ? answer(live.sockets->verdict(open.path)) : std::nullopt;
  }
  if (live.files == nullptr || open.kind == approval::name_of(Kind::kIsolation)) return std::nullopt;
  const Kind kind = open.kind == approval::name_of(Kind::kRead) ? Kind::kRead : Kind::kWrite;
  const FileOutcome outcome = live.files->outcome(kind, open.path);
  if (outcome.allowed) return Answer::kOnce;
  return outcome.never ? std::optional(Answer::kAbort) : std::nullopt;
}

// By what the rules say now, either way: nobody could answer otherwise any more.
void close_answered(const LiveSandbox& live) {
  if (live.questions == nullptr) return;
  for (const wire::ControlQuestion& open : live.questions->open()) {
    const auto answer = settled(live, open);
    if (!answer) continue;
    // Somebody may have been faster.
    (void)live.questions->answer({open.id, std::string(approval::name_of(*answer)), std::nullopt}, kPolicy);
  }
}

std::vector<std::string> left_out(const policy::Network& wanted, const policy::Network& held) {
  std::vector<std::string> left;
  const auto compare = [&](const auto& all, const auto& some, const auto& name) {
    for (const auto& one : all) {
      if (std::ranges::find(some, one) == some.end()) left.push_back(name(one));
    }
  };
  compare(wanted.host_ports, held.host_ports,
          [](int port) { return cat({"network.hostPorts ", std::to_string(port)}); });
  compare(wanted.publish, held.publish,
          [](const policy::PublishedPort& port) { return cat({"network.publish ", std::to_string(port.host)}); });
  compare(wanted.allowed_udp, held.allowed_udp,
          [](const std::string& entry) { return cat({"network.allowedUdp ", printable(entry, 64)}); });
  return left;
}

}  // namespace

}  // namespace hutch::service
