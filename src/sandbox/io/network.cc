// The network of one sandbox.
#include "sandbox/io/network.h"

#include "base/text.h"
#include "policy/network/rules.h"
#include "sys/net/socket_owner.h"

namespace hutch::sandbox {

namespace {

constexpr int kStepsAtOnce = 8;

Refusal egress_refusal(const egress::Refusal& refused) {
  const std::string remedy = refused.remedy.empty() ? std::string() : cat({"; ", refused.remedy, " allows it"});
  return {.what = cat({printable(egress::to_string(refused.target)), " was refused: ", printable(refused.why), remedy}),
          .rule = refused.rule,
          .host = refused.target.host.name,
          .port = refused.target.port,
          .pid = refused.process.pid,
          .program = refused.process.program};
}

approval::Question question_of(const egress::Question& question) {
  return {.kind = approval::Kind::kConnect,
          .target = egress::to_string(question.target),
          .process = {question.process.pid, question.process.program, question.process.chain},
          .rule = "default"};
}

}  // namespace

Result<std::unique_ptr<Network>> Network::make(egress::Settings settings, Questions* questions) {
  if (questions != nullptr) settings.attended = [questions] { return questions->may_allow(); };
  auto gateway = TRY(egress::Gateway::make(std::move(settings)));
  TRY(gateway->publish());
  return std::make_unique<Network>(std::move(gateway), questions);
}

Status Network::attach(const wire::Network& network, std::vector<UniqueFd> sockets) {
  if (!network.no_capture.empty()) {
    refusals_.push_back({.what = cat({"connections cannot be captured here (", printable(network.no_capture),
                                      "): programs that do not use the proxy reach nothing"}),
                         .rule = "built in"});
  }
  return gateway_->attach(network, std::move(sockets));
}

void Network::look_for_processes(const backend::Instance& instance) {
  gateway_->find_processes_by([&instance](sys::Transport transport, const sys::Endpoint& peer) {
    const auto found = sys::find_socket_owner(instance.inside(), transport, peer);
    return found ? egress::Process{static_cast<std::uint32_t>(found->pid), found->program, found->chain}
                 : egress::Process{};
  });
}

// What is told may be answered at once, and what that ends is let go of by the next step: whoever waits for the end of
// a connection would wait for somebody else's traffic.
Status Network::step() {
  for (int i = 0; i < kStepsAtOnce; ++i) {
    TRY(gateway_->step());
    const std::vector<egress::Event> events = gateway_->take_events();
    if (events.empty()) return {};
    for (const egress::Event& event : events) take(event);
  }
  return gateway_->step();
}

Status Network::close() {
  TRY(step());
  gateway_->close();
  return step();
}

void Network::take(const egress::Event& event) {
  if (const auto* refused = std::get_if<egress::Refusal>(&event)) refusals_.push_back(egress_refusal(*refused));
  if (const auto* passed = std::get_if<egress::Passed>(&event)) {
    if (on_passed_) on_passed_(*passed);
  }
  if (const auto* question = std::get_if<egress::Question>(&event)) {
    ask(*question);
  }
}

void Network::ask(const egress::Question& question) {
  const std::uint64_t id = question.id;
  questions_->ask(question_of(question), [this, id](const approval::Effect& effect) {
    using Answer = egress::Core::Answer;
    if (!effect.allowed) return (void)gateway_->answer(id, Answer::kNo, std::nullopt);
    if (!effect.grant) return (void)gateway_->answer(id, Answer::kOnce, std::nullopt);
    if (effect.save) return (void)gateway_->answer(id, Answer::kSaved, std::nullopt);
    // The tree of this command is all that this gateway serves.
    const bool ends = effect.grant->span == approval::Answer::kMinutes;
    (void)gateway_->answer(id, Answer::kSession, ends ? std::optional(effect.grant->minutes) : std::nullopt);
  });
}

policy::HostVerdict Network::verdict(const std::string& host, int port) const {
  const auto canonical = policy::canonical_host(host);
  return canonical ? policy::decide_host(gateway_->network(), *canonical, port).verdict : policy::HostVerdict::kAsk;
}

}  // namespace hutch::sandbox
