// hutch-host port: a connection to a port of the sandbox's loopback, for a program that has two streams.
#pragma once

#include <string_view>

namespace hutch::guest {

// Says a byte once it is connected, then carries standard input there and what comes from there to standard output.
// The exit code (HostExit): kNotFound where nobody listens.
int serve_port_command(std::string_view port);

}  // namespace hutch::guest
