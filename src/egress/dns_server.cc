// The gateway's DNS.
#include "egress/dns_server.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "plan/paths/name_files.h"
#include "plan/plan.h"
#include "sys/io.h"

namespace hutch::egress {

namespace {

// How long a program may keep an answer: the address stays the name's own for longer than that.
constexpr std::uint32_t kTtlSeconds = 60;
constexpr std::size_t kDatagramBytesMax = 4096;
constexpr int kQueriesAtOnce = 64;
constexpr std::size_t kConnectionsMax = 64;
constexpr std::size_t kHeldBytesMax = 16 << 10;
constexpr std::chrono::milliseconds kConnectionWait{10'000};
constexpr std::size_t kLengthBytes = 2;
constexpr std::chrono::milliseconds kDnsRest{100};
// Further names do not wait: they are answered as if they existed, and the connection fails.
constexpr std::size_t kPendingMax = 256;
constexpr std::size_t kExpandedMax = 1000;

// Its loopback has these names (RFC 6761, section 6.3), and the name of the sandbox itself, which programs ask for to
// know what else they are called.
bool is_own_name(std::string_view name) {
  static const std::string kHostname = plan::SandboxPlan().hostname;
  return name == "localhost" || name.ends_with(".localhost") || name == kHostname;
}

// Answers with the first address of the family that the query asks for.
std::string answer_local(const DnsQuery& query, const std::vector<IpAddress>& addresses) {
  const bool wants_v4 = query.type == static_cast<std::uint16_t>(DnsType::kA);
  const bool wants_v6 = query.type == static_cast<std::uint16_t>(DnsType::kAaaa);
  for (const IpAddress& address : addresses) {
    const bool is_v4 = address.family == IpFamily::kV4;
    if (is_v4 ? wants_v4 : wants_v6) return dns_address_answer(query, address, kTtlSeconds);
  }
  return dns_answer(query, DnsStatus::kNoError);
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
  for (int i = 0; i < kQueriesAtOnce; ++i) {
    const auto datagram = sys::receive_datagram(socket, buffer);
    if (!datagram || !*datagram) return;
    answer({buffer.data(), (*datagram)->size}, (*datagram)->from,
           [socket, from = (*datagram)->from](const std::string& reply) {
             if (!reply.empty()) (void)sys::send_datagram(socket, reply, from);
           });
  }
}

void DnsServer::accept(Served& listener) {
  auto accepted = sys::accept_connection(listener.socket.get());
  if (!accepted) {
    // There is no descriptor for it, most likely, and the loop would say at once that it still waits.
    listener.watch.set({});
    listener.rest = core_.loop().after(kDnsRest, [&listener] { listener.watch.set({.read = true, .write = false}); });
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
void DnsServer::read(Connections::iterator connection) {
  std::array<char, kDatagramBytesMax> buffer;
  const auto count = sys::read_some(connection->socket.get(), buffer);
  if (!count || *count == 0 || connection->held.size() > kHeldBytesMax) {
    connections_.erase(connection);
    return;
  }
  std::string& held = connection->held;
  held.append(buffer.data(), *count);
  const std::weak_ptr<char> alive = connection->alive;
  while (!alive.expired() && held.size() >= kLengthBytes) {
    const std::size_t size =
        static_cast<std::size_t>(static_cast<unsigned char>(held[0])) << 8 | static_cast<unsigned char>(held[1]);
    if (held.size() < kLengthBytes + size) return;
    const std::string message = held.substr(kLengthBytes, size);
    held.erase(0, kLengthBytes + size);
    answer(message, connection->peer, [this, connection, alive](const std::string& reply) {
      if (!alive.expired()) send(connection, reply);
    });
  }
}

void DnsServer::send(Connections::iterator connection, const std::string& reply) {
  const std::string framed =
      cat({std::string{static_cast<char>(reply.size() >> 8), static_cast<char>(reply.size())}, reply});
  const auto written = sys::write_some(connection->socket.get(), framed);
  if (reply.empty() || !written || *written != framed.size()) connections_.erase(connection);
}

void DnsServer::answer(std::string_view bytes, const sys::Endpoint& peer, const Reply& reply) {
  const auto read = read_dns_query(bytes);
  if (!read) return reply({});
  if (read->status != DnsStatus::kNoError) return reply(dns_answer(read->query, read->status));
  answer_query(read->query, peer, reply);
}

void DnsServer::answer_query(const DnsQuery& query, const sys::Endpoint& peer, const Reply& reply) {
  if (query.klass != kDnsClassInternet) return reply(dns_answer(query, DnsStatus::kRefused));
  if (query.type == static_cast<std::uint16_t>(DnsType::kPtr)) {
    const auto address = reverse_address(query.name);
    return reply(address ? answer_reverse(query, *address) : dns_answer(query, DnsStatus::kNameError));
  }
  // Names of services (RFC 2782) are looked up by programs that go on without: nothing was refused to them.
  if (query.name.starts_with('_')) return reply(dns_answer(query, DnsStatus::kNameError));
  const auto host = query.name_is_plain ? policy::canonical_host(query.name)
                                        : Result<policy::Host>(std::unexpected(Error::invalid("not a host name")));
  if (!host || host->address) return reply(refusal(query));
  answer_name(query, *host, peer, reply);
}

void DnsServer::answer_name(const DnsQuery& query, const policy::Host& host, const sys::Endpoint& peer,
                            const Reply& reply) {
  static const std::vector<IpAddress> kOwn = {IpAddress::v4(127, 0, 0, 1), *parse_ip("::1")};
  if (is_own_name(host.name)) return reply(answer_local(query, kOwn));
  // The sandbox has only its own loopback, so a name of the host's loopback leads there.
  const auto* local = core_.resolver().host_names().find_local(host.name);
  if (local != nullptr) return reply(answer_local(query, *local));
  const std::string_view stem = plan::stem_of(core_.settings().search, host.name);
  const Target target{host, 0};
  const Ruling ruling = core_.rule(target);
  if (ruling.verdict == Verdict::kDeny) {
    if (is_reported(host.name, stem)) core_.refuse(target, ruling, Peer{sys::Transport::kUdp, peer});
    // A resolver ends its search at a refused name (res_search(3)), but the next name may be allowed.
    return reply(stem.empty() ? refusal(query) : dns_answer(query, DnsStatus::kNameError));
  }
  if (stem.empty()) return reply(answer_allowed(query, host.name));
  if (ruling.verdict == Verdict::kAllow) return answer_existing(query, host.name, reply);
  // hutch would otherwise ask a person about a name that nobody typed.
  const bool is_typed = verdict_of(stem) != Verdict::kAllow;
  reply(is_typed ? answer_allowed(query, host.name) : dns_answer(query, DnsStatus::kNameError));
}

// A resolver that searches takes the first name that exists. A parent proxy may know other names than this host.
void DnsServer::answer_existing(const DnsQuery& query, const std::string& name, const Reply& reply) {
  const bool by_parent = policy::proxy_for(core_.settings().parents, policy::Host{name, std::nullopt}, 0) != nullptr;
  if (by_parent || pending_ >= kPendingMax) return reply(answer_allowed(query, name));
  ++pending_;
  core_.resolver().resolve(name, [this, query, name, reply](const Result<Addresses>& found) {
    --pending_;
    const bool is_absent = !found && found.error().code == Code::kNotFound;
    reply(is_absent ? dns_answer(query, DnsStatus::kNameError) : answer_allowed(query, name));
  });
}

// hutch sends only the address of an allowed name: other records could carry anything in and out.
std::string DnsServer::answer_allowed(const DnsQuery& query, const std::string& name) {
  const bool wants_v4 = query.type == static_cast<std::uint16_t>(DnsType::kA);
  const bool wants_v6 = query.type == static_cast<std::uint16_t>(DnsType::kAaaa);
  if (!wants_v4 && !(wants_v6 && v6_)) return dns_answer(query, DnsStatus::kNoError);
  const plan::NameAddresses addresses = core_.names().addresses_of(name);
  return dns_address_answer(query, wants_v4 ? addresses.v4 : addresses.v6, kTtlSeconds);
}

// Whether a person can act on the refusal of this name, which a resolver may have made from a short one. `stem` is
// empty if no search domain ends the name.
bool DnsServer::is_reported(const std::string& name, std::string_view stem) {
  if (stem.empty()) return !expanded_.contains(name);
  if (verdict_of(stem) != Verdict::kDeny || core_.was_refused(std::string(stem))) return false;
  if (stem.find('.') != std::string_view::npos) return true;
  const auto is_open = [&](const std::string& domain) {
    return verdict_of(cat({stem, ".", domain})) != Verdict::kDeny;
  };
  if (std::ranges::any_of(core_.settings().search.domains, is_open)) return false;
  if (expanded_.size() < kExpandedMax) expanded_.emplace(stem);
  return true;
}

Verdict DnsServer::verdict_of(std::string_view name) const {
  return core_.rule({policy::Host{std::string(name), std::nullopt}, 0}).verdict;
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
