// hutch-inspect, seen from the gateway.
#include "egress/inspector.h"

#include <array>
#include <cerrno>

#include "sys/channel.h"
#include "sys/process/host_info.h"

namespace hutch::egress {

namespace {

Result<wire::FromInspector> first_message(wire::Connection& connection) {
  const auto frame = TRY(connection.receive());
  if (!frame) return fail(Error{Code::kSystem, 0, "hutch-inspect ended before it was ready"});
  return wire::decode_from_inspector(frame->header, frame->body);
}

}  // namespace

Result<wire::InspectReady> Inspector::start(const std::string& program, wire::InspectStart first) {
  auto [ours, its] = TRY(sys::socket_pair());
  const std::vector<std::pair<int, int>> install = {{its.get(), 0}};
  // The caller's own store of authorities, where there is one; nothing else of the environment is its business.
  std::vector<std::string> environment;
  if (const auto store = sys::environment_variable("SSL_CERT_FILE")) environment.push_back("SSL_CERT_FILE=" + *store);
  process_ = TRY(sys::spawn(program, {.arguments = {"hutch-inspect"}, .environment = environment, .install = install}));
  its.reset();
  wire::Connection connection(std::move(ours));
  first.authority = authority_;
  const Status sent = connection.send(wire::ToInspector(std::move(first)));
  // One that cannot start may have said why, and have ended before it was sent everything.
  if (!sent && sent.error().sys_errno != EPIPE && sent.error().sys_errno != ECONNRESET) return fail(sent.error());
  wire::FromInspector message = TRY_CTX(first_message(connection), "start hutch-inspect");
  if (const auto* failed = std::get_if<wire::InspectFailed>(&message)) return fail(failed->error);
  auto* const ready = std::get_if<wire::InspectReady>(&message);
  if (ready == nullptr) return fail(Error::invalid("hutch-inspect: unexpected first message"));
  if (authority_.empty()) authority_ = std::move(ready->authority);
  ready->authority.clear();
  connection_.emplace(std::move(connection));
  watch_ = TRY(loop_.watch(connection_->fd(), {.read = true, .write = false}, [this](const sys::Readiness&) {
    if (const Status received = receive(); !received) die(received.error());
  }));
  return std::move(*ready);
}

Status Inspector::inspect(const wire::Inspect& request, int client, int upstream, Handlers handlers) {
  if (!connection_) return fail(Error{Code::kSystem, 0, "hutch-inspect has ended"});
  const std::array<int, 2> descriptors = {client, upstream};
  TRY(connection_->send(wire::ToInspector(request), descriptors));
  open_.emplace(request.id, std::move(handlers));
  return {};
}

void Inspector::end(std::uint64_t id) {
  if (connection_) (void)connection_->send(wire::ToInspector(wire::InspectEnd{id}));
}

void Inspector::stop() {
  if (connection_) lose();
}

Status Inspector::receive() {
  auto polled = TRY(connection_->receive_ready());
  for (; polled.frame; polled.frame = TRY(connection_->take_buffered())) {
    take(TRY(wire::decode_from_inspector(polled.frame->header, polled.frame->body)));
  }
  if (polled.closed) return fail(Error{Code::kSystem, 0, "hutch-inspect, which read it, has ended"});
  return {};
}

void Inspector::take(const wire::FromInspector& message) {
  if (const auto* refused = std::get_if<wire::InspectRefused>(&message)) {
    const auto found = open_.find(refused->id);
    if (found != open_.end()) found->second.on_refused(*refused);
  }
  if (const auto* closed = std::get_if<wire::InspectClosed>(&message)) {
    auto taken = open_.extract(closed->id);
    if (!taken.empty()) taken.mapped().on_closed(*closed);
  }
}

// What it had is cut; whoever wonders why is told.
void Inspector::die(const Error& error) {
  for (const auto& [id, handlers] : open_) {
    handlers.on_refused({.id = id, .what = "a connection was cut", .why = error.message});
  }
  lose();
}

// Its connections have ended with it; the next one that needs it starts another.
void Inspector::lose() {
  watch_.stop();
  connection_.reset();
  process_ = {};
  for (auto& [id, handlers] : std::exchange(open_, {})) handlers.on_closed({.id = id});
}

}  // namespace hutch::egress
