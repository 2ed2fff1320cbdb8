// The gateway's DNS.
#include "egress/dns_server.h"

#include <array>

#include "base/text.h"
#include "plan/plan.h"
#include "sys/io.h"

namespace hutch::egress {

namespace {

// How long a program may keep an answer: the address stays the name's own for longer than that.
constexpr std::uint32_t kTtlSeconds = 60;
constexpr std::size_t kDatagramBytesMax = 4096;
constexpr int kDatagramsAtOnce = 64;
constexpr std::size_t kConnectionsMax = 64;
constexpr std::size_t kHeldBytesMax = 16 << 10;
constexpr std::chrono::milliseconds kConnectionWait{10'000};
constexpr std::size_t kLengthBytes = 2;
constexpr std::chrono::milliseconds kRest{100};

// Its loopback has these names (RFC 6761, section 6.3), and the name of the sandbox itself, which programs ask for to
// know what else they are called.
bool is_own_name(std::string_view name) {
  static const std::string kHostname = plan::SandboxPlan().hostname;
  return name == "localhost" || name.ends_with(".localhost") || name == kHostname;
}

}  // namespace

Status DnsServer::serve_udp(UniqueFd socket) {
  const int fd = socket.get();
  auto watch =
      TRY(core_.loop().watch(fd, {.read = true, .write = false}, [this, fd](const sys::Readiness&) { receive(fd); }));
  served_.push_back({std::move(socket), std::move(watch), {}});
  return {};
}

Status DnsServer::serve_tcp(UniqueFd listener) {
  Served& served = served_.emplace_back();
  served.socket = std::move(listener);
  served.watch = TRY(core_.loop().watch(served.socket.get(), {.read = true, .write = false},
                                        [this, &served](const sys::Readiness&) { accept(served); }));
  return {};
}

void DnsServer::receive(int socket) {
  std::array<char, kDatagramBytesMax> buffer;
  for (int i = 0; i < kDatagramsAtOnce; ++i) {
    const auto datagram = sys::receive_datagram(socket, buffer);
    if (!datagram || !*datagram) return;
    const std::string reply = answer({buffer.data(), (*datagram)->size}, (*datagram)->from);
    if (!reply.empty()) (void)sys::send_datagram(socket, reply, (*datagram)->from);
  }
}

void DnsServer::accept(Served& listener) {
  auto accepted = sys::accept_connection(listener.socket.get());
  if (!accepted) {
    // There is no descriptor for it, most likely, and the loop would say at once that it still waits.
    listener.watch.set({});
    listener.rest = core_.loop().after(kRest, [&listener] { listener.watch.set({.read = true, .write = false}); });
    return;
  }
  if (!*accepted || connections_.size() >= kConnectionsMax) return;
  const auto connection = connections_.emplace(connections_.end());
  connection->socket = std::move((*accepted)->socket);
  connection->peer = (*accepted)->peer;
  auto watch = core_.loop().watch(connection->socket.get(), {.read = true, .write = false},
                                  [this, connection](const sys::Readiness&) { read(connection); });
  if (!watch) {
    connections_.erase(connection);
    return;
  }
  connection->watch = std::move(*watch);
  connection->timer = core_.loop().after(kConnectionWait, [this, connection] { connections_.erase(connection); });
}

// Each message is preceded by its length (RFC 1035 4.2.2).
void DnsServer::read(std::list<Connection>::iterator connection) {
  std::array<char, kDatagramBytesMax> buffer;
  const auto count = sys::read_some(connection->socket.get(), buffer);
  if (!count || *count == 0 || connection->held.size() > kHeldBytesMax) {
    connections_.erase(connection);
    return;
  }
  std::string& held = connection->held;
  held.append(buffer.data(), *count);
  while (held.size() >= kLengthBytes) {
    const std::size_t size =
        static_cast<std::size_t>(static_cast<unsigned char>(held[0])) << 8 | static_cast<unsigned char>(held[1]);
    if (held.size() < kLengthBytes + size) return;
    const std::string reply = answer(std::string_view(held).substr(kLengthBytes, size), connection->peer);
    held.erase(0, kLengthBytes + size);
    const std::string framed =
        cat({std::string{static_cast<char>(reply.size() >> 8), static_cast<char>(reply.size())}, reply});
    const auto written = sys::write_some(connection->socket.get(), framed);
    if (reply.empty() || !written || *written != framed.size()) {
      connections_.erase(connection);
      return;
    }
  }
}

std::string DnsServer::answer(std::string_view bytes, const sys::Endpoint& peer) {
  const auto read = read_dns_query(bytes);
  if (!read) return {};
  if (read->status != DnsStatus::kNoError) return dns_answer(read->query, read->status);
  return answer_query(read->query, peer);
}

std::string DnsServer::answer_query(const DnsQuery& query, const sys::Endpoint& peer) {
  if (query.klass != kDnsClassInternet) return dns_answer(query, DnsStatus::kRefused);
  if (query.type == static_cast<std::uint16_t>(DnsType::kPtr)) {
    const auto address = reverse_address(query.name);
    return address ? answer_reverse(query, *address) : dns_answer(query, DnsStatus::kNameError);
  }
  // Names of services (RFC 2782) are looked up by programs that go on without: nothing was refused to them.
  if (query.name.starts_with('_')) return dns_answer(query, DnsStatus::kNameError);
  const auto host = query.name_is_plain ? policy::canonical_host(query.name)
                                        : Result<policy::Host>(std::unexpected(Error::invalid("not a host name")));
  if (!host || host->address) return refusal(query);
  return answer_name(query, *host, peer);
}

std::string DnsServer::answer_name(const DnsQuery& query, const policy::Host& host, const sys::Endpoint& peer) {
  const bool wants_v4 = query.type == static_cast<std::uint16_t>(DnsType::kA);
  const bool wants_v6 = query.type == static_cast<std::uint16_t>(DnsType::kAaaa);
  if (is_own_name(host.name)) {
    if (wants_v4) return dns_address_answer(query, IpAddress::v4(127, 0, 0, 1), kTtlSeconds);
    if (wants_v6) return dns_address_answer(query, *parse_ip("::1"), kTtlSeconds);
    return dns_answer(query, DnsStatus::kNoError);
  }
  const Target target{host, 0};
  const Ruling ruling = core_.rule(target);
  if (ruling.verdict == Verdict::kDeny) {
    core_.refuse(target, ruling, Peer{sys::Transport::kUdp, peer});
    return refusal(query);
  }
  // Of an allowed name nothing but its address is told: other records could carry anything in and out.
  if (!wants_v4 && !(wants_v6 && v6_)) return dns_answer(query, DnsStatus::kNoError);
  const plan::NameAddresses addresses = core_.names().addresses_of(host.name);
  return dns_address_answer(query, wants_v4 ? addresses.v4 : addresses.v6, kTtlSeconds);
}

std::string DnsServer::answer_reverse(const DnsQuery& query, const IpAddress& address) const {
  const auto name = core_.names().name_of(address);
  if (!name) return dns_answer(query, DnsStatus::kNameError);
  return dns_name_answer(query, *name, kTtlSeconds);
}

std::string DnsServer::refusal(const DnsQuery& query) const {
  const bool name_error = core_.network().dns_denial == policy::DnsDenial::kNameError;
  return dns_answer(query, name_error ? DnsStatus::kNameError : DnsStatus::kRefused);
}

}  // namespace hutch::egress
