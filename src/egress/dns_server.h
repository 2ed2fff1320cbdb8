// The gateway's DNS: what a name of the sandbox is answered.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "egress/core.h"
#include "egress/dns_message.h"

namespace hutch::egress {

class DnsServer {
 public:
  explicit DnsServer(Core& core) : core_(core) {}

  // Answers what comes on a UDP socket, or on the connections to a TCP one, for as long as it lives.
  Status serve_udp(UniqueFd socket);
  Status serve_tcp(UniqueFd listener);

  // Whether names get IPv6 addresses as well.
  void use_v6() { v6_ = true; }

  // Calls `reply` once with the answer to one message, in this call or later; an empty answer means none.
  using Reply = std::function<void(std::string)>;
  void answer(std::string_view query, const sys::Endpoint& peer, const Reply& reply);

 private:
  struct Served {
    UniqueFd socket;
    Loop::Watch watch;
    Loop::Timer rest;
  };
  struct Connection {
    UniqueFd socket;
    sys::Endpoint peer;
    std::string held;
    Loop::Watch watch;
    Loop::Timer timer;
    std::shared_ptr<char> alive = std::make_shared<char>();  // a later answer finds it gone
  };
  using Connections = std::list<Connection>;
  void receive(int socket);
  void accept(Served& listener);
  void read(Connections::iterator connection);
  void send(Connections::iterator connection, const std::string& reply);
  void answer_query(const DnsQuery& query, const sys::Endpoint& peer, const Reply& reply);
  void answer_name(const DnsQuery& query, const policy::Host& host, const sys::Endpoint& peer, const Reply& reply);
  void answer_existing(const DnsQuery& query, const std::string& name, const Reply& reply);
  std::string answer_allowed(const DnsQuery& query, const std::string& name);
  bool is_reported(const std::string& name, std::string_view stem);
  Verdict verdict_of(std::string_view name) const;
  std::string answer_reverse(const DnsQuery& query, const IpAddress& address) const;
  std::string refusal(const DnsQuery& query) const;

  Core& core_;
  bool v6_ = false;
  std::list<Served> served_;
  Connections connections_;
  std::size_t pending_ = 0;  // answers that wait for the host's resolver
  std::set<std::string, std::less<>> expanded_;  // short names with a refused longer form
};

}  // namespace hutch::egress
