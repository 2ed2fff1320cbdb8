// Takes the gateway's messages and holds a conversation on a thread for each connection.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "inspect/budget.h"
#include "inspect/tls.h"
#include "wire/connection.h"
#include "wire/inspect.h"

namespace hutch::inspect {

class Server {
 public:
  explicit Server(UniqueFd socket) : gateway_(std::move(socket)) {}

  // Until the gateway is gone. Threads may still be under way then: the process has to end by sys::exit_now.
  Status run();

 private:
  struct Live {
    wire::Inspect connection;
    UniqueFd client;
    UniqueFd upstream;
  };

  Status start(const wire::InspectStart& message);
  Status take(wire::Inspect message);
  void end(std::uint64_t id);
  void converse_with(std::shared_ptr<Live> live);
  void refuse(const wire::Inspect& connection, std::string_view why);
  std::uint64_t tell(wire::FromInspector message);  // its number, from 1
  void wait_until_told(std::uint64_t number);
  void tell_all();

  wire::Connection gateway_;
  std::deque<UniqueFd> arrived_;  // descriptors whose message is still to be read
  std::unique_ptr<Tls> tls_;
  Memory memory_;
  // What a thread of its own sends. Whoever reads the gateway's messages never waits for the gateway to read, or both
  // could wait for each other.
  std::mutex telling_;
  std::condition_variable told_;
  std::deque<wire::FromInspector> to_tell_;
  std::uint64_t numbered_ = 0;
  std::uint64_t sent_ = 0;
  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<Live>> live_;
};

}  // namespace hutch::inspect
