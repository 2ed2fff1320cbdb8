// What a person's hutch says to hutch-helper.
#include "backend/user/helper_client.h"

#include <poll.h>

#include <chrono>
#include <memory>
#include <utility>

#include "base/text.h"
#include "host/machine/isolation_facts.h"
#include "plan/setup/os_user.h"
#include "plan/trust.h"
#include "sys/channel.h"
#include "sys/io.h"
#include "sys/net/local_socket.h"
#include "sys/net/sockets.h"
#include "wire/helper.h"

namespace hutch::backend {

namespace {

// A guest takes a moment; a program that asks for a password, or waits for one, is none of ours.
constexpr std::chrono::milliseconds kAnswerWait{60'000};

// The helper's side of a sandbox.
class Helper {
 public:
  static Result<std::shared_ptr<Helper>> reach(const std::string& guest_program);
  explicit Helper(UniqueFd socket, sys::ChildProcess sudo = {})
      : connection_(std::move(socket)), sudo_(std::move(sudo)) {}

  Result<wire::FromHelper> ask(const wire::ToHelper& message);
  UniqueFd take_stream() { return connection_.take_descriptor(); }
  host::CgroupEvents count();
  // Everything in the sandbox ends, and with it the helper.
  Status end();

 private:
  wire::Connection connection_;
  sys::ChildProcess sudo_;
  bool ended_ = false;
};

wire::HelperStart request_of(const plan::SandboxPlan& plan, const StartOptions& options);

}  // namespace

Result<Instance> start_by_helper(const plan::SandboxPlan& plan, const StartOptions& options) {
  const auto helper = TRY(Helper::reach(options.guest_program));
  const wire::FromHelper answer = TRY(helper->ask(request_of(plan, options)));
  if (const auto* refused = std::get_if<wire::HelperRefused>(&answer)) return fail(refused->error);
  const auto* started = std::get_if<wire::HelperStarted>(&answer);
  UniqueFd stream = helper->take_stream();
  if (started == nullptr || !stream) return fail(Error::invalid("hutch-helper: unexpected first message"));
  const auto pid = static_cast<pid_t>(started->pid);
  Instance instance{wire::Connection(std::move(stream)), sys::ChildProcess(pid, TRY(sys::pidfd_of(pid)))};
  instance.ending = Instance::Ending::kByKeeper;
  instance.remove = [helper] { return helper->end(); };
  instance.limit_events = [helper] { return helper->count(); };
  return instance;
}

Result<std::uint32_t> make_user_by_helper(const std::string& guest_program, const std::string& agent) {
  const auto helper = TRY(Helper::reach(guest_program));
  const wire::FromHelper answer = TRY(helper->ask(wire::HelperMakeUser{.agent = agent}));
  (void)helper->end();
  if (const auto* refused = std::get_if<wire::HelperRefused>(&answer)) return fail(refused->error);
  const auto* made = std::get_if<wire::HelperMade>(&answer);
  if (made == nullptr) return fail(Error::invalid("hutch-helper: unexpected answer"));
  return made->user;
}

namespace {

wire::HelperStart request_of(const plan::SandboxPlan& plan, const StartOptions& options) {
  wire::HelperStart start;
  start.user = plan.uid;
  start.service = options.service;
  start.network = plan.network;
  start.host_ports = plan.host_ports;
  start.udp = plan.udp;
  start.tmp_bytes = plan.limits.tmp_bytes;
  start.memory_bytes = plan.limits.memory_bytes;
  start.pids = plan.limits.pids;
  start.cpu_millis = plan.limits.cpu_millis;
  start.seccomp = plan.seccomp;
  for (const plan::MountStep& step : plan.mounts) {
    if (step.kind != plan::MountKind::kFile) continue;
    if (step.target.ends_with(plan::kAuthorityFile)) start.authority = step.source;
    if (step.target.ends_with(plan::kBundleFile)) start.bundle = step.source;
    if (step.target.ends_with(plan::kJavaFile)) start.java_store = step.source;
  }
  return start;
}

// Its unit's socket; else sudo runs the one beside the guest, where root has a rule for it.
Result<std::shared_ptr<Helper>> Helper::reach(const std::string& guest_program) {
  auto socket = sys::connect_local(std::string(plan::kHelperSocket));
  if (socket) return std::make_shared<Helper>(std::move(*socket));
  const std::string sudo = host::find_system_program("sudo");
  const std::string program = cat({guest_program.substr(0, guest_program.rfind('/') + 1), "hutch-helper"});
  if (sudo.empty()) {
    return fail(Error::unsupported(cat({"hutch-helper is not reached: ", socket.error().message,
                                        ", and there is no sudo; have root run: hutch init --for PERSON"})));
  }
  auto [mine, helpers] = TRY(sys::socket_pair());
  auto child = TRY(sys::spawn(sudo, {.arguments = {"sudo", "-n", "--", program},
                                     .environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
                                     .install = {{helpers.get(), 0}, {2, 2}}}));
  return std::make_shared<Helper>(std::move(mine), std::move(child));
}

Result<wire::FromHelper> Helper::ask(const wire::ToHelper& message) {
  // One that has refused before it read has said why.
  (void)connection_.send(message);
  const auto until = std::chrono::steady_clock::now() + kAnswerWait;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd wait{connection_.fd(), POLLIN, 0};
    if (left.count() <= 0 || TRY(sys::poll({&wait, 1}, left)) == 0) {
      return fail(Error{Code::kTimeout, 0, "hutch-helper does not answer"});
    }
    const auto polled = connection_.receive_ready();
    if (polled && polled->frame) return wire::decode_from_helper(polled->frame->header, polled->frame->body);
    if (polled && !polled->closed) continue;
    return fail(Error::unsupported(
        "hutch-helper ended without an answer: root has not let this person run it; sudo hutch init --for PERSON"));
  }
}

host::CgroupEvents Helper::count() {
  const auto answer = ask(wire::HelperCount{});
  const auto* counted = answer ? std::get_if<wire::HelperCounted>(&*answer) : nullptr;
  if (counted == nullptr) return {};
  return {counted->killed_for_memory, counted->pids_refused};
}

Status Helper::end() {
  if (std::exchange(ended_, true)) return {};
  TRY(sys::shut_down_writing(connection_.fd()));
  for (;;) {
    pollfd wait{connection_.fd(), POLLIN, 0};
    if (TRY(sys::poll({&wait, 1}, kAnswerWait)) == 0) {
      return fail(Error{Code::kTimeout, 0, "hutch-helper does not end the sandbox"});
    }
    const auto polled = connection_.receive_ready();
    if (!polled || polled->closed) break;
  }
  if (sudo_) TRY(sudo_.wait());
  return {};
}

}  // namespace

}  // namespace hutch::backend
