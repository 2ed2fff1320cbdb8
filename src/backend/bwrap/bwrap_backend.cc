// Backend `bwrap`.
#include "backend/bwrap/bwrap_backend.h"

#include <signal.h>

#include <array>
#include <chrono>
#include <optional>

#include "backend/bwrap/bwrap_arguments.h"
#include "backend/guest_process.h"
#include "base/text.h"
#include "sys/files.h"
#include "sys/io.h"

namespace hutch::backend {

namespace {

// The numbers that bwrap finds its things at.
constexpr int kErrorsFd = 2;
constexpr int kArgumentsFd = 3;
constexpr int kGuestFd = 4;

constexpr std::size_t kComplaintBytesMax = 4096;
// How long a start may take. Without a bound, a bwrap that waits for its own other half would be waited for.
constexpr std::chrono::seconds kStartWait{30};
// How long a bwrap that failed may take to say so and go.
constexpr std::chrono::milliseconds kComplaintWait{2000};

Result<Instance> start_bwrap(const std::string& program, const plan::SandboxPlan& plan, const StartOptions& options);
Status send_arguments(int pipe, const std::vector<std::string>& arguments);
Result<wire::ToHost> receive_or_see_end(GuestProcess& started);
Error explain_failure(sys::ChildProcess& bwrap, int errors, Error seen);

}  // namespace

Guarantees BwrapBackend::guarantees() const {
  return {
      .holds = {"only the planned files are there, with the planned rights, by bubblewrap's mounts and by Landlock",
                "own user, mount, pid, network, ipc, uts and cgroup namespaces; no capability; no new privileges",
                "no network but its own loopback", "the same filter for system calls as namespace",
                "the end of the command ends everything that it started"},
      .open = {"the kernel itself is shared: a hole in a permitted system call is a way out",
               "run as root, user.max_user_namespaces keeps the host's value inside; the filter alone forbids them"}};
}

Result<Instance> BwrapBackend::start(const plan::SandboxPlan& plan, const StartOptions& options) const {
  // Half of a bubblewrap that fails early can stay behind, waiting for the other half for ever.
  TRY(sys::become_subreaper());
  const sys::ChildrenMark mark = TRY(sys::ChildrenMark::set());
  auto instance = start_bwrap(program_, plan, options);
  if (!instance) TRY(mark.end_later());
  return instance;
}

namespace {

Result<Instance> start_bwrap(const std::string& program, const plan::SandboxPlan& plan, const StartOptions& options) {
  const std::vector<std::string> arguments = TRY(bwrap_arguments(plan));
  auto [arguments_read, arguments_write] = TRY(sys::pipe());
  auto [errors_read, errors_write] = TRY(sys::pipe());
  // By descriptor: the guest's own file need not be visible inside.
  const UniqueFd guest = TRY(sys::open(options.guest_program, sys::Open::kPath));
  const std::vector<std::pair<int, int>> install = {
      {errors_write.get(), kErrorsFd}, {arguments_read.get(), kArgumentsFd}, {guest.get(), kGuestFd}};
  // bwrap waits for its arguments, so that it is where its limits hold before it starts anything.
  auto started = TRY(spawn_guest(
      program, {"bwrap", "--args", std::to_string(kArgumentsFd), cat({"/proc/self/fd/", std::to_string(kGuestFd)})},
      install, options));
  arguments_read.reset();
  errors_write.reset();
  TRY(send_arguments(arguments_write.get(), arguments));
  arguments_write.reset();
  const auto sent = send_start(started.guest, wire::Isolation::kBwrap, plan, options);
  if (!sent) return fail(explain_failure(started.process, errors_read.get(), sent.error()));
  const auto first = receive_or_see_end(started);
  if (!first) return fail(explain_failure(started.process, errors_read.get(), first.error()));
  if (const auto* failed = std::get_if<wire::Failed>(&*first)) return fail(failed->error);
  if (!std::holds_alternative<wire::Ready>(*first))
    return fail(Error::invalid("hutch-guest: unexpected first message"));
  return Instance{std::move(started.guest), std::move(started.process), Instance::Orphans::kAdopted};
}

Status send_arguments(int pipe, const std::vector<std::string>& arguments) {
  std::string bytes;
  for (const std::string& argument : arguments) {
    bytes += argument;
    bytes += '\0';
  }
  TRY_CTX(sys::write_all(pipe, bytes), "pass bwrap its arguments");
  return {};
}

// The end of bwrap's first process is a failure even where its second one still holds the stream open.
Result<wire::ToHost> receive_or_see_end(GuestProcess& started) {
  std::array<pollfd, 2> wait = {{{started.guest.fd(), POLLIN, 0}, {started.process.pidfd(), POLLIN, 0}}};
  const auto deadline = std::chrono::steady_clock::now() + kStartWait;
  while (wait[0].revents == 0 && wait[1].revents == 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return fail(Error{Code::kTimeout, 0, "bwrap did not start the guest"});
    TRY(sys::poll(wait, left));
  }
  if (wait[0].revents != 0) return receive_message(started.guest);
  return fail(Error{Code::kSystem, 0, "bwrap ended before it started the guest"});
}

// bwrap's own words say more than that the stream ended.
Error explain_failure(sys::ChildProcess& bwrap, int errors, Error seen) {
  pollfd ended{bwrap.pidfd(), POLLIN, 0};
  (void)sys::poll({&ended, 1}, kComplaintWait);
  if (!bwrap.signal(SIGKILL) || !bwrap.wait() || !sys::set_nonblocking(errors)) return seen;
  std::array<char, kComplaintBytesMax> text;
  const auto count = sys::read_some(errors, text);
  if (!count || *count == 0) return seen;
  std::string_view line(text.data(), *count);
  line = line.substr(0, line.find('\n'));
  return {Code::kSystem, 0, printable(line)};
}

}  // namespace

}  // namespace hutch::backend
