// The network of a bubblewrap.
#include "backend/bwrap/bwrap_network.h"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "backend/guest_process.h"
#include "base/json.h"
#include "base/text.h"
#include "sys/channel.h"
#include "sys/files/identity.h"
#include "sys/io.h"

namespace hutch::backend {

namespace {

// The numbers that `hutch-guest --network` finds its things at.
constexpr int kStreamFd = 0;
constexpr int kOwnerFd = 3;
constexpr int kNetworkFd = 4;

}  // namespace

Result<pid_t> child_of_bwrap(std::string_view info) {
  const auto json = parse_json(info);
  const auto pid = json.is_object() ? json.find("child-pid") : json.end();
  if (!json.is_object() || pid == json.end() || !pid->is_number_integer() || *pid <= 0) {
    return fail(Error{Code::kSystem, 0, "bwrap does not tell its child's number"});
  }
  return pid->get<pid_t>();
}

Result<OutsideNetwork> make_network_outside(const std::string& guest_program, const sys::ChildProcess& bwrap,
                                            pid_t child, const plan::SandboxPlan& plan) {
  const UniqueFd network = TRY(sys::network_namespace_of(child));
  const UniqueFd owner = TRY(sys::owner_of(network.get()));
  auto [ours, its] = TRY(sys::socket_pair());
  std::vector<std::string> arguments = {"hutch-guest", "--network"};
  for (const std::uint16_t port : plan.host_ports) arguments.push_back(std::to_string(port));
  for (const plan::UdpCapture& udp : plan.udp) {
    std::string& word = arguments.emplace_back(cat({std::to_string(udp.port), ",", std::to_string(udp.gateway_port)}));
    for (const IpAddress& address : udp.addresses) word += cat({",", to_string(address)});
  }
  for (const plan::UserCount& count : plan.user_counts) {
    arguments.push_back(cat({count.name, "=", std::to_string(count.most)}));
  }
  const std::vector<std::pair<int, int>> install = {
      {its.get(), kStreamFd}, {owner.get(), kOwnerFd}, {network.get(), kNetworkFd}};
  auto maker =
      TRY(sys::spawn(guest_program, {.arguments = std::move(arguments), .environment = {}, .install = install}));
  its.reset();
  wire::Connection connection(std::move(ours));
  std::array<pollfd, 2> wait = {{{connection.fd(), POLLIN, 0}, {bwrap.pidfd(), POLLIN, 0}}};
  TRY(sys::poll(wait, std::nullopt));
  if (wait[0].revents == 0) return fail(Error{Code::kSystem, 0, "bwrap ended while its network was made"});
  const wire::ToHost message = TRY(receive_message(connection));
  if (const auto* failed = std::get_if<wire::Failed>(&message)) return fail(failed->error);
  const auto* made = std::get_if<wire::Network>(&message);
  if (made == nullptr) return fail(Error::invalid("hutch-guest: unexpected first message"));
  OutsideNetwork outside{*made, connection.take_descriptors()};
  TRY(maker.wait());
  return outside;
}

}  // namespace hutch::backend
