// A connection to a host outside.
#include "egress/dialer.h"

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "egress/proxy_head.h"
#include "sys/io.h"
#include "sys/net/foreign_socket.h"
#include "wire/machine_dial.h"

namespace hutch::egress {

namespace {

// While there is another address to try, and for the last one.
constexpr std::chrono::milliseconds kTryWait{3'000};
constexpr std::chrono::milliseconds kLastWait{30'000};

}  // namespace

Dialer::Dialer(Core& core, Target target, std::function<void(Dialled)> on_done)
    : core_(core), target_(std::move(target)), on_done_(std::move(on_done)) {}

void Dialer::start(Core::Basis basis) {
  basis_ = basis;
  parent_ = policy::proxy_for(core_.settings().parents, target_.host, target_.port);
  if (target_.host.address) {
    const auto decision = core_.rule_address(target_, *target_.host.address, policy::AddressSource::kDns, basis_);
    if (!decision.allowed) return fail_with(DialFailure::kRefusedByPolicy, decision.why);
  }
  // The parent proxy finds the address of a name itself: there is none to be checked here.
  if (parent_ != nullptr) return resolve(parent_->host.name);
  if (target_.host.address) return resolved(Addresses{.list = {*target_.host.address}});
  resolve(target_.host.name);
}

void Dialer::start_at(std::vector<sys::Endpoint> endpoints, UniqueFd socket) {
  endpoints_.assign(endpoints.rbegin(), endpoints.rend());
  socket_ = std::move(socket);
  if (socket_) socket_of_ = SocketOf::kOtherNamespace;
  const auto family = socket_ ? sys::family_of_socket(socket_.get()) : sys::SocketFamily::kOther;
  if (family && *family == sys::SocketFamily::kUnix && !endpoints_.empty()) return ask_machine(endpoints_.back().port);
  dial_next();
}

void Dialer::ask_machine(std::uint16_t port) {
  const wire::DialBytes request = wire::encode_dial(port);
  const Status own = sys::set_nonblocking(socket_.get());
  const auto sent = sys::write_some(socket_.get(), std::string_view(request.data(), request.size()));
  auto watch = core_.loop().watch(socket_.get(), {.read = true, .write = false},
                                  [this](const sys::Readiness&) { machine_answered(); });
  if (!own || !sent || *sent != request.size() || !watch) {
    return fail_with(DialFailure::kUnreachable, "the machine ended");
  }
  watch_ = std::move(*watch);
  timer_ = core_.loop().after(kLastWait, [this] { fail_with(DialFailure::kUnreachable, "no answer"); });
}

// One byte, and whatever it is: what follows is the connection's.
void Dialer::machine_answered() {
  std::array<char, 1> answer{};
  const auto size = sys::read_some(socket_.get(), answer);
  if (!size && size.error().sys_errno == EAGAIN) return;
  timer_.stop();
  watch_.stop();
  if (!size || *size == 0 || answer[0] != wire::kDialled) {
    return fail_with(DialFailure::kUnreachable, "nobody listens there");
  }
  finish({.socket = std::move(socket_), .failure = {}, .why = {}});
}

void Dialer::resolve(const std::string& name) {
  if (const auto address = parse_ip(name)) return resolved(Addresses{.list = {*address}});
  core_.resolver().resolve(name, [this, alive = std::weak_ptr(alive_)](Result<Addresses> addresses) {
    if (!alive.expired()) resolved(std::move(addresses));
  });
}

void Dialer::resolved(Result<Addresses> addresses) {
  if (!addresses) {
    const bool unknown = addresses.error().code == Code::kNotFound;
    return fail_with(unknown ? DialFailure::kUnknownName : DialFailure::kUnreachable, addresses.error().message);
  }
  const int port = parent_ != nullptr ? parent_->port : target_.port;
  std::string refusal;
  for (auto address = addresses->list.rbegin(); address != addresses->list.rend(); ++address) {
    const auto decision = parent_ != nullptr ? policy::AddressDecision{true, {}}
                                             : core_.rule_address(target_, *address, addresses->source, basis_);
    if (decision.allowed) endpoints_.push_back({*address, static_cast<std::uint16_t>(port)});
    if (!decision.allowed) refusal = cat({to_string(*address), " ", decision.why});
  }
  if (endpoints_.empty() && !refusal.empty()) return fail_with(DialFailure::kRefusedByPolicy, refusal);
  dial_next();
}

void Dialer::dial_next() {
  watch_.stop();
  while (!endpoints_.empty()) {
    const sys::Endpoint endpoint = endpoints_.back();
    endpoints_.pop_back();
    const Status begun = begin(endpoint);
    auto watch = begun ? core_.loop().watch(socket_.get(), {.read = false, .write = true},
                                            [this](const sys::Readiness&) { connected(); })
                       : Result<Loop::Watch>(std::unexpected(begun.error()));
    if (watch) {
      watch_ = std::move(*watch);
      timer_ = core_.loop().after(endpoints_.empty() ? kLastWait : kTryWait, [this] {
        last_error_ = "no answer";
        watch_.stop();
        give_up_attempt();
        dial_next();
      });
      return;
    }
    last_error_ = watch.error().message;
    give_up_attempt();
  }
  fail_with(DialFailure::kUnreachable, last_error_.empty() ? "it has no address" : last_error_);
}

Status Dialer::begin(const sys::Endpoint& endpoint) {
  if (socket_of_ == SocketOf::kOtherNamespace) {
    if (!socket_) return fail(Error{Code::kSystem, 0, "its socket cannot be used again"});
    return sys::begin_connect_of_both(socket_.get(), endpoint);
  }
  socket_ = TRY(sys::tcp_socket(endpoint.address.family));
  return sys::begin_connect(socket_.get(), endpoint);
}

void Dialer::give_up_attempt() {
  const bool again = socket_of_ == SocketOf::kOtherNamespace && socket_ && sys::dissolve_connect(socket_.get());
  if (!again) socket_.reset();
}

void Dialer::connected() {
  timer_.stop();
  const Status status = sys::connect_result(socket_.get());
  if (!status) {
    last_error_ = status.error().message;
    watch_.stop();
    give_up_attempt();
    return dial_next();
  }
  watch_.stop();
  sys::disable_nagle(socket_.get());
  if (parent_ != nullptr) return ask_parent();
  finish({.socket = std::move(socket_), .failure = {}, .why = {}});
}

// The request fits into the empty buffer of a new connection.
void Dialer::ask_parent() {
  const std::string request =
      connect_request(target_.host.name, static_cast<std::uint16_t>(target_.port), parent_->authorization);
  const auto sent = sys::write_some(socket_.get(), request);
  auto watch = core_.loop().watch(socket_.get(), {.read = true, .write = false}, [this](const sys::Readiness& ready) {
    read_parent(ready.ended ? Input::kEnded : Input::kOpen);
  });
  if (!sent || *sent != request.size() || !watch) return fail_with(DialFailure::kUnreachable, "the parent proxy ended");
  watch_ = std::move(*watch);
  timer_ = core_.loop().after(kLastWait,
                              [this] { fail_with(DialFailure::kUnreachable, "the parent proxy gives no answer"); });
}

// What follows the head is the host's, and stays for whoever relays it.
void Dialer::read_parent(Input input) {
  std::array<char, kProxyHeadBytesMax> buffer;
  const auto count = sys::peek(socket_.get(), buffer);
  if (!count || (*count && **count == 0)) return fail_with(DialFailure::kUnreachable, "the parent proxy ended");
  if (!*count) return;
  const ConnectAnswer answer = read_connect_answer({buffer.data(), **count});
  if (answer.status == 0) {
    // What shows no more than before is all that will be seen of it.
    const bool more = std::exchange(shown_, **count) < **count;
    if (input == Input::kEnded || !more) return fail_with(DialFailure::kUnreachable, "the parent proxy ended");
    sys::set_receive_low_water(socket_.get(), static_cast<int>(**count) + 1);
    return;
  }
  if (answer.status < 200 || answer.status > 299) {
    return fail_with(DialFailure::kUnreachable, cat({"the parent proxy answers ", std::to_string(answer.status)}));
  }
  sys::set_receive_low_water(socket_.get(), 1);
  if (!sys::read_some(socket_.get(), {buffer.data(), answer.size})) {
    return fail_with(DialFailure::kUnreachable, "the parent proxy ended");
  }
  watch_.stop();
  timer_.stop();
  finish({.socket = std::move(socket_), .failure = {}, .why = {}});
}

void Dialer::finish(Dialled dialled) {
  watch_.stop();
  timer_.stop();
  const auto on_done = std::move(on_done_);
  on_done(std::move(dialled));
}

void Dialer::fail_with(DialFailure failure, std::string why) {
  finish({.socket = {}, .failure = failure, .why = std::move(why)});
}

}  // namespace hutch::egress
