// Addresses of names, by the host's own resolver configuration: /etc/hosts, then the DNS servers of /etc/resolv.conf,
// which c-ares(3) asks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ip_address.h"
#include "base/result.h"
#include "egress/host_names.h"
#include "egress/loop.h"
#include "policy/network/rules.h"

namespace hutch::egress {

struct Addresses {
  std::vector<IpAddress> list{};
  policy::AddressSource source = policy::AddressSource::kDns;
};

class Resolver {
 public:
  using OnAnswer = std::function<void(Result<Addresses>)>;

  explicit Resolver(Loop& loop);
  ~Resolver();

  // `on_answer` is called once, in this call already when the answer is known; never after the resolver is gone.
  void resolve(const std::string& name, OnAnswer on_answer);

  HostNames& host_names() { return host_names_; }

 private:
  class Channel;
  HostNames host_names_;
  std::unique_ptr<Channel> channel_;  // made when it is first needed
  Loop& loop_;
};

}  // namespace hutch::egress
