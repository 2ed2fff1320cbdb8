// A process that runs already: its output comes by one connection, what is typed goes by another.
#include "client/attach.h"

#include <poll.h>
#include <signal.h>

#include <array>
#include <optional>
#include <utility>

#include "base/text.h"
#include "client/detach_keys.h"
#include "sandbox/questions/screen_watch.h"
#include "sandbox/run/supervise.h"
#include "sys/io.h"
#include "sys/process/signals.h"
#include "sys/process/unwaiting.h"

namespace hutch::client {

namespace {

// What is typed while the process does not read is held so far; then the terminal holds it.
constexpr std::size_t kHeldMax = 65536;
constexpr std::chrono::milliseconds kAttachForegroundCheck{250};
constexpr char kEndOfInput = 'D' & 0x1f;  // VEOF of a new terminal, termios(3)

template <class T>
T member(const Value& value, std::string_view key, T otherwise) {
  const auto* object = value.get<Value::Object>();
  if (object == nullptr) return otherwise;
  const auto found = object->find(key);
  const T* member = found != object->end() ? found->second.get<T>() : nullptr;
  return member != nullptr ? *member : otherwise;
}

int exit_code_of(const Value& process) {
  const Value end(member(process, "end", Value::Object()));
  return static_cast<int>(member(end, "exit_code", std::int64_t{0}));
}

class Attachment {
 public:
  Attachment(const AttachRequest& request, DaemonClient output, DaemonClient input, int signals)
      : request_(request), output_(std::move(output)), input_(std::move(input)), signals_(signals) {}

  Status begin();
  Result<AttachEnd> run();

 private:
  Value::Object about() const { return {{"agent", request_.agent}, {"pid", request_.pid}}; }
  Status turn();
  Status take_output();
  Status show(const Value& event);
  Status take_typed();
  Status take_answer();
  Status send_next();
  Status take_signal();
  Status take_terminal();
  bool hears_keys() const;

