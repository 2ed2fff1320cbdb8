// A process whose output any number of clients follow.
#include "server/e2b/followed_process.h"

#include <poll.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "server/e2b/process_shares.h"
#include "sys/io.h"
#include "sys/process/readiness.h"

namespace hutch::server {

namespace {

constexpr int kLastPieces = 64;  // that are read of a stream whose process has ended
// Of output: less than what the kernel has room for of a socket that it calls writable (tcp(7), unix(7)).
constexpr std::size_t kTakenAtOnce = 4 << 10;
constexpr std::size_t kTakeBytes = 16 << 10;  // several times over while it is sent, by each of many clients

struct Opened {
  http::Streams streams{};
  bool has_terminal = false;
};

Result<Opened> open_streams(const FollowedCommand& command) {
  if (!command.terminal) return Opened{TRY(http::make_streams())};
  Opened opened;
  opened.has_terminal = true;
  opened.streams.given.mask = 0;
  opened.streams.given.terminal = wire::TerminalUse::kOwn;
  opened.streams.given.rows = command.terminal->rows;
  opened.streams.given.columns = command.terminal->columns;
  return opened;
}

Status use_terminal(const UniqueFd& terminal, http::Ends& ends) {
  TRY(sys::set_nonblocking(terminal.get()));
  ends.input = TRY(sys::duplicate(terminal.get()));
  ends.output[0] = TRY(sys::duplicate(terminal.get()));
  return {};
}

// What a login shell would have is known by now: it is worked out once, not by each command.
std::vector<std::string> without_login(const FollowedCommand& command) {
  std::vector<std::string> arguments = {command.program};
  const auto& given = command.arguments;
  const bool is_bash =
      command.program == "/bin/bash" || command.program == "bash" || command.program == "/usr/bin/bash";
  const bool is_login = is_bash && given.size() >= 3 && given[0] == "-l" && given[1] == "-c";
  arguments.insert(arguments.end(), given.begin() + (is_login ? 1 : 0), given.end());
  return arguments;
}

}  // namespace

Result<FollowedProcess::Started> FollowedProcess::start(const Desk& desk, service::AgentSandbox& agent,
                                                        FollowedCommand command,
                                                        const std::vector<std::string>& environment) {
  std::shared_ptr<void> place = TRY(take_process_place(command.key));
  Opened opened = TRY(open_streams(command));
  const bool is_root = command.user == tool::User::kRoot;
  const auto resident = TRY(is_root ? agent.root() : agent.resident());
  sandbox::ProcessRequest request = is_root ? agent.request_of_root(without_login(command), command.cwd, environment)
                                            : TRY(agent.request(without_login(command), command.cwd, environment));
  request.timeout = command.timeout;
  const auto process = TRY(resident->spawn(std::move(request), std::move(opened.streams.given)));
  if (process->pid_inside() == 0) {
    const auto end = process->end();
    return fail(Error::invalid(cat({printable(command.program, 128), ": ",
                                    end && !end->reason.empty() ? end->reason : "it could not be started"})));
  }
  UniqueFd ended = TRY(process->notice(sandbox::Process::Notice::kEnd));
  http::Ends ends = std::move(opened.streams.ends);
  UniqueFd terminal;
  if (opened.has_terminal) terminal = process->take_terminal();
  if (terminal) TRY(use_terminal(terminal, ends));
  const std::string key = command.key;
  if (!opened.has_terminal && command.input == FollowedCommand::Input::kNone) ends.input.reset();
  auto followed = std::make_shared<FollowedProcess>(std::move(command), resident, process, std::move(ends),
                                                    std::move(terminal), std::move(ended), TRY(sys::Event::make()));
  followed->place_ = std::move(place);
  followed->held_ = desk.held;
  followed->share_ = desk.outputs.join(key, *followed);
  return Started{followed, std::make_shared<Reading>(followed, desk.workers)};
}

FollowedProcess::FollowedProcess(FollowedCommand command, std::shared_ptr<sandbox::Resident> resident,
                                 std::shared_ptr<sandbox::Process> process, http::Ends ends, UniqueFd terminal,
                                 UniqueFd ended, sys::Event wake)
    : tag_(command.tag),
      resident_(std::move(resident)),
      process_(std::move(process)),
      ends_(std::move(ends)),
      has_terminal_(static_cast<bool>(terminal)),
      terminal_(std::move(terminal)),
      ended_(std::move(ended)),
      command_(std::make_shared<const FollowedCommand>(std::move(command))),
      wake_(std::move(wake)) {}

void FollowedProcess::pump() {
  for (;;) {
    const auto turned = turn({}, std::nullopt);
    if (!turned || turned->ended) break;
  }
  finish();
}

Result<FollowedProcess::Turn> FollowedProcess::turn(std::span<pollfd> others,
                                                    std::optional<std::chrono::milliseconds> at_most) {
  enum { kEnd, kWake, kOutput, kFixed = 4 };
  const auto now = Clock::now();
  const auto [more, patience_end] = [&] {
    const std::scoped_lock lock(mutex_);
    const bool wants_more = ring_.wants_more(now);
    return std::pair{wants_more, ring_.patience_end()};
  }();
  if (patience_end) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*patience_end - now);
    at_most = std::min(at_most.value_or(left), left);
  }
  const auto output = [&](std::size_t index) { return pollfd{more ? ends_.output.at(index).get() : -1, POLLIN, 0}; };
  std::array<pollfd, kFixed + Reading::kOthersMax> wait = {
      {{ended_.get(), POLLIN, 0}, {wake_->fd(), POLLIN, 0}, output(0), output(1)}};
  std::ranges::copy(others, wait.begin() + kFixed);
  Turn turned{.ready = TRY(sys::poll({wait.data(), kFixed + others.size()}, at_most))};
  std::ranges::copy_n(wait.begin() + kFixed, std::ssize(others), others.begin());
  if (wait[kWake].revents != 0) wake_->clear();
  for (const std::size_t index : {0U, 1U}) {
    if (wait.at(kOutput + index).revents != 0) pass(index);
  }
  turned.ended = wait[kEnd].revents != 0;
  return turned;
}

