// hutch mcp: the Model Context Protocol on standard input and output, a message a line.
#include "cli/mcp.h"

#include <array>

#include "base/limits.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/own_daemon.h"
#include "sys/host_info.h"
#include "sys/io.h"
#include "sys/shutdown.h"
#include "sys/signals.h"
#include "sys/threads.h"

namespace hutch::cli {

namespace {

// Each line of standard input to the daemon, until there are no more. One that is too long for any message is passed on
// in part, and answered as no JSON.
Status pass_lines_on(client::DaemonClient& daemon) {
  static constexpr std::size_t kLineBytesMax = limits::kFrameBytesMax - 1024;
  std::string held;
  std::array<char, 65536> bytes;
  for (;;) {
    const std::size_t count = TRY(sys::read_some(0, bytes));
    if (count == 0) return held.empty() ? Status() : daemon.send_text(held);
    for (std::string_view rest(bytes.data(), count); !rest.empty();) {
      const std::size_t end = rest.find('\n');
      held += rest.substr(0, end);
      if (held.size() > kLineBytesMax) held.resize(kLineBytesMax);
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
      if (held.ends_with('\r')) held.pop_back();
      if (!held.empty()) TRY(daemon.send_text(held));
      held.clear();
    }
  }
}

}  // namespace

int mcp(const McpArguments& arguments) {
  const auto directory = sys::working_directory();
  if (!directory) return complain(directory.error());
  (void)sys::ignore_broken_pipe();
  auto daemon = own_daemon();
  if (!daemon) return complain(daemon.error());
  const Status called = daemon->send("mcp", {{"agent", arguments.agent}, {"directory", *directory}});
  if (!called) return complain(called.error());
  // The end of the input is the client's way to say that it is done (the specification, "Shutdown"); what it has asked
  // until then is answered.
  auto input = sys::start_thread([&] {
    (void)pass_lines_on(*daemon);
    (void)sys::shut_down(daemon->fd(), sys::Direction::kWriting);
  });
  if (!input) return complain(input.error());
  input->detach();
  for (;;) {
    const auto text = daemon->receive_text();
    if (!text) return complain(text.error());
    if (!*text || !sys::write_all(1, cat({**text, "\n"}))) return 0;
  }
}

}  // namespace hutch::cli
