// One connection of a sandbox, from the moment it was accepted to its end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "egress/core.h"
#include "egress/dialer.h"
#include "egress/socks.h"

namespace hutch::egress {

// By which way a connection came.
enum class Door {
  kCapture,    // redirected: the client believes that it speaks to the host itself
  kProxy,      // to the proxy's port: it says where it wants to go
  kHostPort,   // to a port of the loopback that stands for the host's
  kPublished,  // from the host, to a port of the sandbox
};

// A port that was opened on purpose, and where it leads.
struct Opening {
  Target target;
  std::vector<sys::Endpoint> endpoints;
  UniqueFd socket;  // as in Dialer::start_at
  std::function<bool()> is_listed;  // by the rules that hold now
};

class Tunnel {
 public:
  // `on_end` destroys it.
  Tunnel(Core& core, std::uint64_t id, Door door, UniqueFd client, sys::Endpoint peer, std::function<void()> on_end);
  ~Tunnel();
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;

  // Goes there, as far as the rules allow it.
  void open(Target target);
  // Asks the client where it wants to go, by HTTP or SOCKS.
  void read_request();
  void open_at(Opening opening);

  Door door() const { return door_; }

  // Ends it when the rules that hold now do not allow it.
  void judge_again();
  // Ends it where it goes to that host, every port where none is named, and no rule allows it; whether it did.
  bool take_back(std::string_view target);

 private:
  using Input = Relay::Input;
  enum class Protocol { kNone, kHttp, kSocks };
  enum class Layer { kPlain, kTls };

  void proxy_readable(Input input);
  void read_http(std::string_view bytes);
  void read_socks_request(std::string_view bytes);
  void consume(std::size_t size);
  bool shows_more(std::size_t size);
  void judge(Target target);
  void dial();
  void dialled(Dialled dialled);
  void begin_relay(UniqueFd upstream);
  void look_at_first_bytes(Input input);
  void pass_what_begins_nothing();
  bool may_speak_tls(const std::string& server_name) const;
  void pass();
  void inspect(wire::InspectForm form, Layer layer, Relay::Sockets sockets);
  void refuse(const Ruling& ruling);
  void answer_refusal(std::string_view error, const std::string& text, SocksResult result);
  void refuse_unread(const Error& error, UniqueFd client);
  void tell_passed(std::uint64_t up, std::uint64_t down);
  Peer peer() const { return {sys::Transport::kTcp, peer_}; }
  void reset();
  void end();

  Core& core_;
  std::uint64_t id_;
  Door door_;
  UniqueFd client_;
  sys::Endpoint peer_;
  std::function<void()> on_end_;
  std::function<bool()> is_listed_;  // of an opening
  Target target_;
  std::string rule_;
  bool allowed_once_ = false;  // by an answer, and by nothing that lasts
  Process process_;  // where it was asked about
  std::vector<policy::HttpRule> http_rules_;  // those that hold for its requests, once it was dialled
  Protocol protocol_ = Protocol::kNone;
  SocksVersion socks_version_ = SocksVersion::kV5;
  SocksState socks_state_ = SocksState::kNew;
  bool forwards_ = false;   // an HTTP request that is not CONNECT: its bytes are not read here
  bool inspected_ = false;  // hutch-inspect has it
  std::size_t shown_ = 0;   // of what was only looked at, the last time
  std::string passed_;      // of the client's first bytes, before it was clear what they begin
  std::shared_ptr<char> alive_ = std::make_shared<char>();
  Loop::Watch watch_;
  Loop::Timer timer_;
  std::unique_ptr<Dialer> dialer_;
  std::unique_ptr<Relay> relay_;
  std::chrono::system_clock::time_point began_ = std::chrono::system_clock::now();
  Moment began_steady_ = SteadyClock::now();
};

}  // namespace hutch::egress
