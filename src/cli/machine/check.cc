// hutch check.
#include "cli/machine/check.h"

#include "base/text.h"
#include "cli/terminal/session.h"
#include "host/machine/facts.h"
#include "service/explain/explain.h"
#include "service/prepare/prepare.h"
#include "sys/files/tree.h"
#include "sys/process/unwaiting.h"

namespace hutch::cli {

namespace {

struct Answer {
  bool allowed = false;
  std::string text;
};

template <class Verdict>
std::string printed(const Verdict& verdict, service::OutputForm form) {
  return form == service::OutputForm::kJson ? service::verdict_json(verdict) : service::verdict_text(verdict);
}

Result<Answer> checked(const service::PlaceRequest& place, service::OutputForm form, const std::string& access,
                       const std::string& target) {
  const plan::HostFacts facts = TRY(host::probe_facts());
  const service::Caller caller{
      .environment = sys::own_environment(), .command = {}, .questions = plan::FileQuestions::kAll};
  const service::Prepared prepared = TRY(service::prepare(place, facts, caller));
  if (access == "connect") {
    const service::HostVerdict verdict = TRY(service::judge_host(prepared, target));
    return Answer{verdict.verdict == policy::HostVerdict::kAllow, printed(verdict, form)};
  }
  if (access == "socket") {
    const service::SocketOutcome outcome = TRY(service::judge_socket(prepared, facts, target));
    return Answer{outcome.verdict == policy::SocketVerdict::kAllow, printed(outcome, form)};
  }
  const auto kind = access == "read" ? policy::Access::kRead : policy::Access::kWrite;
  const service::PathVerdict verdict = TRY(service::judge_path(prepared, facts, target, kind));
  return Answer{verdict.allowed, printed(verdict, form)};
}

}  // namespace

int check(const service::PlaceRequest& place, service::OutputForm form, const std::string& access,
          const std::string& target) {
  static constexpr int kDenied = 1;
  static constexpr int kFailed = 125;
  service::PlaceRequest here = place;
  (void)join_session(here);
  const Result<Answer> answer = checked(here, form, access, target);
  if (!answer) {
    (void)sys::write_until_told(2, cat({"hutch: ", answer.error().message, "\n"}));
    return kFailed;
  }
  if (!sys::write_until_told(1, answer->text + "\n")) return kFailed;
  return answer->allowed ? 0 : kDenied;
}

}  // namespace hutch::cli
