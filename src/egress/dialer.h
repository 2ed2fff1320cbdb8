// A connection to a host outside: name to addresses, addresses checked, then exactly one of those dialled.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "egress/core.h"

namespace hutch::egress {

enum class DialFailure {
  kRefusedByPolicy,  // no address of the name may be dialled
  kUnknownName,
  kUnreachable,  // nothing answered, or the resolver or a parent proxy did not
};
struct Dialled {
  UniqueFd socket;  // connected, not blocking; empty: failed
  DialFailure failure = DialFailure::kUnreachable;
  std::string why;
};

// Dials as long as it lives; `on_done` is called once, and may destroy it.
class Dialer {
 public:
  Dialer(Core& core, Target target, std::function<void(Dialled)> on_done);

  // By name, checked, through a parent proxy where the settings name one. The basis is what the target was allowed by.
  void start(Core::Basis basis);
  // Dials only these endpoints, without checks: a port of the host or of the sandbox that was opened on purpose. They
  // are in this network namespace if there is no `socket`. The dialer uses `socket` for each endpoint: it belongs to
  // another network namespace, or is a stream to a VM's loopback (wire/machine_dial.h).
  void start_at(std::vector<sys::Endpoint> endpoints, UniqueFd socket = {});

 private:
  void resolve(const std::string& name);
  void resolved(Result<Addresses> addresses);
  void dial_next();
  // A socket of the host's must not replace one of another network namespace.
  enum class SocketOf { kHost, kOtherNamespace };
  Status begin(const sys::Endpoint& endpoint);
  void give_up_attempt();
  void connected();
  void ask_machine(std::uint16_t port);
  void machine_answered();
  void ask_parent();
  enum class Input { kOpen, kEnded };
  void read_parent(Input input);
  void finish(Dialled dialled);
  void fail_with(DialFailure failure, std::string why);

  Core& core_;
  Target target_;
  Core::Basis basis_ = Core::Basis::kRules;
  std::function<void(Dialled)> on_done_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // an answer that comes later finds it gone
  std::vector<sys::Endpoint> endpoints_;  // still to be tried, the next one last
  UniqueFd socket_;
  SocketOf socket_of_ = SocketOf::kHost;
  Loop::Watch watch_;
  Loop::Timer timer_;
  const policy::ProxyServer* parent_ = nullptr;  // which it goes through
  std::size_t shown_ = 0;  // of the parent proxy's answer
  std::string last_error_;
};

}  // namespace hutch::egress
