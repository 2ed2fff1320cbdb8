// Backend `bwrap`.
#include "backend/bwrap/bwrap_backend.h"

#include <array>

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

constexpr std::size_t kComplaintBytesMax = 65536;

Status send_arguments(int pipe, const std::vector<std::string>& arguments);
Error explain_failure(sys::ChildProcess& bwrap, int errors, Error seen);

}  // namespace

Guarantees BwrapBackend::guarantees() const {
  return {.holds = {"only the planned files are there, with the planned rights, by bubblewrap's mounts and by Landlock",
                    "own user, mount, pid, network, ipc, uts and cgroup namespaces; no capability; no new privileges",
                    "no network but its own loopback", "the same filter for system calls as namespace",
                    "the end of the command ends everything that it started"},
          .open = {"the kernel itself is shared: a hole in a permitted system call is a way out",
                   "run as root, user.max_user_namespaces keeps the host's value inside; the filter alone forbids them"}};
}

Result<Instance> BwrapBackend::start(const plan::SandboxPlan& plan, const StartOptions& options) const {
  const std::vector<std::string> arguments = TRY(bwrap_arguments(plan));
  TRY(sys::become_subreaper());
  auto [arguments_read, arguments_write] = TRY(sys::pipe());
  auto [errors_read, errors_write] = TRY(sys::pipe());
  // By descriptor: the guest's own file need not be visible inside.
  const UniqueFd guest = TRY(sys::open(options.guest_program, sys::Open::kPath));
  const std::vector<std::pair<int, int>> install = {
      {errors_write.get(), kErrorsFd}, {arguments_read.get(), kArgumentsFd}, {guest.get(), kGuestFd}};
  // bwrap waits for its arguments, so that it is where its limits hold before it starts anything.
  auto started = TRY(spawn_guest(program_,
                                 {"bwrap", "--args", std::to_string(kArgumentsFd),
                                  cat({"/proc/self/fd/", std::to_string(kGuestFd)})},
                                 install, options));
  arguments_read.reset();
  errors_write.reset();
  TRY(send_arguments(arguments_write.get(), arguments));
  arguments_write.reset();
  const auto sent = send_start(started.guest, wire::Isolation::kBwrap, plan, options);
  if (!sent) return fail(explain_failure(started.process, errors_read.get(), sent.error()));
  const auto first = receive_message(started.guest);
  if (!first) return fail(explain_failure(started.process, errors_read.get(), first.error()));
  if (const auto* failed = std::get_if<wire::Failed>(&*first)) return fail(failed->error);
  if (!std::holds_alternative<wire::Ready>(*first)) return fail(Error::invalid("hutch-guest: unexpected first message"));
  return Instance{std::move(started.guest), std::move(started.process), Instance::Orphans::kAdopted};
}

namespace {

Status send_arguments(int pipe, const std::vector<std::string>& arguments) {
  std::string bytes;
  for (const std::string& argument : arguments) {
    bytes += argument;
    bytes += '\0';
  }
  TRY_CTX(sys::write_all(pipe, bytes), "pass bwrap its arguments");
  return {};
}

// bwrap's own words say more than that the stream ended.
Error explain_failure(sys::ChildProcess& bwrap, int errors, Error seen) {
  if (!bwrap.wait()) return seen;
  const auto complaint = sys::read_to_end(errors, kComplaintBytesMax);
  if (!complaint || complaint->empty()) return seen;
  std::string_view line = *complaint;
  line = line.substr(0, line.find('\n'));
  return {Code::kSystem, 0, printable(line)};
}

}  // namespace

}  // namespace hutch::backend
