// Connections of the host's to ports of the machine's loopback.
#include "guest/machine/dial.h"

#include <poll.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "guest/machine/flow.h"
#include "sys/channel.h"
#include "sys/files/identity.h"
#include "sys/io.h"
#include "sys/net/sockets.h"
#include "sys/process/process.h"
#include "sys/process/shutdown.h"
#include "sys/process/signals.h"
#include "wire/machine_dial.h"

namespace hutch::guest {

namespace {

constexpr std::chrono::seconds kConnectWait{10};

// Absent: the host has gone before it said anything.
Result<std::optional<wire::DialBytes>> await_port(int stream) {
  wire::DialBytes bytes{};
  for (std::size_t size = 0; size < bytes.size();) {
    const std::size_t more = TRY(sys::read_some(stream, std::span(bytes).subspan(size)));
    if (more == 0) return std::optional<wire::DialBytes>();
    size += more;
  }
  return std::optional(bytes);
}

Result<UniqueFd> connect_at(const IpAddress& address, std::uint16_t port) {
  UniqueFd socket = TRY(sys::tcp_socket(address.family));
  TRY(sys::begin_connect(socket.get(), {address, port}));
  pollfd wait{socket.get(), POLLOUT, 0};
  TRY(sys::poll({&wait, 1}, kConnectWait));
  if (wait.revents == 0) return fail(Error{Code::kTimeout, 0, "no answer"});
  TRY(sys::connect_result(socket.get()));
  return socket;
}

Status carry(int host, int port) {
  Flow in(host, port);
  Flow out(port, host);
  while (!in.has_ended() || !out.has_ended()) {
    const auto events = [](const Flow& read, const Flow& written) {
      return static_cast<short>((read.reads() ? POLLIN : 0) | (written.writes() ? POLLOUT : 0));
    };
    std::array<pollfd, 2> wait = {pollfd{host, events(in, out), 0}, pollfd{port, events(out, in), 0}};
    // An end is told again and again, asked for or not: of a side that nothing is wanted of it would be all there is.
    for (pollfd& one : wait) {
      if (one.events == 0) one.fd = -1;
    }
    // The host has read its last, and whoever would speak to it still is cut off.
    if (in.has_ended() && wait[0].fd < 0) wait[0] = {host, 0, 0};
    TRY(sys::poll(wait, std::nullopt));
    if ((wait[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && in.reads()) in.read();
    if ((wait[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && out.reads()) out.read();
    if (in.writes()) in.pass_on();
    if (out.writes()) out.pass_on();
    if (in.has_ended() && (wait[0].revents & (POLLHUP | POLLERR)) != 0) return {};
  }
  return {};
}

// Nothing of the init's is left to it, and nobody in there looks into it.
Status prepare_dialer(int stream) {
  for (int number = 0; number < 3; ++number) TRY(sys::install_fd(stream, number));
  TRY(sys::close_from(3));
  TRY(sys::die_with_parent());
  TRY(sys::new_session());
  TRY(sys::block_all_signals());
  return sys::not_dumpable();
}

[[noreturn]] void be_dialler(int stream) {
  Status served = prepare_dialer(stream);
  { const UniqueFd twice(1), thrice(2); }
  if (served) served = serve_dial(UniqueFd(0));
  sys::exit_now(served ? 0 : 1);
}

}  // namespace

Result<MadeNetwork> make_dial_streams(unsigned count) {
  MadeNetwork network;
  for (unsigned i = 0; i < count; ++i) {
    auto [hosts, own] = TRY(sys::socket_pair());
    const pid_t pid = TRY(sys::fork_process(sys::Parentage::kOwn));
    if (pid == 0) be_dialler(own.get());
    network.message.sockets.push_back({wire::SocketRole::kDial, 0});
    network.sockets.push_back(std::move(hosts));
  }
  return network;
}

// A server at "localhost" may listen on IPv4 or IPv6.
Result<UniqueFd> connect_to_port(std::uint16_t port) {
  IpAddress v6{.family = IpFamily::kV6, .bytes = {}};
  v6.bytes[15] = 1;
  auto socket = connect_at(v6, port);
  return socket ? std::move(socket) : connect_at(IpAddress::v4(127, 0, 0, 1), port);
}

Status serve_dial(UniqueFd stream) {
  const auto said = TRY(await_port(stream.get()));
  if (!said) return {};
  const UniqueFd port = TRY(connect_to_port(wire::decode_dial(*said)));
  TRY(sys::write_all(stream.get(), std::string_view(&wire::kDialled, 1)));
  TRY(sys::set_nonblocking(stream.get()));
  return carry(stream.get(), port.get());
}

}  // namespace hutch::guest
