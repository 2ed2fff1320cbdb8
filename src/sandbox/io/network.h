// The network of one sandbox: its gateway, and what the gateway tells as a person is told it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"
#include "egress/gateway.h"
#include "sandbox/io/outcome.h"
#include "sandbox/questions/questions.h"

namespace hutch::sandbox {

class Network {
 public:
  // `questions` is null where nobody answers any.
  static Result<std::unique_ptr<Network>> make(egress::Settings settings, Questions* questions);

  Network(std::unique_ptr<egress::Gateway> gateway, Questions* questions)
      : gateway_(std::move(gateway)), questions_(questions) {}

  // As those of the gateway.
  Status attach(const wire::Network& network, std::vector<UniqueFd> sockets);
  int fd() { return gateway_->fd(); }
  std::optional<std::chrono::milliseconds> time_left() { return gateway_->time_left(); }
  Status step();
  // What is left to be told is told, and nothing goes on.
  Status close();
  // Whoever asks for a host is looked for in this sandbox, which has to live as long.
  void look_for_processes(const backend::Instance& instance);
  unsigned wanted_dial_sockets() { return gateway_->wanted_dial_sockets(); }
  egress::Gateway& gateway() { return *gateway_; }

  // What was refused since the last call, each host once.
  std::vector<Refusal> take_refusals() { return std::exchange(refusals_, {}); }

  // Each connection that was let through is told once it has ended.
  void tell_passed_to(std::function<void(const egress::Passed&)> on_passed) { on_passed_ = std::move(on_passed); }
  Status replace_rules(policy::Network network) { return gateway_->replace_rules(std::move(network)); }
  // Whether a rule does, without an answer.
  policy::HostVerdict verdict(const std::string& host, int port) const;

 private:
  void take(const egress::Event& event);
  void ask(const egress::Question& question);

  std::unique_ptr<egress::Gateway> gateway_;
  Questions* questions_;
  std::vector<Refusal> refusals_;
  std::function<void(const egress::Passed&)> on_passed_;
};

}  // namespace hutch::sandbox
