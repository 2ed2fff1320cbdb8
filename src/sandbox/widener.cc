// Shows more of the host's files in a sandbox that runs.
#include "sandbox/widener.h"

#include <poll.h>

#include <csignal>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "sys/channel.h"
#include "sys/io.h"
#include "sys/process.h"
#include "wire/connection.h"

namespace hutch::sandbox {

namespace {

// Where hutch-guest --widen finds its things.
constexpr int kStreamFd = 0;
constexpr int kUserFd = 3;
constexpr int kMountsFd = 4;

wire::Widen task_of(const plan::Widening& widening, wire::Widen::Action action) {
  return {action, widening.steps.front().target, widening.at, widening.steps, widening.own};
}

}  // namespace

Result<wire::Widened::Place> Widener::show(const plan::Widening& widening) {
  return TRY(run(task_of(widening, wire::Widen::Action::kShow))).widened.place;
}

Status Widener::hide(const std::string& at, const std::vector<std::string>& own) {
  TRY(run({wire::Widen::Action::kHide, {}, at, {}, own}));
  return {};
}

Result<UniqueFd> Widener::hand_over(const plan::Widening& widening) {
  Answer answer = TRY(run(task_of(widening, wire::Widen::Action::kHandOver)));
  if (!answer.tree) return fail(Error::invalid("hutch-guest: a tree that does not come along"));
  return std::move(answer.tree);
}

Result<UniqueFd> Widener::hand_root() {
  Answer answer = TRY(run({wire::Widen::Action::kHandRoot, {}, {}, {}, {}}));
  if (!answer.tree) return fail(Error::invalid("hutch-guest: a root that does not come along"));
  return std::move(answer.tree);
}

// A file system that does not answer may keep it for ever.
Result<Widener::Answer> Widener::run(const wire::Widen& task) {
  auto [ours, its] = TRY(sys::socket_pair());
  const std::vector<std::pair<int, int>> install = {
      {its.get(), kStreamFd}, {user_.get(), kUserFd}, {mounts_.get(), kMountsFd}};
  sys::ChildProcess process =
      TRY(sys::spawn(guest_program_, {.arguments = {"hutch-guest", "--widen"}, .environment = {}, .install = install}));
  its.reset();
  wire::Connection connection(std::move(ours));
  TRY(connection.send(wire::ToGuest(task)));
  pollfd answered{connection.fd(), POLLIN, 0};
  TRY(sys::poll({&answered, 1}, limits::kWidenWait));
  if (answered.revents == 0) {
    TRY(process.signal(SIGKILL));
    return fail(Error{Code::kTimeout, 0, "it did not become visible in time"});
  }
  const auto frame = TRY(connection.receive());
  UniqueFd tree = frame ? connection.take_descriptor() : UniqueFd();
  TRY(process.wait());
  if (!frame) return fail(Error{Code::kSystem, 0, "hutch-guest ended before it was visible"});
  wire::ToHost message = TRY(wire::decode_to_host(frame->header, frame->body));
  if (auto* failed = std::get_if<wire::Failed>(&message)) return fail(std::move(failed->error));
  const auto* widened = std::get_if<wire::Widened>(&message);
  if (widened == nullptr) return fail(Error::invalid("hutch-guest: unexpected message"));
  return Answer{*widened, std::move(tree)};
}

}  // namespace hutch::sandbox
