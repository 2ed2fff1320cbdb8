// The daemon: one for each user, on a Unix socket; it keeps the agents' sandboxes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "host/state_dirs.h"
#include "sys/net/sockets.h"

namespace hutch::server {

inline constexpr int kConnectionsMax = 1024;
inline constexpr std::uint64_t kUploadBytesMax = std::uint64_t{4} << 30;

// HTTP on a TCP port, beside the Unix socket.
struct Listen {
  sys::Endpoint at;
  std::string token;
  std::string token_file;  // canonical; no sandbox sees it
};

struct DaemonSettings {
  std::chrono::milliseconds idle{0};  // leaves after so long without a connection and a process; 0: stays
  int connections_max = kConnectionsMax;
  std::uint64_t upload_max = kUploadBytesMax;  // of a file that is written by HTTP
  std::optional<Listen> listen{};
  std::function<void(const std::string& line)> tell;
  std::function<void()> ready{};  // called once clients can connect
};

// Serves until it is told to stop, is idle, or gets TERM, INT or HUP. Code::kConflict where another one runs.
Status serve(const host::StateDirs& dirs, const DaemonSettings& settings);

}  // namespace hutch::server
