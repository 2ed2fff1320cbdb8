// The gateway's DNS: what a name of the sandbox is answered.
#pragma once

#include <list>
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

  // The answer to one message; empty: none.
  std::string answer(std::string_view query, const sys::Endpoint& peer);

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
  };
  void receive(int socket);
  void accept(Served& listener);
  void read(std::list<Connection>::iterator connection);
  std::string answer_query(const DnsQuery& query, const sys::Endpoint& peer);
  std::string answer_name(const DnsQuery& query, const policy::Host& host, const sys::Endpoint& peer);
  std::string answer_reverse(const DnsQuery& query, const IpAddress& address) const;
  std::string refusal(const DnsQuery& query) const;

  Core& core_;
  bool v6_ = false;
  std::list<Served> served_;
  std::list<Connection> connections_;
};

}  // namespace hutch::egress
