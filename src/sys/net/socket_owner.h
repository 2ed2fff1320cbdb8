// Which process has a socket. proc(5): /proc/PID/net/tcp, /proc/PID/fd.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "sys/net/sockets.h"

namespace hutch::sys {

struct SocketOwner {
  pid_t pid = 0;
  std::string program;             // as its mount namespace names it
  std::vector<std::string> chain;  // the programs of its ancestors there, nearest first
};

// What a thread's process is; empty where it has gone. It ends where the network namespace does.
SocketOwner describe_process(pid_t thread);

// The process in the network namespace of `member` that has the socket bound to `local`. Costs a look at every
// descriptor of every process there, within bounds; absent when none is found. What it finds is for a person to read:
// a program can pass a socket on, or end.
std::optional<SocketOwner> find_socket_owner(pid_t member, Transport transport, const Endpoint& local);

}  // namespace hutch::sys
