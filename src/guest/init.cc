// The init of the sandbox.
#include "guest/init.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/text.h"
#include "guest/command.h"
#include "guest/descendants.h"
#include "guest/file/server.h"
#include "guest/machine/dial.h"
#include "guest/setup/network.h"
#include "guest/setup/tree.h"
#include "sys/files/mount_table.h"
#include "sys/io.h"
#include "sys/notify.h"
#include "sys/process/lockdown.h"
#include "sys/process/process.h"
#include "sys/process/signals.h"

namespace hutch::guest {

namespace {

// How often the covers are looked at.
constexpr std::chrono::milliseconds kCoverCheck{1000};
// For the end of a change: meanwhile a mount of the plan may seem to be gone.
constexpr std::chrono::milliseconds kChangeWait{5000};
// How often a command that is ending is looked at, for what it still starts.
constexpr std::chrono::milliseconds kEndingCheck{20};

// The kernel writes the table of mounts line by line. While directories are renamed above a mount, by the sandbox
// itself as well, the lines of it and of the one below it can have names of different moments: only what is not as it
// was so many times in a row was moved.
constexpr int kTableTries = 100;

// Where a mount lies: on which other one, and where in that.
struct MountPlace {
  std::uint64_t below = 0;
  std::string path;
  std::string point;
};

std::optional<MountPlace> place_of(const std::vector<sys::MountEntry>& table, std::uint64_t mount) {
  const auto found = std::ranges::find(table, mount, &sys::MountEntry::id);
  if (found == table.end()) return std::nullopt;
  const auto below = std::ranges::find(table, found->parent, &sys::MountEntry::id);
  if (below == table.end() || !found->point.starts_with(below->point)) return std::nullopt;
  return MountPlace{below->id, found->point.substr(below->point.size()), found->point};
}

class Init {
 public:
  Init(wire::Connection& host, const wire::Start& start, Watched watched)
      : host_(host), start_(start), mounts_(std::move(watched.mounts)), supervised_(std::move(watched.supervised)) {}

  Status run();

 private:
  Status wait_and_serve(int signals);
  Status install_filter();
  Status look_at_mounts();
  Status hear_first();
  Result<bool> hear();
  Status look_at_covers();
  Status check_all_covers();
  Status compare_covers() const;
  Result<std::vector<std::string>> check_later_covers() const;
  Status take_covers(const wire::Covers& covers);
  Status serve_host();
  Status handle(const wire::Frame& frame);
  Status start(const wire::Exec& exec);
  Status serve_files_beside();
  Status signal(const wire::Signal& message);
  Status signal_everything(int number);
  Status reap();
  Status end(Command& command, sys::WaitStatus status);
  Status report_stop(Command& command);
  Status refuse_calls();
  Status end_everything();
  Status await_close();
  Command* find(std::uint32_t number);
  // Whether others than its own are in its pid namespace.
  bool shares_pids() const {
    return start_.isolation == wire::Isolation::kNone || start_.isolation == wire::Isolation::kBeside;
  }
  bool serves_many() const { return start_.service == wire::Service::kManyCommands; }

