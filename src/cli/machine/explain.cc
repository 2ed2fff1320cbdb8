// hutch explain.
#include "cli/machine/explain.h"

#include "base/text.h"
#include "cli/terminal/session.h"
#include "host/machine/facts.h"
#include "service/explain/explain.h"
#include "sys/files/tree.h"
#include "sys/process/unwaiting.h"

namespace hutch::cli {

namespace {

Result<std::string> explained(const service::PlaceRequest& place, service::OutputForm form,
                              const std::vector<std::string>& names) {
  const plan::HostFacts facts = TRY(host::probe_facts());
  const service::Caller caller{
      .environment = sys::own_environment(), .command = {}, .questions = plan::FileQuestions::kAll};
  const service::Explanation explanation = TRY(service::explain(place, facts, caller, names));
  return form == service::OutputForm::kJson ? service::explanation_json(explanation) + "\n"
                                            : service::explanation_text(explanation);
}

}  // namespace

int explain(const service::PlaceRequest& place, service::OutputForm form, const std::vector<std::string>& names) {
  service::PlaceRequest here = place;
  (void)join_session(here);
  Result<std::string> text = explained(here, form, names);
  const Status written = text ? sys::write_until_told(1, *text) : Status(fail(text.error()));
  if (written) return 0;
  (void)sys::write_until_told(2, cat({"hutch: ", written.error().message, "\n"}));
  return 125;
}

}  // namespace hutch::cli
