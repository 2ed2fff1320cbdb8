// The daemon as its clients see it.
#include "client/daemon_client.h"

#include <poll.h>

#include <array>
#include <cerrno>

#include "base/limits.h"
#include "base/text.h"
#include "client/start_remedy.h"
#include "host/daemon_paths.h"
#include "store/settings_file.h"
#include "sys/files/files.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/net/local_socket.h"
#include "sys/process/process.h"

namespace hutch::client {

namespace {

constexpr std::chrono::milliseconds kStartWait{75'000};  // for one that leaves first
constexpr int kStartsMax = 3;
constexpr int kReadyNumber = 3;
constexpr std::size_t kReasonBytesMax = 4096;

// What the daemon says until its end of the pipe closes: nothing when it listens, else why it does not.
Result<std::string> hear_reason(int ready, const std::string& log) {
  const auto until = std::chrono::steady_clock::now() + kStartWait;
  std::string reason;
  while (reason.size() < kReasonBytesMax) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd wait{ready, POLLIN, 0};
    if (left.count() <= 0 || TRY(sys::poll({&wait, 1}, left)) == 0) {
      return fail({Code::kTimeout, 0, cat({"the daemon did not start in time; ", log, " has what it said"})});
    }
    std::array<char, 512> bytes;
    const std::size_t count = TRY(sys::read_some(ready, bytes));
    if (count == 0) break;
    reason.append(bytes.data(), count);
  }
  return reason;
}

// An error where it cannot be. That another one is there, or that it left at once, is none.
Status start_daemon(const host::StateDirs& dirs) {
  // What is wrong there is better said here than in the daemon's log.
  TRY(store::SettingsFile(dirs.config).read());
  TRY(sys::make_private_directories(dirs.data));
  const std::string log = cat({dirs.data, "/daemon.log"});
  const UniqueFd output = TRY(sys::open_journal(log));
  const UniqueFd nothing = TRY(sys::open("/dev/null", sys::Open::kRead));
  auto [ready, childs] = TRY(sys::pipe());
  auto daemon = TRY(sys::spawn(
      "/proc/self/exe",
      {.arguments = {"hutch", "serve", "--ready-fd", std::to_string(kReadyNumber)},
       .environment = sys::own_environment(),
       .install = {{nothing.get(), 0}, {output.get(), 1}, {output.get(), 2}, {childs.get(), kReadyNumber}}}));
  childs.reset();
  daemon.leave();
  const std::string reason = TRY(hear_reason(ready.get(), log));
  if (!reason.empty()) return fail({Code::kSystem, 0, printable(reason, kReasonBytesMax)});
  return {};
}

Error gone() {
  return {Code::kSystem, 0,
          "the daemon ended while the command was under way, and what ran in its sandboxes with it; the next command "
          "starts a new one, hutch audit tells what was begun"};
}

bool is_break(const Error& error) { return error.sys_errno == ECONNRESET || error.sys_errno == EPIPE; }
Error as_gone(Error error) { return is_break(error) ? gone() : std::move(error); }

// The same, with what the kernel says of a stream that broke put as what it means.
template <class T>
Result<T> told(Result<T> result) {
  if (result) return result;
  return fail(as_gone(std::move(result).error()));
}

Result<Value> parse(std::string_view json) { return tool::parse_value(json, limits::kFrameBytesMax); }

}  // namespace

Result<DaemonClient> DaemonClient::connect(const host::StateDirs& dirs, Start start) {
  const std::string path = host::daemon_socket(dirs);
  auto socket = sys::connect_local(path);
  if (!socket && socket.error().code == Code::kNotFound) {
    if (start == Start::kNever) return fail(Error::not_found("no daemon runs"));
    // One that was there may have left again.
    for (int attempt = 0; attempt < kStartsMax && !socket; ++attempt) {
      Status started = start_daemon(dirs);
      if (!started) return fail(with_start_remedy(std::move(started).error(), dirs).with_context("start the daemon"));
      socket = sys::connect_local(path);
    }
    if (!socket && socket.error().code == Code::kNotFound) {
      return fail(
          Error{Code::kSystem, 0, cat({"the daemon ended at once; ", dirs.data, "/daemon.log has what it said"})});
    }
  }
  if (!socket) return fail(with_start_remedy(std::move(socket).error(), dirs));
  DaemonClient client(wire::Connection(std::move(*socket)));
  if (start == Start::kIfNeeded) client.dirs_ = dirs;
  return client;
}

Status DaemonClient::limit_wait(std::chrono::milliseconds wait) {
  TRY(sys::set_send_timeout(connection_.fd(), wait));
  return sys::set_receive_timeout(connection_.fd(), wait);
}

Result<Value> DaemonClient::call(std::string_view verb, Value::Object arguments, const OnEvent& on_event) {
  TRY(begin(verb, std::move(arguments)));
  for (;;) {
    Answer answer = TRY(receive());
    if (answer.kind == Answer::Kind::kResult) return std::move(answer.value);
    if (on_event) TRY(on_event(answer.value));
  }
}

Status DaemonClient::begin(std::string_view verb, Value::Object arguments, std::span<const int> descriptors) {
  arguments["verb"] = verb;
  begun_ = Begun{.json = tool::json_text(Value(std::move(arguments))),
                 .descriptors = {descriptors.begin(), descriptors.end()}};
  const Status sent = connection_.send(wire::ToDaemon(wire::Call{begun_->json}), descriptors);
  return sent ? sent : begin_again(sent.error());
}

// Only where no daemon can have begun it. A stream is reset when its other end is closed with bytes in it that were not
// read (unix(7)), and breaks when it was closed before: either way the call was not read whole, as nothing else is sent
// before its first answer. One that was read and then lost is told by the end of the stream, and stays lost. An answer
// that is an error is an answer, whatever its number.
Status DaemonClient::begin_again(Error lost) {
  while (is_break(lost) && dirs_ && begun_ && ++begun_->attempts < kStartsMax) {
    Begun begun = std::move(*begun_);
    *this = TRY(connect(*dirs_));
    begun_ = std::move(begun);
    const Status sent = connection_.send(wire::ToDaemon(wire::Call{begun_->json}), begun_->descriptors);
    if (sent) return {};
    lost = sent.error();
  }
  return fail(as_gone(std::move(lost)));
}

Status DaemonClient::send(std::string_view verb, Value::Object arguments, std::span<const int> descriptors) {
  arguments["verb"] = verb;
  return told(connection_.send(wire::ToDaemon(wire::Call{tool::json_text(Value(std::move(arguments)))}), descriptors));
}

Status DaemonClient::send_input(Value::Object input) {
  return told(connection_.send(wire::ToDaemon(wire::CallInput{tool::json_text(Value(std::move(input)))})));
}

Status DaemonClient::send_text(const std::string& text) {
  return told(connection_.send(wire::ToDaemon(wire::CallInput{text})));
}

Result<std::optional<std::string>> DaemonClient::receive_text() {
  const auto frame = TRY(told(connection_.receive()));
  if (!frame) return fail(gone());
  return event_text(*frame);
}

Result<std::optional<std::string>> DaemonClient::event_text(const wire::Frame& frame) {
  wire::FromDaemon message = TRY(wire::decode_from_daemon(frame.header, frame.body));
  if (auto* failed = std::get_if<wire::CallFailed>(&message)) return fail(std::move(failed->error));
  auto* event = std::get_if<wire::CallEvent>(&message);
  return event != nullptr ? std::optional(std::move(event->json)) : std::nullopt;
}

Result<DaemonClient::Answer> DaemonClient::receive() {
  for (;;) {
    const auto frame = connection_.receive();
    if (!frame) {
      TRY(begin_again(frame.error()));
      continue;
    }
    begun_.reset();
    if (!*frame) return fail(gone());
    return answer_of(**frame);
  }
}

Result<std::optional<DaemonClient::Answer>> DaemonClient::receive_ready() {
  auto polled = connection_.receive_ready();
  if (!polled) {
    TRY(begin_again(polled.error()));
    return std::optional<Answer>();
  }
  if (polled->frame) begun_.reset();
  if (polled->frame) return std::optional(TRY(answer_of(*polled->frame)));
  if (polled->closed) return fail(gone());
  return std::optional<Answer>();
}

Result<std::optional<DaemonClient::Answer>> DaemonClient::take_buffered() {
  const auto frame = TRY(connection_.take_buffered());
  if (!frame) return std::optional<Answer>();
  return std::optional(TRY(answer_of(*frame)));
}

Result<DaemonClient::Answer> DaemonClient::answer_of(const wire::Frame& frame) {
  const wire::FromDaemon message = TRY(wire::decode_from_daemon(frame.header, frame.body));
  if (const auto* failed = std::get_if<wire::CallFailed>(&message)) return fail(failed->error);
  Answer answer;
  if (const auto* event = std::get_if<wire::CallEvent>(&message)) {
    answer.kind = Answer::Kind::kEvent;
    answer.value = TRY(parse(event->json));
    answer.descriptors = connection_.take_descriptors();
    return answer;
  }
  answer.value = TRY(parse(std::get<wire::CallResult>(message).json));
  return answer;
}

}  // namespace hutch::client