  wire::Connection& host_;
  const wire::Start& start_;
  std::optional<UniqueFd> mounts_;
  std::optional<Supervised> supervised_;
  std::chrono::steady_clock::time_point looked_at_covers_ = std::chrono::steady_clock::now();
  std::map<std::uint64_t, MountPlace> later_;  // mounts that came later, by their numbers
  wire::Covers::Change change_ = wire::Covers::Change::kDone;
  std::chrono::steady_clock::time_point change_began_;
  bool covers_told_ = false;  // since they were looked at
  std::optional<UniqueFd> listener_;  // where the calls arrive that the filter hands over
  std::list<Command> commands_;       // those that run
  bool done_ = false;
};

}  // namespace

Status run_init(wire::Connection& host, const wire::Start& start, Watched watched) {
  return Init(host, start, std::move(watched)).run();
}

namespace {

Status Init::run() {
  const UniqueFd signals = TRY(sys::signal_descriptor({SIGCHLD}));
  TRY(install_filter());
  // A frame that came together with the plan is not announced by poll(2).
  for (auto frame = TRY(host_.take_buffered()); frame; frame = TRY(host_.take_buffered())) TRY(handle(*frame));
  Status served;
  while (!done_ && served) served = wait_and_serve(signals.get());
  // Also where the host could not be told of an end any more, since it had closed the stream by then.
  TRY(end_everything());
  TRY(served);
  return start_.isolation == wire::Isolation::kContainer ? await_close() : Status();
}

// With this process the engine removes the container, and the cgroup in which the host reads why a command ended.
Status Init::await_close() {
  for (;;) {
    pollfd wait{host_.fd(), POLLIN, 0};
    TRY(sys::poll({&wait, 1}, std::nullopt));
    const auto polled = host_.receive_ready();
    if (!polled || polled->closed) return {};
  }
}

Status Init::wait_and_serve(int signals) {
  enum { kHost, kChild, kMounts, kListener, kFixed };
  std::vector<pollfd> wait(kFixed);
  wait[kHost] = {host_.fd(), POLLIN, 0};
  wait[kChild] = {signals, POLLIN, 0};
  wait[kMounts] = {mounts_ ? mounts_->get() : -1, POLLPRI, 0};
  wait[kListener] = {listener_ ? listener_->get() : -1, POLLIN, 0};
  for (const Command& command : commands_) wait.push_back({command.stops ? command.stops->get() : -1, POLLIN, 0});
  std::optional<std::chrono::milliseconds> at_most;
  if (mounts_) at_most = kCoverCheck;
  if (std::ranges::any_of(commands_, &Command::ending)) at_most = kEndingCheck;
  TRY(sys::poll(wait, at_most));
  for (Command& command : commands_) {
    if (command.ending) look_at_tree(command.pid, command.tree);
  }
  if (wait[kMounts].revents != 0) return look_at_mounts();
  if (wait[kListener].revents != 0) TRY(refuse_calls());
  std::size_t at = kFixed;
  for (Command& command : commands_) {
    if (wait[at++].revents != 0) TRY(report_stop(command));
  }
  if (wait[kChild].revents != 0) {
    TRY(sys::next_signal(signals));
    TRY(reap());
  }
  // What was there may have been heard in the meantime: asked again, so that nobody waits for a frame that is gone.
  if (wait[kHost].revents != 0) TRY(hear_first());
  // Last: it hears of new commands, for which there is nothing in `wait`.
  return done_ ? Status() : look_at_covers();
}

// Here and not in each command: all inherit it, none pays for it, and what a command leaves running has its calls
// answered still. Where there is no supervisor this process makes none of those calls: nobody would answer it.
Status Init::install_filter() {
  const plan::bpf::Program& filter = start_.plan.seccomp;
  if (filter.empty()) return {};
  listener_ =
      TRY_CTX(sys::install_filter(filter.data(), filter.size(), sys::Listener::kWanted), "restrict system calls");
  if (!supervised_) return {};
  const Supervised given = std::move(*supervised_);
  supervised_.reset();
  const UniqueFd listener = std::exchange(listener_, std::nullopt).value();
  std::vector<int> descriptors = {listener.get(), given.tree.get(), given.user.get(), given.mounts.get()};
  for (const UniqueFd& root : given.roots) descriptors.push_back(root.get());
  return host_.send(wire::ToHost(wire::Supervise{}), descriptors);
}

// Nobody in here can mount, so a change means that a mount went because its place was replaced or removed outside. With
// one that hides or protects, nothing goes on running: there would be less than was planned. Others are the machine's
// own, seen in here as well (a disk, what an engine mounts for a container): they may go like any directory. And where
// more may be shown, or less, mounts come and go: whoever changes them says so before.
Status Init::look_at_mounts() {
  TRY(hear_first());
  return check_all_covers();
}

// What was said before a mount changed is here by then.
Status Init::hear_first() {
  while (TRY(hear())) {}
  return {};
}

// Whether there was something.
Result<bool> Init::hear() {
  if (done_) return false;
  pollfd told{host_.fd(), POLLIN, 0};
  TRY(sys::poll({&told, 1}, std::chrono::milliseconds(0)));
  if (told.revents == 0) return false;
  TRY(serve_host());
  return true;
}

// A file that is renamed outside takes its mount along, which no change of the mounts tells; the name is then free for
// another file.
Status Init::look_at_covers() {
  const auto now = std::chrono::steady_clock::now();
  if (!mounts_ || (!covers_told_ && now - looked_at_covers_ < kCoverCheck)) return {};
  looked_at_covers_ = now;
  TRY(hear_first());
  return check_all_covers();
}

// Whoever takes a mount off says so before, and that may have come since it was listened for; that a change is over is
// said when it is.
Status Init::check_all_covers() {
  Status held = compare_covers();
  covers_told_ = !held && TRY(hear());
  const bool changes = change_ == wire::Covers::Change::kBegins;
  const bool may_be_over = changes && std::chrono::steady_clock::now() - change_began_ > kChangeWait;
  // Looked at once more: with what was said just now, or when the change is over.
  if (held || covers_told_ || (changes && !may_be_over)) return {};
  (void)sys::send_signal(-1, SIGKILL);
  return held;
}

Status Init::compare_covers() const {
  const auto hidden = check_later_covers();
  return hidden ? check_covers(start_.plan, *hidden) : fail(hidden.error());
}

// Where they lie. One that lies elsewhere in the mount that it covers a place of was moved outside with what it hides,
// and its place is free for another file; with that mount it may be moved in here.
Result<std::vector<std::string>> Init::check_later_covers() const {
  std::vector<std::string> points;
  if (later_.empty()) return points;
  for (int tries = 1;; ++tries) {
    points.clear();
    const auto table = TRY(sys::mount_table(mounts_->get()));
    const auto moved = std::ranges::find_if(later_, [&](const auto& cover) {
      const auto now = place_of(table, cover.first);
      if (!now || now->below != cover.second.below || now->path != cover.second.path) return true;
      points.push_back(now->point);
      return false;
    });
    if (moved == later_.end()) return points;
    const bool is_there = std::ranges::find(table, moved->first, &sys::MountEntry::id) != table.end();
    if (is_there && tries < kTableTries) continue;
    return fail({Code::kConflict, 0, cat({moved->second.point, " was replaced, and what hid it went with it"})});
  }
}

Status Init::take_covers(const wire::Covers& covers) {
  if (!mounts_) return fail(Error::invalid("covers in a sandbox without mounts"));
  std::map<std::uint64_t, MountPlace> taken;
  for (const std::uint64_t mount : covers.mounts) {
    const auto known = later_.find(mount);
    std::optional<MountPlace> place;
    if (known != later_.end()) place = known->second;
    for (int tries = 0; !place && tries < kTableTries; ++tries) {
      const auto table = TRY(sys::mount_table(mounts_->get()));
      place = place_of(table, mount);
      if (std::ranges::find(table, mount, &sys::MountEntry::id) == table.end()) break;
    }
    taken[mount] = place.value_or(MountPlace{.below = 0, .path = {}, .point = "what was just hidden"});
  }
  later_ = std::move(taken);
  change_ = covers.change;
  change_began_ = std::chrono::steady_clock::now();
  covers_told_ = true;
  return {};
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
    // Of a network that is not the sandbox's own hutch has no gateway: it is a virtual machine's.
    const bool in_machine = start_.plan.network == plan::NetworkKind::kHost;
    return send_network(host_, TRY(in_machine ? make_dial_streams(wanted->count) : make_dial_sockets(wanted->count)));
  }
  if (std::holds_alternative<wire::ServeFiles>(message)) return serve_files_beside();
  if (const auto* covers = std::get_if<wire::Covers>(&message)) return take_covers(*covers);
  return fail(Error::invalid("a second plan"));
}

Status Init::start(const wire::Exec& exec) {
  if (find(exec.command) != nullptr) return fail(Error::invalid("a second command of the same number"));
  if (!serves_many() && !commands_.empty()) return fail(Error::invalid("a second command"));
  const Orphans orphans = serves_many() ? Orphans::kOfCommand : Orphans::kOfInit;
  auto outcome = start_command(exec, host_.take_descriptors(), orphans, start_.plan.process_limits);
  if (!outcome && serves_many()) {
    return host_.send(wire::ToHost(wire::NotStarted{exec.command, std::move(outcome).error()}));
  }
  if (!outcome) return fail(std::move(outcome).error());
  if (auto* refused = std::get_if<wire::NotExecuted>(&*outcome)) {
    done_ = !serves_many();
    refused->command = exec.command;
    return host_.send(wire::ToHost(std::move(*refused)));
  }
  auto& started = std::get<StartedCommand>(*outcome);
  commands_.push_back(std::move(started.command));
  commands_.back().number = exec.command;
  std::vector<int> descriptors;
  if (started.terminal_master) descriptors.push_back(started.terminal_master->get());
  const auto pid = static_cast<std::uint32_t>(commands_.back().pid);
  return host_.send(wire::ToHost(wire::Started{exec.command, pid}), descriptors);
}

Status Init::serve_files_beside() {
  const StartedFileServer server = TRY(start_file_server());
  const int descriptor = server.stream.get();
  return host_.send(wire::ToHost(wire::FileServer{static_cast<std::uint32_t>(server.pid)}), {&descriptor, 1});
}

Status Init::signal(const wire::Signal& message) {
  if (message.number <= 0 || message.number >= NSIG) return fail(Error::invalid("no such signal"));
  if (message.target == wire::SignalTarget::kEverything) return signal_everything(message.number);
  Command* command = find(message.command);
  if (command == nullptr) return {};  // it has ended, and the host will hear so
  if (message.target == wire::SignalTarget::kEnding) {
    command->ending = true;
    look_at_tree(command->pid, command->tree);
  }
  if (message.target == wire::SignalTarget::kCommand) return sys::send_signal(-command->group, message.number);
  if (message.number == SIGKILL) return kill_tree(command->pid);
  command->told = message.number;
  return signal_tree(command->pid, command->group, message.number);
}

Status Init::signal_everything(int number) {
  if (commands_.empty() && !serves_many()) return {};
  // All at once, the agent's processes too: one that is not stopped yet could start others, or let a stopped one go on.
  const bool stops_sandbox = start_.isolation == wire::Isolation::kBeside && number == SIGSTOP;
  if (shares_pids() && !stops_sandbox) return signal_descendants(number);
  return sys::send_signal(-1, number);
}

Status Init::reap() {
  while (auto ended = TRY(sys::wait_any(sys::Wait::kNow))) {
    const auto command = std::ranges::find(commands_, ended->pid, &Command::pid);
    if (command == commands_.end() || ended->status.stopped()) continue;
    TRY(end(*command, ended->status));
    commands_.erase(command);
  }
  return {};
}

Status Init::end(Command& command, sys::WaitStatus status) {
  // A shell that blocks signals while it forks (dash does) may have started one more that was told nothing, and died of
  // the signal then.
  if (command.told != 0 && status.signal() == command.told) {
    TRY(sys::send_signal(-command.group, command.ending ? SIGKILL : command.told));
  }
  if (command.ending) TRY(kill_remains(std::move(command.tree)));
  TRY(refuse_calls());
  if (!serves_many()) TRY(end_everything());
  done_ = !serves_many();
  return host_.send(wire::ToHost(wire::Exited{command.number, status.raw}));
}

Status Init::report_stop(Command& command) {
  char byte = 0;
  const std::size_t count = TRY(sys::read_some(command.stops->get(), {&byte, 1}));
  if (count == 0) {
    command.stops.reset();
    return {};
  }
  return host_.send(wire::ToHost(wire::Stopped{command.number}));
}

// Without a waiting call the ioctl would block, so poll comes first.
Status Init::refuse_calls() {
  while (listener_) {
    pollfd waiting{listener_->get(), POLLIN, 0};
    TRY(sys::poll({&waiting, 1}, std::chrono::milliseconds(0)));
    if ((waiting.revents & POLLIN) == 0) return {};
    const auto call = TRY(sys::receive_notification(waiting.fd));
    if (!call) continue;
    TRY(sys::refuse_notification(waiting.fd, call->id, EPERM));
    TRY(host_.send(wire::ToHost(wire::Refused{wire::RefusedCall::kUnixSocket, call->pid, {}, {}})));
  }
  return {};
}

// As pid 1 nothing outlives the exit of this process (pid_namespaces(7)); without a pid namespace it has to be hunted.
Status Init::end_everything() {
  // It does not end by itself.
  if (start_.isolation == wire::Isolation::kContainer) (void)sys::send_signal(-1, SIGKILL);
  if (!shares_pids()) return {};
  const Status hunted = kill_descendants();
  // Then nobody tells them from the agent's.
  const bool joins = start_.isolation == wire::Isolation::kBeside;
  return !hunted && joins ? sys::send_signal(-1, SIGKILL) : hunted;
}

Command* Init::find(std::uint32_t number) {
  const auto found = std::ranges::find(commands_, number, &Command::number);
  return found != commands_.end() ? &*found : nullptr;
}

}  // namespace

}  // namespace hutch::guest
