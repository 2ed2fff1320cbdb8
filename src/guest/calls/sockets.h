// The sockets of a sandbox: the access supervisor makes each connect(2) and bind(2) there, on the caller's own socket.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "guest/calls/turns.h"
#include "guest/calls/umasks.h"
#include "guest/places/access_arguments.h"
#include "guest/places/access_place.h"
#include "guest/setup/own_sockets.h"
#include "plan/plan.h"
#include "sys/process/readiness.h"
#include "wire/access.h"

namespace hutch::guest {

// Neither call is ever let through: between the look at the address and the kernel's own look, another thread could
// change the address, or what the descriptor is.
class AccessSockets {
 public:
  struct Settings {
    int listener = -1;
    const plan::GuardedNames& names;  // the current names
    Turns& turns;
    // Asks the host; SocketAnswered follows.
    std::function<Status(const wire::SocketAsked& asked)> ask;
    std::function<void(const AccessCall& call, const std::string& path, const plan::NameRule& rule)> refused;
  };
  AccessSockets(Places& places, Umasks& umasks, Settings settings)
      : places_(places), umasks_(umasks), settings_(std::move(settings)), own_(sys::raise_descriptor_limit()) {}

  // Of kind kConnect or kBind. Answers it, now or once it can be.
  Status start(const AccessCall& call);
  // `file` is a descriptor where the answer is yes.
  Status take_answer(const wire::SocketAnswered& answer, UniqueFd file);

  // To poll(2) for those that wait, and what to do then; nothing where nobody waits.
  std::size_t add_to(std::vector<pollfd>& wait) const;
  std::optional<std::chrono::milliseconds> time_left() const;
  Status step(std::span<const pollfd> ready);

 private:
  using Clock = std::chrono::steady_clock;
  struct Connecting {
    AccessCall call;
    UniqueFd socket;
    UniqueFd file{};  // instead of the address
    bool in_progress = false;  // poll(2) tells when to look again
    std::optional<Clock::time_point> until{};
    Clock::time_point next_look{};
    std::chrono::milliseconds pause{1};
  };

  Result<bool> connect(Connecting& connecting);  // false: not yet
  Status begin(Connecting connecting);
  Status connect_by_path(Connecting connecting, const std::string& path);
  Status ask(Connecting connecting, const std::string& path, int error);
  Status bind(const AccessCall& call);
  Result<std::optional<NamedPlace>> place_of(const AccessCall& call, const std::string& path);
  Status bind_as_called(const AccessCall& call, int socket, const std::string& path);
  Status remember(int socket, const NamedPlace& place);
  Status bind_in(const AccessCall& call, int socket, const NamedPlace& place);
  Status judge(const AccessCall& call, const NamedPlace& place) const;
  Status judge_bound(const AccessCall& call, const NamedPlace& place) const;
  Status take_turn(const AccessCall& call, const std::string& path) const;
  bool is_full() const;
  bool still_waits(const AccessCall& call) const;
  Status answer(const AccessCall& call, const Status& made) const;
  std::string absolute(const AccessCall& call, const std::string& path) const;

  Places& places_;
  Umasks& umasks_;
  Settings settings_;
  OwnSockets own_;
  std::list<Connecting> connecting_;
  std::map<std::uint64_t, Connecting> asked_;  // by the number of the call
};

}  // namespace hutch::guest
