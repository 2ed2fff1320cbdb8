// Addresses of names, as the host's own resolver configuration has them: /etc/hosts, then the DNS servers of
// /etc/resolv.conf. c-ares(3).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ip_address.h"
#include "base/result.h"
#include "egress/loop.h"

namespace hutch::egress {

class Resolver {
 public:
  using OnAnswer = std::function<void(Result<std::vector<IpAddress>>)>;

  explicit Resolver(Loop& loop);
  ~Resolver();

  // `on_answer` is called once, in this call already when the answer is known; never after the resolver is gone.
  void resolve(const std::string& name, OnAnswer on_answer);

 private:
  class Channel;
  std::unique_ptr<Channel> channel_;  // made when it is first needed
  Loop& loop_;
};

}  // namespace hutch::egress