FollowedProcess::Reading::~Reading() {
  if (!over_) workers_.run([process = process_] { process->pump(); });
}

bool FollowedProcess::Reading::leave() {
  if (!over_) over_ = workers_.try_run([process = process_] { process->pump(); });
  return over_;
}

Result<int> FollowedProcess::Reading::poll(std::span<pollfd> others, std::chrono::milliseconds at_most) {
  if (over_) return sys::poll(others, at_most);
  const Turn turned = TRY(process_->turn(others, at_most));
  if (turned.ended) {
    over_ = true;
    process_->finish();
  }
  return turned.ready;
}

bool FollowedProcess::Reading::has_to_go() const {
  if (over_) return false;
  const std::scoped_lock lock(process_->mutex_);
  return process_->followers_.size() > 1 || process_->ring_.bytes_kept() > kTakenAtOnce;
}

void FollowedProcess::pass(std::size_t index) {
  const std::string piece = http::read_piece(ends_.output.at(index));
  if (piece.empty()) return;
  const auto kind = has_terminal_ ? OutputKind::kTerminal : index == 0 ? OutputKind::kOutput : OutputKind::kError;
  {
    const std::scoped_lock lock(mutex_);
    ring_.add(kind, piece);
    tell();
  }
  share_->changed();
}

// What it wrote is all there by now. A child that goes on may hold its streams open, and write for ever: that is not
// waited for.
void FollowedProcess::finish() {
  const auto end = process_->wait(Clock::time_point::max());
  for (const std::size_t index : {0U, 1U}) {
    UniqueFd& from = ends_.output.at(index);
    for (int piece = 0; from && piece < kLastPieces; ++piece) {
      pollfd ready{from.get(), POLLIN, 0};
      const auto any = sys::poll({&ready, 1}, std::chrono::milliseconds(0));
      if (!any || *any == 0) break;
      pass(index);
    }
    from.reset();
  }
  {
    const std::scoped_lock lock(input_mutex_);
    ends_.input.reset();
    terminal_.reset();
    ended_.reset();
  }
  const std::scoped_lock lock(mutex_);
  end_ = end;
  command_.reset();
  place_.reset();
  // What is shown of the process has its words once more, as long as it is remembered.
  held_->shrink(held_->bytes() / 2);
  wake_.reset();
  tell();
}

