// The questions of one run.
#include "service/live/run_questions.h"

#include <algorithm>

#include "base/text.h"
#include "service/live/live_runs.h"
#include "sys/process/process.h"

namespace hutch::service {

namespace {

// A program that asks all the time has whoever keeps the session asked so often at most.
constexpr std::chrono::milliseconds kSessionHolds{200};

// What may be read may not be written for that.
std::string session_key(const approval::Question& question) {
  const bool is_file = question.kind == approval::Kind::kRead || question.kind == approval::Kind::kWrite;
  return is_file ? approval::subject_of(question) : question.target;
}

}  // namespace

RunQuestions::RunQuestions(Settings settings)
    : settings_(std::move(settings)),
      questions_({.limits = settings_.limits,
                  .place = [this] { return settings_.policy.place(); },
                  .save = [this](const approval::Save& save) { return settings_.policy.save(save); },
                  .record = [this](const approval::Desk::Closed& closed) { record(closed); },
                  .is_granted = !settings_.session.state
                                    ? std::function<bool(const approval::Question&)>()
                                    : [this](const approval::Question& question) { return is_granted(question); }},
                 sandbox::TerminalPrompt::open(settings_.screen)) {
  if (settings_.control == nullptr) return;
  questions_.add(*settings_.control);
  settings_.control->handle_by([this](const wire::ControlInput& input, std::string_view by) {
    return take(input, by, [this](const std::string& line) { settings_.control->tell(line); });
  });
}

Status RunQuestions::open_socket(const std::vector<std::string>& command, const std::string& directory) {
  const int pid = sys::own_pid();
  // Where no record is kept the run has no id.
  const std::string& recorded = settings_.record().run();
  run_ = recorded.empty() ? cat({"p", std::to_string(pid)}) : recorded;
  socket_ = TRY(sandbox::QuestionSocket::open({settings_.runs, {run_, pid, directory, command}}));
  socket_->list_by([this] { return questions_.open(); });
  socket_->handle_by([this](const wire::ControlInput& input, std::string_view by,
                            const sandbox::QuestionSocket::Tell& tell) -> Status {
    TRY(take(input, by, tell));
    if (const auto* answer = std::get_if<wire::ControlAnswer>(&input)) tell(wire::control_accepted(answer->id));
    return {};
  });
  questions_.add(*socket_);
  return {};
}

Status RunQuestions::take(const wire::ControlInput& input, std::string_view by,
                          const sandbox::QuestionSocket::Tell& tell) {
  if (const auto* answer = std::get_if<wire::ControlAnswer>(&input)) return questions_.answer(*answer, by);
  if (network_ == nullptr && sockets_ == nullptr) {
    return fail(Error::unsupported("this sandbox has no network whose rules could be changed"));
  }
  if (const auto* update = std::get_if<wire::ControlUpdate>(&input)) {
    return settings_.policy.replace(live(), update->policy);
  }
  if (const auto* given = std::get_if<wire::ControlRevoke>(&input)) return revoke(given->host, tell);
  return reload(tell);
}

Status RunQuestions::revoke(const std::string& host, const sandbox::QuestionSocket::Tell& tell) {
  session_.reset();
  egress::Gateway::Revoked revoked;
  if (host.starts_with('/')) {
    if (sockets_ != nullptr) revoked.grants = sockets_->revoke(host);
    if (files_ != nullptr) revoked.grants += files_->revoke(host);
  } else if (network_ != nullptr) {
    revoked = network_->gateway().revoke(host);
  }
  if (revoked.grants > 0 || revoked.connections > 0) {
    settings_.record().decided({cat({"revoke ", printable(host, 256)}), "taken back", "hutch revoke"});
  }
  tell(wire::control_revoked(host, revoked.grants, revoked.connections));
  return {};
}

Status RunQuestions::reload(const sandbox::QuestionSocket::Tell& tell) {
  tell(wire::control_reloaded(TRY(settings_.policy.reload(live()))));
  return {};
}

void RunQuestions::record(const approval::Desk::Closed& closed) {
  settings_.record().decided({approval::subject_of(closed.question), std::string(approval::name_of(closed.answer)),
                              closed.by, closed.question.process.pid, closed.question.process.program});
  if (closed.answer == approval::Answer::kSession && settings_.session.granted) {
    settings_.session.granted(session_key(closed.question));
  }
  if (!is_saved(closed.answer)) return;
  // Whoever answered was told that it is saved, and nobody waits for this any more.
  const auto left = settings_.policy.reload(live());
  if (!left) {
    refusals_.push_back(
        {.what = cat({"an answer was saved, and the policy does not hold in this command, which goes on ",
                      "as it was: ", left.error().message}),
         .rule = "policy",
         .weight = sandbox::Refusal::Weight::kAlways});
    if (settings_.control != nullptr) settings_.control->violation(refusals_.back());
  }
  tell_of_saved_policy(settings_.runs, run_);
  if (settings_.session.saved) settings_.session.saved();
}

bool RunQuestions::is_granted(const approval::Question& question) {
  const approval::Moment now = std::chrono::steady_clock::now();
  if (!session_ || now - session_at_ > kSessionHolds) {
    session_ = settings_.session.state();
    session_at_ = now;
  }
  return session_ && std::ranges::binary_search(session_->grants, session_key(question));
}

}  // namespace hutch::service
