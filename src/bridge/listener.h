// The socket of one sandbox's bridge: it takes connections, and has each served on a thread of its own.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sys/event.h"
#include "sys/net/local_socket.h"

namespace hutch::bridge {

inline constexpr std::size_t kConnectionsMax = 32;  // of one sandbox at once; more wait in the kernel's queue

// What a connection may do is for whoever serves it, who knows by the listener whose sandbox it is.
class Listener {
 public:
  using Serve = std::function<void(UniqueFd socket, const sys::Peer& peer)>;
  // Makes `name` in `directory`, which is made, mode 0700, where it is absent; one that was left there is replaced.
  static Result<std::unique_ptr<Listener>> start(const std::string& directory, const std::string& name, Serve serve);

  Listener(UniqueFd listener, sys::Event stop, Serve serve);
  // Ends every connection, and waits for whoever serves them.
  ~Listener();
  // One that came another way; closed where as many as may be are served.
  void add(UniqueFd socket);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

 private:
  void listen();
  void take(sys::LocalConnection connection);

  const UniqueFd listener_;
  const sys::Event stop_;
  const Serve serve_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::set<int> open_;
  std::thread thread_;
};

}  // namespace hutch::bridge
