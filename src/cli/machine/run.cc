// hutch run: one command in a sandbox.
#include "cli/machine/run.h"

#include "base/text.h"
#include "cli/terminal/consent.h"
#include "cli/terminal/output.h"
#include "cli/terminal/session.h"
#include "service/run/run.h"
#include "sys/process/signals.h"
#include "sys/process/unwaiting.h"

namespace hutch::cli {

namespace {

void say(const std::string& line) { (void)sys::write_until_told(2, cat({"hutch: ", line, "\n"})); }

std::string end_of(const sandbox::Outcome& outcome) {
  switch (outcome.ended_by) {
    case sandbox::EndedBy::kTimeout: return "ended by the timeout";
    case sandbox::EndedBy::kIdleTimeout: return "ended by the idle timeout: no output for that long";
    case sandbox::EndedBy::kMemoryLimit: return "killed for the memory limit";
    case sandbox::EndedBy::kItself:
    case sandbox::EndedBy::kSignal:
    case sandbox::EndedBy::kGuestGone: return "";
  }
  return "";
}

// What a person needs to understand a failure; of a command that succeeded which hosts it did not reach, and which
// rules did not hold.
void explain_refusals(const sandbox::Outcome& outcome) {
  static constexpr int kShown = 5;
  int shown = 0;
  int more = 0;
  for (const sandbox::Refusal& refusal : outcome.refusals) {
    const bool always = refusal.weight == sandbox::Refusal::Weight::kAlways || !refusal.host.empty();
    if (outcome.exit_code == 0 && !always) continue;
    const bool fits = always || shown < kShown;
    if (fits) say(refusal.what);
    if (!refusal.diff.empty()) (void)sys::write_until_told(2, refusal.diff);
    if (!always) ++(fits ? shown : more);
  }
  if (more > 0) say(cat({std::to_string(more), " more changes were refused; hutch why shows them"}));
}

void explain_end(const sandbox::Outcome& outcome) {
  explain_refusals(outcome);
  if (outcome.exit_code == 0) return;
  if (outcome.pids_limit_hits > 0) say("the limit of processes was hit");
  const std::string end = end_of(outcome);
  if (!end.empty()) say(end);
}

bool may_start_wide(const std::string& what) {
  return ask_consent({.what = cat({"hutch: ", what, "\n"}),
                      .question = "Start there?",
                      .option = "--wide starts there",
                      .declined = "nothing was run"})
      .has_value();
}

bool may_stay(const std::string& what) {
  return ask_consent({.what = cat({"hutch: ", what, "\n"}),
                      .question = "Leave it there? Else hutch moves it aside.",
                      .option = "it was moved aside",
                      .declined = "it was moved aside"})
      .has_value();
}

}  // namespace

int run(service::RunRequest request) {
  const service::SessionLink session = join_session(request.place);
  const bool asks = is_terminal(0) && is_terminal(2);
  const auto report = service::run(
      request, [](const std::string& note) { say(note); }, session,
      asks ? service::RunDecisions{may_stay, may_start_wide} : service::RunDecisions());
  if (!report) {
    say(report.error().message);
    return 125;
  }
  int code = report->outcome.exit_code;
  if (request.form == service::OutputForm::kJson) {
    const auto written = sys::write_until_told(1, service::outcome_json(*report) + "\n");
    if (!written) code = code_with_output(code, written.error().message);
  } else {
    explain_end(report->outcome);
    code = code_with_output(code, report->outcome.lost_output);
  }
  // Whoever told hutch to end sees that it did; a command that took the signal and ended by itself has its say.
  const sandbox::Outcome& outcome = report->outcome;
  if (outcome.ended_by == sandbox::EndedBy::kSignal && outcome.signal != 0) sys::end_by(outcome.told_by);
  return code;
}

}  // namespace hutch::cli
