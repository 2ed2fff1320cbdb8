// The init of the sandbox.
#include "guest/init.h"

#include <signal.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <variant>

#include "base/text.h"
#include "guest/command.h"
#include "guest/descendants.h"
#include "guest/network.h"
#include "guest/tree.h"
#include "sys/io.h"
#include "sys/lockdown.h"
#include "sys/process.h"
#include "sys/signals.h"

namespace hutch::guest {

namespace {

// How often the covers are looked at.
constexpr std::chrono::milliseconds kCoverCheck{1000};

class Init {
 public:
  Init(wire::Connection& host, const plan::SandboxPlan& plan, wire::Isolation isolation, std::optional<UniqueFd> mounts)
      : host_(host), plan_(plan), isolation_(isolation), mounts_(std::move(mounts)) {}

  Status run();

 private:
  Status wait_and_serve(int signals);
  Status end_uncovered();
  Status look_at_covers();
  Status serve_host();
  Status handle(const wire::Frame& frame);
  Status start(const wire::Exec& exec);
  Status signal(const wire::Signal& message);
  Status reap();
  Status report_stop();
  Status refuse_calls();
  Status end_everything();

  wire::Connection& host_;
  const plan::SandboxPlan& plan_;
  wire::Isolation isolation_;
  std::optional<UniqueFd> mounts_;
  std::chrono::steady_clock::time_point looked_at_covers_ = std::chrono::steady_clock::now();
  Command command_;
  bool done_ = false;
};

}  // namespace

Status run_init(wire::Connection& host, const plan::SandboxPlan& plan, wire::Isolation isolation,
                std::optional<UniqueFd> mounts) {
  return Init(host, plan, isolation, std::move(mounts)).run();
}

namespace {

Status Init::run() {
  const UniqueFd signals = TRY(sys::signal_descriptor({SIGCHLD}));
  // A frame that came together with the plan is not announced by poll(2).
  for (auto frame = TRY(host_.take_buffered()); frame; frame = TRY(host_.take_buffered())) TRY(handle(*frame));
  while (!done_) TRY(wait_and_serve(signals.get()));
  return end_everything();
}

Status Init::wait_and_serve(int signals) {
  enum { kHost, kChild, kListener, kStops, kMounts, kCount };
  std::array<pollfd, kCount> wait{};
  wait[kHost] = {host_.fd(), POLLIN, 0};
  wait[kChild] = {signals, POLLIN, 0};
  wait[kListener] = {command_.listener ? command_.listener->get() : -1, POLLIN, 0};
  wait[kStops] = {command_.stops ? command_.stops->get() : -1, POLLIN, 0};
  wait[kMounts] = {mounts_ ? mounts_->get() : -1, POLLPRI, 0};
  TRY(sys::poll(wait, mounts_ ? std::optional(kCoverCheck) : std::nullopt));
  TRY(look_at_covers());
  if (wait[kMounts].revents != 0) return end_uncovered();
  if (wait[kListener].revents != 0) TRY(refuse_calls());
  if (wait[kStops].revents != 0) TRY(report_stop());
  if (wait[kChild].revents != 0) {
    TRY(sys::next_signal(signals));
    TRY(reap());
  }
  if (wait[kHost].revents != 0 && !done_) TRY(serve_host());
  return {};
}

// Nobody in here can mount, so a change means that a mount went because its place was replaced or removed outside.
// What it hid or protected would be open from now on: nothing goes on running with less than was planned.
Status Init::end_uncovered() {
  (void)sys::send_signal(-1, SIGKILL);
  TRY(check_covers(plan_));
  return fail({Code::kConflict, 0, "the sandbox's mounts changed while it ran"});
}

// A file that is renamed outside takes its mount along, which no change of the mounts tells; the name is then free for
// another file.
Status Init::look_at_covers() {
  const auto now = std::chrono::steady_clock::now();
  if (!mounts_ || now - looked_at_covers_ < kCoverCheck) return {};
  looked_at_covers_ = now;
  Status held = check_covers(plan_);
  if (!held) (void)sys::send_signal(-1, SIGKILL);
  return held;
}

Status Init::serve_host() {
  auto polled = TRY(host_.receive_ready());
  for (; polled.frame; polled.frame = TRY(host_.take_buffered())) TRY(handle(*polled.frame));
  if (polled.closed) done_ = true;
  return {};
}

Status Init::handle(const wire::Frame& frame) {
  const wire::ToGuest message = TRY(wire::decode_to_guest(frame.header, frame.body));
  if (const auto* exec = std::get_if<wire::Exec>(&message)) return start(*exec);
  if (const auto* wanted = std::get_if<wire::Signal>(&message)) return signal(*wanted);
  if (const auto* wanted = std::get_if<wire::MakeSockets>(&message)) {
    return send_network(host_, TRY(make_dial_sockets(wanted->count)));
  }
  return fail(Error::invalid("a second plan"));
}

Status Init::start(const wire::Exec& exec) {
  if (command_.pid > 0) return fail(Error::invalid("a second command"));
  auto outcome = TRY(start_command(exec, host_.take_descriptors(), plan_.seccomp));
  if (const auto* refused = std::get_if<wire::NotExecuted>(&outcome)) {
    done_ = true;
    return host_.send(wire::ToHost(*refused));
  }
  auto& started = std::get<StartedCommand>(outcome);
  command_ = std::move(started.command);
  std::vector<int> descriptors;
  if (started.terminal_master) descriptors.push_back(started.terminal_master->get());
  return host_.send(wire::ToHost(wire::Started{}), descriptors);
}

Status Init::signal(const wire::Signal& message) {
  if (message.number <= 0 || message.number >= NSIG) return fail(Error::invalid("no such signal"));
  if (command_.pid <= 0) return {};
  switch (message.target) {
    case wire::SignalTarget::kCommand: return sys::send_signal(-command_.group, message.number);
    case wire::SignalTarget::kEverything:
      if (isolation_ == wire::Isolation::kNone) return signal_descendants(message.number);
      return sys::send_signal(-1, message.number);
  }
  return {};
}

Status Init::reap() {
  while (auto ended = TRY(sys::wait_any(sys::Wait::kNow))) {
    if (ended->pid != command_.pid || ended->status.stopped()) continue;
    TRY(refuse_calls());
    TRY(end_everything());
    TRY(host_.send(wire::ToHost(wire::Exited{ended->status.raw})));
    done_ = true;
  }
  return {};
}

Status Init::report_stop() {
  char byte = 0;
  const std::size_t count = TRY(sys::read_some(command_.stops->get(), {&byte, 1}));
  if (count == 0) {
    command_.stops.reset();
    return {};
  }
  return host_.send(wire::ToHost(wire::Stopped{}));
}

// Without a waiting call the ioctl would block, so poll comes first; with POLLHUP no process is left that could call.
Status Init::refuse_calls() {
  while (command_.listener) {
    pollfd waiting{command_.listener->get(), POLLIN, 0};
    TRY(sys::poll({&waiting, 1}, std::chrono::milliseconds(0)));
    if ((waiting.revents & POLLIN) == 0) {
      if (waiting.revents != 0) command_.listener.reset();
      return {};
    }
    const auto call = TRY(sys::receive_notification(waiting.fd));
    if (!call) continue;
    TRY(sys::refuse_notification(waiting.fd, call->id, EPERM));
    TRY(host_.send(wire::ToHost(wire::Refused{wire::RefusedCall::kUnixSocket, call->pid})));
  }
  return {};
}

// As pid 1 nothing outlives the exit of this process (pid_namespaces(7)); without a pid namespace it has to be hunted.
Status Init::end_everything() {
  if (isolation_ != wire::Isolation::kNone) return {};
  return kill_descendants();
}

}  // namespace

}  // namespace hutch::guest
