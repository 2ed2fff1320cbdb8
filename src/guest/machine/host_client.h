// hutch-host: carries a request to the host's bridge, and prints what it answers.
#pragma once

#include <span>
#include <string_view>

namespace hutch::guest {

// The exit code (HostExit).
int serve_host_command(std::span<const char* const> words);

}  // namespace hutch::guest
