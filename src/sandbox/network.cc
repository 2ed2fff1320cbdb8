// The network of one sandbox.
#include "sandbox/network.h"

#include <charconv>

#include "base/text.h"
#include "sys/socket_owner.h"

namespace hutch::sandbox {

namespace {

Refusal refusal_of(const egress::Refusal& refused) {
  const std::string remedy = refused.remedy.empty() ? std::string() : cat({"; ", refused.remedy, " allows it"});
  return {.what = cat({printable(egress::to_string(refused.target)), " was refused: ", printable(refused.why), remedy}),
          .rule = refused.rule,
          .host = refused.target.host.name,
          .port = refused.target.port,
          .pid = refused.process.pid,
          .program = refused.process.program};
}

wire::ControlQuestion question_of(const egress::Question& question) {
  return {.id = std::to_string(question.id),
          .kind = "connect",
          .host = question.target.host.name,
          .port = question.target.port,
          .pid = question.process.pid,
          .program = question.process.program,
          .chain = question.process.chain,
          .rule = "default",
          .choices = {"once", "session", "no"}};
}

}  // namespace

Result<std::unique_ptr<Network>> Network::make(egress::Settings settings, Control* control) {
  settings.attended = control != nullptr && control->fd() >= 0;
  auto gateway = TRY(egress::Gateway::make(std::move(settings)));
  TRY(gateway->publish());
  return std::make_unique<Network>(std::move(gateway), control);
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

Status Network::step() {
  TRY(gateway_->step());
  for (const egress::Event& event : gateway_->take_events()) take(event);
  return {};
}

Status Network::close() {
  TRY(step());
  gateway_->close();
  return step();
}

void Network::take(const egress::Event& event) {
  if (const auto* refused = std::get_if<egress::Refusal>(&event)) refusals_.push_back(refusal_of(*refused));
  if (const auto* passed = std::get_if<egress::Passed>(&event)) {
    if (on_passed_) on_passed_(*passed);
  }
  if (const auto* question = std::get_if<egress::Question>(&event)) {
    if (control_ != nullptr) control_->question(question_of(*question));
  }
}

Status Network::answer(const wire::ControlAnswer& answer) {
  std::uint64_t id = 0;
  const char* end = answer.id.data() + answer.id.size();
  const auto [stop, error] = std::from_chars(answer.id.data(), end, id);
  const auto choice = [&]() -> std::optional<egress::Core::Answer> {
    if (answer.choice == "once") return egress::Core::Answer::kOnce;
    if (answer.choice == "session") return egress::Core::Answer::kSession;
    if (answer.choice == "no") return egress::Core::Answer::kNo;
    return std::nullopt;
  }();
  if (!choice) {
    return fail(
        Error::invalid(cat({"control: choice must be once, session or no, not ", printable(answer.choice, 64)})));
  }
  const auto holds = answer.minutes ? std::optional(std::chrono::minutes(*answer.minutes)) : std::nullopt;
  if (error == std::errc() && stop == end && gateway_->answer(id, *choice, holds)) return {};
  return fail(Error::not_found(cat({"control: no question ", printable(answer.id, 64), " is open"})));
}

}  // namespace hutch::sandbox
