// hutch why.
#include "cli/machine/why.h"

#include "cli/terminal/output.h"
#include "cli/terminal/past.h"
#include "service/common/history.h"

namespace hutch::cli {

int why(const WhyArguments& arguments) {
  const Result<store::SpoolContents> contents = read_record();
  if (!contents) return complain(contents.error());
  const std::vector<service::PastRun> runs = service::runs_of(contents->records);
  const Result<service::PastRun> run =
      arguments.run ? service::find_run(runs, *arguments.run) : service::last_refused(runs);
  // That nothing was refused is an answer, and a good one; a run that is not there is a mistake.
  if (!run && !arguments.run && arguments.form == service::OutputForm::kText) return print(run.error().message + "\n");
  if (!run && !arguments.run) return 0;
  if (!run) return complain(run.error());
  return print(arguments.form == service::OutputForm::kJson ? service::run_json(*run)
                                                            : service::refusals_text(*run, service::local_time));
}

}  // namespace hutch::cli
