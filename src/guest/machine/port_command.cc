// A connection to a port of the sandbox's loopback.
#include "guest/machine/port_command.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/text.h"
#include "guest/machine/dial.h"
#include "guest/machine/flow.h"
#include "guest/machine/host_command.h"
#include "sys/io.h"
#include "wire/machine_dial.h"

namespace hutch::guest {

namespace {

constexpr int kInput = 0;
constexpr int kOutput = 1;

int refuse_port(HostExit code, std::string_view message) {
  (void)sys::write_all(2, cat({"hutch-host: port: ", message, "\n"}));
  return static_cast<int>(code);
}

// Until the server has said its last, or nobody reads that.
Status carry_port(int port) {
  for (const int stream : {kInput, kOutput, port}) TRY(sys::set_nonblocking(stream));
  Flow in(kInput, port);
  Flow out(port, kOutput);
  while (!out.has_ended()) {
    std::array<pollfd, 3> wait = {pollfd{kInput, POLLIN, 0}, pollfd{kOutput, 0, 0}, pollfd{port, 0, 0}};
    if (!in.reads()) wait[0].fd = -1;
    if (out.writes()) wait[1].events = POLLOUT;
    if (out.reads()) wait[2].events |= POLLIN;
    if (in.writes()) wait[2].events |= POLLOUT;
    if (wait[2].events == 0) wait[2].fd = -1;
    TRY(sys::poll(wait, std::nullopt));
    if ((wait[1].revents & POLLERR) != 0) return {};
    if (wait[0].revents != 0 && in.reads()) in.read();
    if (wait[2].revents != 0 && out.reads()) out.read();
    if (in.writes()) in.pass_on();
    if (out.writes()) out.pass_on();
  }
  return {};
}

}  // namespace

int serve_port_command(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) {
    return refuse_port(HostExit::kUsage, cat({printable(text, 64), " is no number of a port"}));
  }
  const auto socket = connect_to_port(port);
  if (!socket) return refuse_port(HostExit::kNotFound, cat({std::string(text), ": ", socket.error().message}));
  if (!sys::write_all(kOutput, std::string_view(&wire::kDialled, 1))) return static_cast<int>(HostExit::kFailed);
  const Status carried = carry_port(socket->get());
  return carried ? 0 : refuse_port(HostExit::kFailed, carried.error().message);
}

}  // namespace hutch::guest
