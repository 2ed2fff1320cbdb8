// Backend `bwrap`.
#include "backend/bwrap/bwrap_backend.h"

#include <signal.h>

#include <array>
#include <chrono>
#include <optional>

#include "backend/bwrap/bwrap_arguments.h"
#include "backend/bwrap/bwrap_network.h"
#include "backend/guest_process.h"
#include "base/text.h"
#include "sys/files/files.h"
#include "sys/io.h"

namespace hutch::backend {

namespace {

// The numbers that bwrap finds its things at.
constexpr int kErrorsFd = 2;
constexpr int kArgumentsFd = 3;
constexpr int kGuestFd = 4;
constexpr int kInfoFd = 5;
constexpr int kBlockFd = 6;
constexpr int kInfoReaderFd = 7;
constexpr int kFirstFileFd = 8;

constexpr std::size_t kBwrapComplaintBytesMax = 4096;
// How long a start may take. Without a bound, a bwrap that waits for its own other half would be waited for.
constexpr std::chrono::seconds kStartWait{30};
// How long a bwrap that failed may take to say so and go.
constexpr std::chrono::milliseconds kComplaintWait{2000};

// A bubblewrap that waits until its network is made.
struct WaitingGuest {
  sys::Pipe info;   // where it tells its child's number
  sys::Pipe block;  // what it waits for

