// The UDP of rules: datagrams that arrive for one of them are passed on to the host that it names, and back.
#pragma once

#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "egress/core.h"

namespace hutch::egress {

// A flow is all that goes between one socket of the sandbox and the host of one rule. It is resolved, judged and given
// a socket of its own when it begins, and ends when nothing has come for a while.
class Datagrams {
 public:
  explicit Datagrams(Core& core) : core_(core) {}

  // A socket of the sandbox's network namespace, at which the datagrams for the target arrive.
  Status serve(UniqueFd socket, Target target);

  // Ends the flows that the rules which hold now do not allow.
  void judge_again();

  // Ends all.
  void close();

 private:
  // Where the datagrams of a rule arrive.
  struct Door {
    UniqueFd socket;
    Target target;
    Loop::Watch watch;
  };
  enum class State { kResolving, kOpen, kRefused };
  struct Flow {
    Door* door = nullptr;
    sys::Endpoint peer;  // in the sandbox
    State state = State::kResolving;
    std::string rule;
    sys::Endpoint upstream_at;
    policy::AddressSource source = policy::AddressSource::kDns;  // of that address
    UniqueFd upstream;
    Loop::Watch watch;
    Loop::Timer timer;
    std::vector<std::string> held;  // until it is open
    std::shared_ptr<char> alive = std::make_shared<char>();
    Moment used = SteadyClock::now();
    std::chrono::system_clock::time_point began = std::chrono::system_clock::now();
    Moment began_steady = SteadyClock::now();
    std::uint64_t bytes_up = 0;
    std::uint64_t bytes_down = 0;
  };
  using Flows = std::list<Flow>;  // the one that the sandbox used last first
  using Key = std::tuple<const Door*, IpAddress, std::uint16_t>;

  void receive(Door& door);
  Flow& flow_of(Door& door, const sys::Endpoint& peer);
  void open(Flow& flow);
  void resolved(Flow& flow, const Result<Addresses>& addresses);
  Status connect(Flow& flow, const IpAddress& address);
  void refuse(Flow& flow, const Ruling& ruling);
  void send_up(Flow& flow, std::string_view bytes);
  void receive_down(Flow& flow);
  void let_end(Flow& flow, std::chrono::milliseconds wait);
  void end(Flow& flow);

  Core& core_;
  std::list<Door> doors_;
  Flows flows_;
  std::map<Key, Flows::iterator> by_peer_;
  std::vector<char> buffer_;
};

}  // namespace hutch::egress