void FollowedProcess::tell() {
  for (const auto& [reader, event] : followers_) event->signal();
}

void FollowedProcess::wake_pump() {
  if (wake_) wake_->signal();
}

std::shared_ptr<const FollowedCommand> FollowedProcess::command() const {
  const std::scoped_lock lock(mutex_);
  return command_;
}

KeepsOutput::Kept FollowedProcess::kept() const {
  const std::scoped_lock lock(mutex_);
  return {ring_.bytes_kept(), ring_.bytes_droppable()};
}

void FollowedProcess::drop(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  ring_.drop(bytes);
}

Status FollowedProcess::write_input(std::string_view bytes, Clock::time_point until) {
  const std::scoped_lock lock(input_mutex_);
  while (!bytes.empty()) {
    if (!ends_.input) return fail({Code::kConflict, 0, "the process has no input that could be written"});
    const auto count = sys::write_some(ends_.input.get(), bytes);
    if (count) {
      bytes.remove_prefix(*count);
      continue;
    }
    if (count.error().sys_errno != EAGAIN) return fail({Code::kConflict, 0, "the process has closed its input"});
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0) return fail({Code::kTimeout, 0, "the process does not read its input"});
    std::array<pollfd, 2> wait = {{{ends_.input.get(), POLLOUT, 0}, {ended_.get(), POLLIN, 0}}};
    TRY(sys::poll(wait, left));
    if (wait[1].revents != 0) return fail({Code::kConflict, 0, "the process has ended"});
  }
  return {};
}

Status FollowedProcess::close_input() {
  if (has_terminal_) return fail(Error::invalid("a terminal's input is not closed: write the byte 4 (Ctrl-D) to it"));
  const std::scoped_lock lock(input_mutex_);
  ends_.input.reset();
  return {};
}

Status FollowedProcess::resize(sys::TerminalSize size) {
  const std::scoped_lock lock(input_mutex_);
  if (!terminal_) return fail(Error::invalid("the process has no terminal"));
  return sys::set_terminal_size(terminal_.get(), size);
}

Status FollowedProcess::signal(int number) { return resident_->signal(*process_, number, wire::SignalTarget::kTree); }

Result<std::unique_ptr<FollowedProcess::Follower>> FollowedProcess::follow(std::shared_ptr<FollowedProcess> process) {
  return std::make_unique<Follower>(std::move(process), TRY(sys::Event::make()));
}

FollowedProcess::Follower::Follower(std::shared_ptr<FollowedProcess> process, sys::Event event)
    : process_(std::move(process)), event_(std::make_shared<const sys::Event>(std::move(event))) {
  const std::scoped_lock lock(process_->mutex_);
  reader_ = process_->ring_.join();
  process_->followers_.emplace(reader_, event_);
  process_->wake_pump();
}

FollowedProcess::Follower::~Follower() {
  {
    const std::scoped_lock lock(process_->mutex_);
    process_->ring_.leave(reader_);
    process_->followers_.erase(reader_);
    process_->wake_pump();
  }
  process_->share_->changed();
}

std::optional<OutputRing::Piece> FollowedProcess::Follower::take() {
  std::optional<OutputRing::Piece> piece;
  {
    const std::scoped_lock lock(process_->mutex_);
    const auto now = Clock::now();
    OutputRing& ring = process_->ring_;
    const bool held_up = !ring.wants_more(now);
    const auto patience_end = ring.patience_end();
    piece = ring.take(reader_, kTakeBytes);
    // Also where somebody else is waited for from now on: who reads the process has to know until when.
    if (held_up && (ring.wants_more(now) || ring.patience_end() != patience_end)) process_->wake_pump();
  }
  if (piece) process_->share_->changed();
  return piece;
}

std::optional<sandbox::ProcessEnd> FollowedProcess::Follower::end() const {
  const std::scoped_lock lock(process_->mutex_);
  return process_->ring_.has_more(reader_) ? std::nullopt : process_->end_;
}

}  // namespace hutch::server
