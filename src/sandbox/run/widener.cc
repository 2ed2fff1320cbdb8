// Shows more, or less, of the host's files in a sandbox that runs.
#include "sandbox/run/widener.h"

#include <poll.h>

#include <csignal>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/text.h"
#include "sys/channel.h"
#include "sys/io.h"
#include "sys/process/process.h"
#include "wire/connection.h"

namespace hutch::sandbox {

namespace {

// Where hutch-guest --widen finds its things.
constexpr int kWidenerStreamFd = 0;
constexpr int kUserFd = 3;
constexpr int kMountsFd = 4;
constexpr int kProgramFd = 5;

wire::Widen task_of(const plan::Widening& widening, wire::Widen::Action action) {
  return {action, widening.steps.front().target, widening.at, widening.steps, widening.own};
}

}  // namespace

Result<wire::Widened> Widener::show(const plan::Widening& widening) {
  return run<wire::Widened>(task_of(widening, wire::Widen::Action::kShow));
}

Result<wire::Covered> Widener::cover(const std::vector<plan::Hiding>& hidings) {
  wire::Cover task;
  for (const plan::Hiding& hiding : hidings) task.places.push_back(hiding.steps);
  wire::Covered covered = TRY(run<wire::Covered>(task));
  if (covered.places.size() != hidings.size()) return fail(Error::invalid("hutch-guest: covers of other places"));
  return covered;
}

Status Widener::uncover(const std::vector<std::uint64_t>& mounts, const std::vector<std::string>& own) {
  TRY(run<wire::Widened>(wire::Uncover{mounts, own}));
  return {};
}

Result<UniqueFd> Widener::hand_over(const plan::Widening& widening) {
  UniqueFd tree;
  TRY(run<wire::Widened>(task_of(widening, wire::Widen::Action::kHandOver), &tree));
  if (!tree) return fail(Error::invalid("hutch-guest: a tree that does not come along"));
  return tree;
}

Result<UniqueFd> Widener::hand_root() {
  UniqueFd tree;
  TRY(run<wire::Widened>(wire::Widen{wire::Widen::Action::kHandRoot, {}, {}, {}, {}}, &tree));
  if (!tree) return fail(Error::invalid("hutch-guest: a root that does not come along"));
  return tree;
}

template <class Wanted>
Result<Wanted> Widener::run(const wire::ToGuest& task, UniqueFd* tree) {
  Answer answer = TRY(ask(task));
  if (tree != nullptr) *tree = std::move(answer.tree);
  auto* wanted = std::get_if<Wanted>(&answer.message);
  if (wanted == nullptr) return fail(Error::invalid("hutch-guest: unexpected message"));
  return std::move(*wanted);
}

// A file system that does not answer may keep it for ever.
Result<Widener::Answer> Widener::ask(const wire::ToGuest& task) {
  auto [ours, its] = TRY(sys::socket_pair());
  const std::vector<std::pair<int, int>> install = {{its.get(), kWidenerStreamFd},
                                                    {user_.get(), kUserFd},
                                                    {mounts_.get(), kMountsFd},
                                                    {guest_program_.get(), kProgramFd}};
  sys::ChildProcess process =
      TRY(sys::spawn(cat({"/proc/self/fd/", std::to_string(kProgramFd)}),
                     {.arguments = {"hutch-guest", "--widen"}, .environment = {}, .install = install}));
  its.reset();
  wire::Connection connection(std::move(ours));
  TRY(connection.send(task));
  pollfd answered{connection.fd(), POLLIN, 0};
  TRY(sys::poll({&answered, 1}, limits::kWidenWait));
  if (answered.revents == 0) {
    TRY(process.signal(SIGKILL));
    return fail(Error{Code::kTimeout, 0, "the sandbox's mounts were not changed in time"});
  }
  const auto frame = TRY(connection.receive());
  UniqueFd tree = frame ? connection.take_descriptor() : UniqueFd();
  TRY(process.wait());
  if (!frame) return fail(Error{Code::kSystem, 0, "hutch-guest ended before the sandbox's mounts were changed"});
  wire::ToHost message = TRY(wire::decode_to_host(frame->header, frame->body));
  if (auto* failed = std::get_if<wire::Failed>(&message)) return fail(std::move(failed->error));
  return Answer{std::move(message), std::move(tree)};
}

}  // namespace hutch::sandbox