  static Result<WaitingGuest> make(std::vector<std::pair<int, int>>& install);
  Result<OutsideNetwork> make_network(const std::string& guest_program, const sys::ChildProcess& bwrap,
                                      const plan::SandboxPlan& plan);
};
void append_waiting(std::vector<std::string>& words);
Result<Instance> start_bwrap(const std::string& program, const std::vector<std::string>& more,
                             const plan::SandboxPlan& plan, const StartOptions& options);
void append_waiting(std::vector<std::string>& words) {
  for (const std::string& word :
       {std::string("--info-fd"), std::to_string(kInfoFd), std::string("--block-fd"), std::to_string(kBlockFd)}) {
    words.push_back(word);
  }
}

Result<WaitingGuest> WaitingGuest::make(std::vector<std::pair<int, int>>& install) {
  WaitingGuest waiting;
  waiting.info = TRY(sys::pipe());
  waiting.block = TRY(sys::pipe());
  install.emplace_back(waiting.info.write.get(), kInfoFd);
  // Where hutch is killed by now, SIGPIPE would end the half that tells, and the other one would wait for it for ever.
  install.emplace_back(waiting.info.read.get(), kInfoReaderFd);
  install.emplace_back(waiting.block.read.get(), kBlockFd);
  return waiting;
}

Result<OutsideNetwork> WaitingGuest::make_network(const std::string& guest_program, const sys::ChildProcess& bwrap,
                                                  const plan::SandboxPlan& plan) {
  info.write.reset();
  block.read.reset();
  pollfd told{info.read.get(), POLLIN, 0};
  TRY(sys::poll({&told, 1}, kStartWait));
  if (told.revents == 0) return fail(Error{Code::kTimeout, 0, "bwrap did not start"});
  const std::string text = TRY(sys::read_to_end(info.read.get(), kBwrapComplaintBytesMax));
  const pid_t child = TRY(child_of_bwrap(text));
  auto network = make_network_outside(guest_program, bwrap, child, plan);
  if (!network) {
    // It waits for `block`, and whoever looks for its own words would wait with it.
    TRY(bwrap.signal(SIGKILL));
    return fail(std::move(network).error().with_context("make the network"));
  }
  TRY_CTX(sys::write_all(block.write.get(), "1"), "let bwrap go on");
  return network;
}

Result<std::vector<UniqueFd>> install_files(const std::vector<std::string_view>& contents,
                                            std::vector<std::pair<int, int>>& install);
Status send_arguments(int pipe, const std::vector<std::string>& arguments);
Result<wire::ToHost> receive_or_see_end(GuestProcess& started);
Error explain_failure(sys::ChildProcess& bwrap, int errors, Error seen);

}  // namespace

Guarantees BwrapBackend::guarantees() const {
  return {
      .holds = {"only the planned files are there, with the planned rights, by bubblewrap's mounts and by Landlock",
                "own user, mount, pid, network, ipc, uts and cgroup namespaces; no capability; no new privileges",
                "no network but its own loopback and what the gateway lets through",
                "the same filter for system calls as namespace",
                "the end of the command ends everything that it started"},
      .open = {"the kernel itself is shared: a hole in a permitted system call is a way out",
               "run as root, user.max_user_namespaces keeps the host's value inside; the filter alone forbids them"}};
}

Result<Instance> BwrapBackend::start(const plan::SandboxPlan& plan, const StartOptions& options) {
  // Half of a bubblewrap that fails early can stay behind, waiting for the other half for ever.
  TRY(sys::become_subreaper());
  const sys::ChildrenMark mark = TRY(sys::ChildrenMark::set());
  auto instance = start_bwrap(program_, more_, plan, options);
  if (!instance) TRY(mark.end_later());
  return instance;
}

namespace {

Result<Instance> start_bwrap(const std::string& program, const std::vector<std::string>& more,
                             const plan::SandboxPlan& plan, const StartOptions& options) {
  BwrapArguments arguments = TRY(bwrap_arguments(plan, kFirstFileFd));
  for (const std::string& word : more) {
    // They travel with a NUL byte between them.
    if (word.contains('\0')) return fail(Error::invalid("an argument for bwrap with a NUL byte"));
    arguments.words.push_back(word);
  }
  auto [arguments_read, arguments_write] = TRY(sys::pipe());
  auto [errors_read, errors_write] = TRY(sys::pipe());
  // By descriptor: the guest's own file need not be visible inside.
  const UniqueFd guest = TRY(sys::open(options.guest_program, sys::Open::kPath));
  std::vector<std::pair<int, int>> install = {
      {errors_write.get(), kErrorsFd}, {arguments_read.get(), kArgumentsFd}, {guest.get(), kGuestFd}};
  const std::vector<UniqueFd> files = TRY(install_files(arguments.files, install));
  std::optional<WaitingGuest> waiting;
  if (plan.network == plan::NetworkKind::kGateway) waiting.emplace(TRY(WaitingGuest::make(install)));
  // bwrap waits for its arguments, so that it is where its limits hold before it starts anything.
  std::vector<std::string> words = {"bwrap", "--args", std::to_string(kArgumentsFd)};
  if (waiting) append_waiting(words);
  words.push_back(cat({"/proc/self/fd/", std::to_string(kGuestFd)}));
  if (wants_readable_guest(plan, options)) words.insert(words.end(), {"--mounts", "--again"});
  auto started = TRY(spawn_guest(program, std::move(words), install, options));
  arguments_read.reset();
  errors_write.reset();
  TRY(send_arguments(arguments_write.get(), arguments.words));
  arguments_write.reset();
  std::optional<OutsideNetwork> network;
  if (waiting) {
    auto made = waiting->make_network(options.guest_program, started.process, plan);
    if (!made) return fail(explain_failure(started.process, errors_read.get(), std::move(made).error()));
    network.emplace(std::move(*made));
  }
  const auto sent = send_start(started.guest, wire::Isolation::kBwrap, plan, options);
  if (!sent) return fail(explain_failure(started.process, errors_read.get(), sent.error()));
  const auto first = receive_or_see_end(started);
  if (!first) return fail(explain_failure(started.process, errors_read.get(), first.error()));
  if (const auto* failed = std::get_if<wire::Failed>(&*first)) return fail(failed->error);
  if (!std::holds_alternative<wire::Ready>(*first))
    return fail(Error::invalid("hutch-guest: unexpected first message"));
  Instance instance{std::move(started.guest), std::move(started.process), Instance::Orphans::kAdopted,
                    Instance::Plan::kApplied};
  if (network) {
    instance.network.emplace(std::move(network->network));
    instance.network_sockets = std::move(network->sockets);
  }
  return instance;
}

// A pipe would want somebody to fill it while bwrap reads.
Result<std::vector<UniqueFd>> install_files(const std::vector<std::string_view>& contents,
                                            std::vector<std::pair<int, int>>& install) {
  std::vector<UniqueFd> files;
  for (const std::string_view content : contents) {
    const int number = kFirstFileFd + static_cast<int>(files.size());
    files.push_back(TRY(sys::memory_file("hutch", content)));
    install.emplace_back(files.back().get(), number);
  }
  return files;
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
  std::array<char, kBwrapComplaintBytesMax> text;
  const auto count = sys::read_some(errors, text);
  if (!count || *count == 0) return seen;
  std::string_view line(text.data(), *count);
  line = line.substr(0, line.find('\n'));
  return {Code::kSystem, 0, printable(line)};
}

}  // namespace

}  // namespace hutch::backend
