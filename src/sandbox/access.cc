// The supervisor of a sandbox's file changes and sockets, as the host keeps it.
#include "sandbox/access.h"

#include <utility>

#include "base/text.h"
#include "sys/channel.h"

namespace hutch::sandbox {

namespace {

// Where hutch-guest --access finds its things.
constexpr int kStreamFd = 0;
constexpr int kFirstFd = 3;
constexpr std::size_t kDescriptors = 4;

}  // namespace

Result<AccessSupervisor> AccessSupervisor::start(const AccessRules& rules, std::vector<UniqueFd> descriptors) {
  if (descriptors.size() != kDescriptors || rules.guest_program.empty()) {
    return fail(Error::invalid("hutch-guest: a supervisor that nobody asked for"));
  }
  auto [ours, its] = TRY(sys::socket_pair());
  std::vector<std::pair<int, int>> install = {{its.get(), kStreamFd}};
  for (const UniqueFd& descriptor : descriptors) {
    install.emplace_back(descriptor.get(), kFirstFd + static_cast<int>(install.size()) - 1);
  }
  auto process = TRY(sys::spawn(rules.guest_program,
                                {.arguments = {"hutch-guest", "--access"}, .environment = {}, .install = install}));
  wire::Connection connection(std::move(ours));
  TRY(connection.send(wire::ToGuest(wire::AccessRules{rules.names})));
  return AccessSupervisor(std::move(process), std::move(connection));
}

AccessSupervisor::Heard AccessSupervisor::hear() {
  static constexpr std::string_view kGone = "files that are supervised cannot be changed any more: ";
  auto heard = receive();
  if (heard) return std::move(*heard);
  connection_.reset();
  return {.refusals = {{.what = cat({kGone, heard.error().message}), .rule = ""}}, .requests = {}};
}

void AccessSupervisor::answer(std::uint64_t id, const SocketAnswer& answer) {
  if (!connection_) return;
  const int file = answer.file.get();
  const wire::ToGuest told(wire::SocketAnswered{id, answer.file ? 0 : answer.error});
  // One that has gone is noticed when it is heard.
  (void)connection_->send(told, std::span(&file, answer.file ? 1 : 0));
}

Result<AccessSupervisor::Heard> AccessSupervisor::receive() {
  Heard heard;
  if (!connection_) return heard;
  auto polled = TRY(connection_->receive_ready());
  for (; polled.frame; polled.frame = TRY(connection_->take_buffered())) {
    wire::ToHost message = TRY(wire::decode_to_host(polled.frame->header, polled.frame->body));
    if (const auto* failed = std::get_if<wire::Failed>(&message)) return fail(failed->error);
    if (const auto* refused = std::get_if<wire::Refused>(&message)) {
      heard.refusals.push_back(refusal_of(*refused));
    } else if (auto* asked = std::get_if<wire::SocketAsked>(&message)) {
      heard.requests.push_back({asked->id, asked->pid, std::move(asked->path), asked->error});
    } else {
      return fail(Error::invalid("hutch-guest: unexpected message of a supervisor"));
    }
  }
  if (!polled.closed) return heard;
  connection_.reset();
  // It goes by itself when nobody is left whose calls could come.
  const sys::WaitStatus status = TRY(process_.wait());
  if (!status.exited() || status.exit_code() != 0) return fail(Error{Code::kSystem, 0, "their supervisor was killed"});
  return heard;
}

Refusal refusal_of(const wire::Refused& refused) {
  switch (refused.call) {
    case wire::RefusedCall::kFileChange:
      return {.what = cat({"writing ", printable(refused.path), " was refused"}), .rule = printable(refused.rule)};
    case wire::RefusedCall::kUnixSocket: break;
  }
  return {.what = "a Unix socket was refused: socket(AF_UNIX) could reach services of the host", .rule = "built in"};
}

}  // namespace hutch::sandbox
