// The UDP of rules.
#include "egress/datagrams.h"

namespace hutch::egress {

namespace {

// At once; a new one ends that which the sandbox used longest ago.
constexpr std::size_t kFlowsMax = 256;
// As long as the kernel's connection tracking knows one that went both ways (nf_conntrack_udp_timeout_stream).
constexpr std::chrono::milliseconds kIdleWait{120'000};
// How long one that is refused drops what comes, before it is judged again.
constexpr std::chrono::milliseconds kRefusedWait{5'000};
// Of one flow, while its host is resolved.
constexpr std::size_t kHeldMax = 16;
constexpr int kDatagramsAtOnce = 64;

}  // namespace

Status Datagrams::serve(UniqueFd socket, Target target) {
  buffer_.resize(sys::kDatagramBytesMax);
  Door& door = doors_.emplace_back();
  door.socket = std::move(socket);
  door.target = std::move(target);
  door.watch = TRY(core_.loop().watch(door.socket.get(), {.read = true, .write = false},
                                      [this, &door](const sys::Readiness&) { receive(door); }));
  return {};
}

void Datagrams::receive(Door& door) {
  for (int i = 0; i < kDatagramsAtOnce; ++i) {
    const auto datagram = sys::receive_datagram(door.socket.get(), buffer_);
    if (!datagram || !*datagram) return;
    const std::string_view bytes(buffer_.data(), (*datagram)->size);
    Flow& flow = flow_of(door, (*datagram)->from);
    flow.used = SteadyClock::now();
    if (flow.state == State::kOpen) send_up(flow, bytes);
    if (flow.state == State::kResolving && flow.held.size() < kHeldMax) flow.held.emplace_back(bytes);
  }
}

Datagrams::Flow& Datagrams::flow_of(Door& door, const sys::Endpoint& peer) {
  const Key key{&door, peer.address, peer.port};
  const auto found = by_peer_.find(key);
  if (found != by_peer_.end()) {
    flows_.splice(flows_.begin(), flows_, found->second);
    return flows_.front();
  }
  if (flows_.size() >= kFlowsMax) end(flows_.back());
  Flow& flow = flows_.emplace_front();
  flow.door = &door;
  flow.peer = peer;
  by_peer_.emplace(key, flows_.begin());
  open(flow);
  return flow;
}

void Datagrams::open(Flow& flow) {
  const Target& target = flow.door->target;
  const Ruling ruling = core_.rule(target);
  if (ruling.verdict != Verdict::kAllow) return refuse(flow, ruling);
  flow.rule = ruling.rule;
  let_end(flow, kIdleWait);
  if (target.host.address) return resolved(flow, Addresses{.list = {*target.host.address}});
  core_.resolver().resolve(target.host.name,
                           [this, &flow, alive = std::weak_ptr(flow.alive)](const Result<Addresses>& addresses) {
                             if (!alive.expired()) resolved(flow, addresses);
                           });
}

void Datagrams::resolved(Flow& flow, const Result<Addresses>& addresses) {
  // The rules may have changed meanwhile.
  const Ruling ruling = core_.rule(flow.door->target);
  if (ruling.verdict != Verdict::kAllow) return refuse(flow, ruling);
  std::string refusal;
  const Addresses found = addresses.value_or(Addresses());
  for (const IpAddress& address : found.list) {
    const auto decision = core_.rule_address(flow.door->target, address, found.source);
    if (!decision.allowed) refusal = decision.why;
    if (!decision.allowed || !connect(flow, address)) continue;
    flow.state = State::kOpen;
    flow.source = found.source;
    for (const std::string& bytes : std::exchange(flow.held, {})) send_up(flow, bytes);
    return;
  }
  if (!refusal.empty()) return refuse(flow, {Verdict::kDeny, "the address", refusal});
  flow.state = State::kRefused;
  flow.held.clear();
  let_end(flow, kRefusedWait);
}

Status Datagrams::connect(Flow& flow, const IpAddress& address) {
  flow.upstream_at = {address, static_cast<std::uint16_t>(flow.door->target.port)};
  flow.upstream = TRY(sys::connected_datagrams(flow.upstream_at));
  flow.watch = TRY(core_.loop().watch(flow.upstream.get(), {.read = true, .write = false},
                                      [this, &flow](const sys::Readiness&) { receive_down(flow); }));
  return {};
}

void Datagrams::refuse(Flow& flow, const Ruling& ruling) {
  flow.state = State::kRefused;
  flow.held.clear();
  core_.refuse(flow.door->target, ruling, Peer{sys::Transport::kUdp, flow.peer});
  let_end(flow, kRefusedWait);
}

// What cannot be sent now is lost, as it may be on every way that a datagram goes.
void Datagrams::send_up(Flow& flow, std::string_view bytes) {
  if (sys::send_datagram(flow.upstream.get(), bytes, flow.upstream_at)) flow.bytes_up += bytes.size();
}

void Datagrams::receive_down(Flow& flow) {
  for (int i = 0; i < kDatagramsAtOnce; ++i) {
    const auto datagram = sys::receive_datagram(flow.upstream.get(), buffer_);
    // An error is what the host's last answer was (udp(7), ECONNREFUSED): reading has taken it away.
    if (!datagram || !*datagram) return;
    flow.used = SteadyClock::now();
    const std::string_view bytes(buffer_.data(), (*datagram)->size);
    if (sys::send_datagram(flow.door->socket.get(), bytes, flow.peer)) flow.bytes_down += bytes.size();
  }
}

void Datagrams::let_end(Flow& flow, std::chrono::milliseconds wait) {
  flow.timer = core_.loop().after(wait, [this, &flow] {
    const auto idle = std::chrono::floor<std::chrono::milliseconds>(SteadyClock::now() - flow.used);
    if (flow.state == State::kRefused || idle >= kIdleWait) return end(flow);
    let_end(flow, kIdleWait - idle);
  });
}

void Datagrams::end(Flow& flow) {
  if (flow.upstream) {
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(flow.used - flow.began_steady);
    core_.tell(Passed{flow.door->target, flow.rule, flow.began, took, flow.bytes_up, flow.bytes_down, {}});
  }
  const auto found = by_peer_.find({flow.door, flow.peer.address, flow.peer.port});
  const Flows::iterator place = found->second;
  by_peer_.erase(found);
  flows_.erase(place);
}

void Datagrams::judge_again() {
  for (auto next = flows_.begin(); next != flows_.end();) {
    Flow& flow = *next++;
    const Target& target = flow.door->target;
    const Ruling ruling = core_.rule(target);
    const bool allowed = ruling.verdict == Verdict::kAllow &&
                         (!flow.upstream || core_.rule_address(target, flow.upstream_at.address, flow.source).allowed);
    if (allowed && flow.state != State::kRefused) continue;
    if (ruling.verdict != Verdict::kAllow) core_.refuse(target, ruling, Peer{sys::Transport::kUdp, flow.peer});
    end(flow);
  }
}

void Datagrams::close() {
  while (!flows_.empty()) end(flows_.front());
  doors_.clear();
}

}  // namespace hutch::egress
