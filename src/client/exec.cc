// A command in an agent's sandbox whose streams are this process's own.
#include "client/exec.h"

#include <poll.h>
#include <signal.h>

#include "base/text.h"
#include "sandbox/run/supervise.h"
#include "sys/io.h"
#include "sys/process/signals.h"
#include "sys/process/unwaiting.h"

namespace hutch::client {

namespace {

constexpr std::chrono::milliseconds kForegroundCheck{250};
constexpr std::size_t kNotesMax = 16;
// The command may run already, and have said so itself, before the daemon's word of it is here.
constexpr std::chrono::milliseconds kStartedWait{1000};

Value::List list_of(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

class Conversation {
 public:
  Conversation(DaemonClient& daemon, sandbox::Streams& streams, int signals)
      : daemon_(daemon), streams_(streams), signals_(signals) {}

  Status begin(const ExecRequest& request);
  Result<ExecEnd> run();
  int told_by() const { return told_by_; }  // the last signal to end; 0: none

 private:
  Status turn();
  Status take(DaemonClient::Answer answer);
  Status take_note(const Value& note);
  Status take_signal();
  Status pass_on(int signal);
  bool is_given_up() const;

  DaemonClient& daemon_;
  sandbox::Streams& streams_;
  int signals_;
  bool started_ = false;
  int told_by_ = 0;
  int kept_signal_ = 0;  // one that came before the command had started
  std::chrono::steady_clock::time_point kept_since_{};
  std::vector<std::string> notes_;
  std::optional<ExecEnd> end_;
};

Status Conversation::begin(const ExecRequest& request) {
  wire::Exec terminal;
  TRY(streams_.describe_terminal(terminal));
  Value::Object call{{"agent", request.agent},
                     {"arguments", list_of(request.arguments)},
                     {"environment", list_of(request.environment)},
                     {"cwd", request.cwd},
                     {"timeout_ms", request.timeout.count()},
                     {"streams", static_cast<std::int64_t>(streams_.stream_mask())},
                     {"terminal", streams_.terminal_use() == wire::TerminalUse::kOwn},
                     {"rows", static_cast<std::int64_t>(terminal.rows)},
                     {"columns", static_cast<std::int64_t>(terminal.columns)},
                     {"modes", wire::text_of_bytes(terminal.modes)}};
  return daemon_.begin("exec", std::move(call), streams_.child_descriptors());
}

Result<ExecEnd> Conversation::run() {
  while (!end_) TRY(turn());
  TRY(streams_.finish());
  end_->notes = std::move(notes_);
  if (const auto& lost = streams_.lost_output()) end_->lost_output = lost->message;
  return *end_;
}

Status Conversation::turn() {
  enum { kDaemon, kSignals, kFixed };
  std::vector<pollfd> wait(kFixed);
  wait[kDaemon] = {daemon_.fd(), POLLIN, 0};
  wait[kSignals] = {signals_, POLLIN, 0};
  streams_.add_to(wait);
  std::optional<std::chrono::milliseconds> at_most;
  if (streams_.has_terminal() || kept_signal_ != 0) at_most = kForegroundCheck;
  TRY(sys::poll(wait, at_most));
  TRY(streams_.move(std::span(wait).subspan(kFixed)));
  if (wait[kSignals].revents != 0) TRY(take_signal());
  if (is_given_up()) end_.emplace(ExecEnd{.exit_code = 128 + kept_signal_});
  if (wait[kDaemon].revents == 0) return {};
  for (auto answer = TRY(daemon_.receive_ready()); answer; answer = TRY(daemon_.take_buffered())) {
    TRY(take(std::move(*answer)));
  }
  return {};
}

Status Conversation::take(DaemonClient::Answer answer) {
  const auto* object = answer.value.get<Value::Object>();
  if (object == nullptr) return fail(Error::invalid("the daemon's answer is no object"));
  if (answer.kind == DaemonClient::Answer::Kind::kEvent) {
    if (const auto note = object->find("note"); note != object->end()) return take_note(note->second);
    started_ = true;
    streams_.sent();
    if (!answer.descriptors.empty()) TRY(streams_.attach_terminal(std::move(answer.descriptors.front())));
    if (const int kept = std::exchange(kept_signal_, 0); kept != 0) return pass_on(kept);
    return {};
  }
  ExecEnd end;
  if (const auto code = object->find("exit_code"); code != object->end()) {
    if (const auto* number = code->second.get<std::int64_t>()) end.exit_code = static_cast<int>(*number);
  }
  if (const auto reason = object->find("reason"); reason != object->end()) {
    if (const auto* text = reason->second.get<std::string>()) end.reason = *text;
  }
  if (const auto refusals = object->find("refusals"); refusals != object->end()) {
    if (const auto* list = refusals->second.get<Value::List>()) {
      for (const Value& one : *list) {
        if (const auto* text = one.get<std::string>()) end.refusals.push_back(*text);
      }
    }
  }
  if (const auto timed_out = object->find("timed_out"); timed_out != object->end()) {
    if (const auto* truth = timed_out->second.get<bool>()) end.timed_out = *truth;
  }
  end_ = end;
  return {};
}

// On a terminal that is the command's the line would be in the middle of what it draws.
Status Conversation::take_note(const Value& note) {
  const auto* text = note.get<std::string>();
  if (text == nullptr) return fail(Error::invalid("the daemon's note is no text"));
  if (!streams_.has_terminal()) {
    // Nobody waits for whoever reads it.
    (void)sys::UnwaitingWriter(2).write(cat({"hutch: ", printable(*text), "\n"}));
  } else if (notes_.size() < kNotesMax) {
    notes_.push_back(*text);
  }
  return {};
}

Status Conversation::take_signal() {
  const auto arrived = TRY(sys::next_signal(signals_));
  if (!arrived) return {};
  switch (arrived->signal) {
    case SIGWINCH: (void)streams_.resize_terminal(); return {};
    case SIGCONT: return streams_.take_caller_terminal();
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
      TRY(streams_.release_caller_terminal());
      TRY(sys::stop_self());
      return streams_.take_caller_terminal();
    default: told_by_ = arrived->signal; return pass_on(arrived->signal);
  }
}

// Before the command has started nobody is known who could be told. A second signal, or a start that takes long, ends
// the wait: leaving ends the command, should it run by then.
Status Conversation::pass_on(int signal) {
  if (started_) return daemon_.send_input({{"signal", signal}});
  if (kept_signal_ != 0) end_.emplace(ExecEnd{.exit_code = 128 + signal});
  kept_signal_ = signal;
  kept_since_ = std::chrono::steady_clock::now();
  return {};
}

bool Conversation::is_given_up() const {
  return kept_signal_ != 0 && !end_ && std::chrono::steady_clock::now() - kept_since_ > kStartedWait;
}

}  // namespace

Result<ExecEnd> exec(DaemonClient& daemon, const ExecRequest& request) {
  const UniqueFd signals = TRY(sandbox::take_signals());
  sandbox::Streams streams = TRY(sandbox::Streams::open({.terminal = request.terminal}));
  Conversation conversation(daemon, streams, signals.get());
  TRY(conversation.begin(request));
  auto end = conversation.run();
  if (conversation.told_by() != 0) sys::keep_told(conversation.told_by());
  return end;
}

}  // namespace hutch::client