  const AttachRequest& request_;
  DaemonClient output_;
  DaemonClient input_;
  int signals_;
  bool terminal_ = false;  // the process has one
  bool keys_ = false;      // and what is typed here are its keys
  bool follows_ = false;   // what it prints from now on is shown: before that nothing is typed
  DetachKeys detach_;
  sandbox::ScreenWatch screen_;
  std::optional<sys::RawMode> raw_;
  std::string held_;  // typed and not yet sent
  bool within_line_ = false;  // the last line that was typed has no end yet
  bool open_ = true;  // more may be typed
  bool tell_close_ = false;
  std::optional<Value::Object> resize_;  // the size that is to be told
  bool asked_ = false;                   // an answer is on its way
  std::optional<AttachEnd> end_;
};

Status Attachment::begin() {
  terminal_ = member(TRY(input_.call("process.show", about())), "terminal", false);
  keys_ = terminal_ && sys::stream_kind(0) == sys::StreamKind::kTerminal;
  Value::Object follow = about();
  follow["follow"] = true;
  follow["from_now"] = terminal_;
  follows_ = !terminal_;
  TRY(output_.send("process.logs", std::move(follow)));
  if (!keys_) return {};
  resize_ = Value::Object{{"redraw", true}};
  return take_terminal();
}

Result<AttachEnd> Attachment::run() {
  Status held;
  while (held && !end_) held = turn();
  // Nobody read what was shown until a signal came.
  if (!held && held.error().sys_errno == EINTR) held = take_signal();
  // What the program set stays with its own terminal, not with this one.
  if (keys_ && screen_.is_alternate()) (void)sys::write_until_told(1, "\x1b[?1049l");
  if (keys_ && screen_.is_cursor_hidden()) (void)sys::write_until_told(1, "\x1b[?25h");
  raw_.reset();
  if (!held) return fail(std::move(held).error());
  return end_.value_or(AttachEnd{AttachEnd::Why::kSignal, 125});
}

Status Attachment::turn() {
  TRY(send_next());
  const bool listens = open_ && held_.size() < kHeldMax && hears_keys();
  std::array<pollfd, 4> wait = {
      {{output_.fd(), POLLIN, 0}, {input_.fd(), POLLIN, 0}, {signals_, POLLIN, 0}, {listens ? 0 : -1, POLLIN, 0}}};
  std::optional<std::chrono::milliseconds> at_most;
  if (keys_) at_most = kAttachForegroundCheck;
  TRY(sys::poll(wait, at_most));
  if (wait[3].revents != 0) TRY(take_typed());
  if (wait[1].revents != 0) TRY(take_answer());
  if (wait[2].revents != 0) TRY(take_signal());
  if (wait[0].revents != 0) TRY(take_output());
  return {};
}

bool Attachment::hears_keys() const { return !keys_ || sys::is_foreground(0); }

Status Attachment::take_output() {
  for (auto answer = TRY(output_.receive_ready()); answer && !end_; answer = TRY(output_.take_buffered())) {
    if (answer->kind == DaemonClient::Answer::Kind::kEvent) {
      TRY(show(answer->value));
    } else {
      end_.emplace(AttachEnd{AttachEnd::Why::kEnded, exit_code_of(answer->value)});
    }
  }
  return {};
}

Status Attachment::show(const Value& event) {
  // The daemon has heard of it: from here on what is typed arrives.
  const bool first = !std::exchange(follows_, true);
  if (first && keys_) TRY(sys::write_until_told(2, "hutch: ctrl-p ctrl-q leaves it\r\n"));
  if (keys_) screen_.watch(TRY(wire::bytes_of_text(member(event, "bytes", std::string()))));
  return request_.show(event);
}

Status Attachment::take_typed() {
  std::array<char, 4096> bytes;
  const auto count = sys::read_some(0, bytes);
  if (!count && !keys_) return fail(count.error());
  if (!count || *count == 0) {
    open_ = false;
    tell_close_ = true;
    // Of a terminal the end is a key; within a line the first one ends the line alone (termios(3), VEOF).
    if (terminal_ && !keys_) held_.append(within_line_ ? 2 : 1, kEndOfInput);
    return {};
  }
  const std::string_view typed(bytes.data(), *count);
  within_line_ = typed.back() != '\n';
  held_ += keys_ ? detach_.take(typed) : std::string(typed);
  if (detach_.were_pressed()) end_.emplace(AttachEnd{AttachEnd::Why::kDetached, 0});
  return {};
}

// One call at a time: the answer to one is what lets the next go.
Status Attachment::send_next() {
  if (asked_ || !follows_) return {};
  if (resize_) {
    Value::Object call = about();
    const sys::TerminalSize size = own_terminal_size();
    call.merge(*std::exchange(resize_, std::nullopt));
    call["rows"] = static_cast<std::int64_t>(size.rows);
    call["columns"] = static_cast<std::int64_t>(size.columns);
    asked_ = true;
    return input_.send("process.resize", std::move(call));
  }
  if (held_.empty() && !tell_close_) return {};
  Value::Object call = about();
  call["bytes"] = wire::text_of_bytes(std::exchange(held_, {}));
  call["close"] = std::exchange(tell_close_, false);
  asked_ = true;
  return input_.send("process.write", std::move(call));
}

// One that has ended takes nothing: its end is told by the other connection.
Status Attachment::take_answer() {
  auto answer = input_.receive_ready();
  if (!answer && answer.error().code != Code::kConflict) return fail(std::move(answer).error());
  if (!answer && !terminal_) return fail(std::move(answer).error());
  if (answer && !*answer) return {};
  asked_ = false;
  return {};
}

Status Attachment::take_signal() {
  const auto arrived = TRY(sys::next_signal(signals_));
  if (!arrived) return {};
  switch (arrived->signal) {
    case SIGWINCH:
      if (keys_) resize_ = Value::Object();
      return {};
    case SIGCONT: return take_terminal();
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
      if (raw_) TRY(raw_->suspend());
      TRY(sys::stop_self());
      return take_terminal();
    default: end_.emplace(AttachEnd{AttachEnd::Why::kSignal, 128 + arrived->signal}); return {};
  }
}

Status Attachment::take_terminal() {
  if (!keys_ || !sys::is_foreground(0)) return {};
  if (raw_) return raw_->resume();
  raw_.emplace(TRY(sys::RawMode::enter(0)));
  return {};
}

}  // namespace

Result<AttachEnd> attach(const AttachRequest& request) {
  DaemonClient output = TRY(request.connect());
  DaemonClient input = TRY(request.connect());
  const UniqueFd signals = TRY(sandbox::take_signals());
  Attachment attachment(request, std::move(output), std::move(input), signals.get());
  TRY(attachment.begin());
  return attachment.run();
}

sys::TerminalSize own_terminal_size() {
  for (const int number : {0, 1, 2}) {
    const auto size = sys::terminal_size(number);
    if (size && size->rows > 0 && size->columns > 0) return *size;
  }
  return {24, 80};
}

}  // namespace hutch::client
