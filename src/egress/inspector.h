// hutch-inspect, the program that reads HTTP and opens TLS: started when the first connection needs it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/result.h"
#include "base/unique_fd.h"
#include "egress/loop.h"
#include "sys/process/process.h"
#include "wire/connection.h"
#include "wire/inspect.h"

namespace hutch::egress {

class Inspector {
 public:
  explicit Inspector(Loop& loop) : loop_(loop) {}

  // Waits until it is ready. What makes programs trust its authority. Where one has been started before and has died,
  // the successor is given the authority that programs trust already.
  Result<wire::InspectReady> start(const std::string& program, wire::InspectStart first);
  bool is_started() const { return connection_.has_value(); }

  struct Handlers {
    std::function<void(const wire::InspectRefused&)> on_refused;
    std::function<void(const wire::InspectClosed&)> on_closed;
  };
  // The descriptors are copied to it. A closed message comes for each one that was taken.
  Status inspect(const wire::Inspect& request, int client, int upstream, Handlers handlers);
  void end(std::uint64_t id);
  // Ends it, and with it the connections that it has.
  void stop();

 private:
  Status receive();
  void take(const wire::FromInspector& message);
  void die(const Error& error);
  void lose();

  Loop& loop_;
  sys::ChildProcess process_;
  std::optional<wire::Connection> connection_;
  std::string authority_;  // of the first one, from before it had read a byte of anybody's
  Loop::Watch watch_;
  std::unordered_map<std::uint64_t, Handlers> open_;
};

}  // namespace hutch::egress
