// An agent's end of the host's bridge: its socket, and what of it a sandbox is shown.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "bridge/listener.h"
#include "host/state_dirs.h"
#include "service/prepare/prepare.h"
#include "sys/net/local_socket.h"

namespace hutch::service {

// Where its socket lies on the host.
std::string bridge_directory(const host::StateDirs& dirs, const std::string& agent);
// Those that a daemon which was killed left there: nobody's by now. Before any sandbox starts.
Status forget_bridges(const host::StateDirs& dirs);
inline constexpr std::string_view kBridgeName = "bridge.sock";
// In a sandbox that has places of its own.
inline constexpr std::string_view kBridgePlace = "/run/hutch/bridge.sock";
inline constexpr std::string_view kBridgePrograms = "/run/hutch/bin";
// What recipes of elsewhere call the socket: a link to it.
inline constexpr std::string_view kBridgeOtherName = "/run/osaurus-bridge.sock";

// Any thread may use it.
class AgentBridge {
 public:
  // Serves one connection until it ends; none: there is no bridge.
  using Serve = std::function<void(UniqueFd socket, const sys::Peer& peer)>;
  AgentBridge(std::string directory, BackendKind backend, Serve serve);

  bool exists() const { return serve_ != nullptr; }
  // The backends container, user and vm let no Unix socket out: there it is a port, whose connections come by take().
  bool is_port() const { return exists() && policy::traits_of(backend_).bridge_port; }
  const std::string& socket() const { return socket_; }  // of the host; "" where there is none
  std::string programs() const;  // a directory, as the sandbox sees it; "" where there is none

  // Before a start of the sandbox. One listener for all starts: whoever reaches it is in this agent's sandbox.
  Status begin();
  Status add_to(Residence& residence, std::vector<std::string>& environment) const;
  // What of it is no residence's.
  Status settle(plan::SandboxPlan& plan) const;
  void take(UniqueFd socket);
  // Ends its connections, and waits for whoever serves them.
  void end();
  // The same, and its directory goes. Nothing of it is used again.
  void remove();

 private:
  // In a machine commands are one too.
  bool is_os_users() const { return backend_ == BackendKind::kUser || backend_ == BackendKind::kVm; }

  const std::string directory_;
  const BackendKind backend_;
  const Serve serve_;
  const std::string socket_;
  std::mutex mutex_;
  std::unique_ptr<bridge::Listener> listener_;
};

}  // namespace hutch::service
