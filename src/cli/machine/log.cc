// hutch log.
#include "cli/machine/log.h"

#include <algorithm>

#include "cli/terminal/output.h"
#include "cli/terminal/past.h"
#include "service/common/history.h"

namespace hutch::cli {

namespace {

int print_runs(const LogArguments& arguments, const std::vector<store::Record>& records);

}  // namespace

int log(const LogArguments& arguments) {
  const Result<std::string> directory = record_directory();
  if (!directory) return complain(directory.error());
  // Before the reading: a record between the two is shown twice rather than not at all.
  store::SpoolFollower follower(*directory);
  const Result<store::SpoolContents> contents = read_record();
  if (!contents) return complain(contents.error());
  const int code = print_runs(arguments, contents->records);
  if (code != 0 || arguments.follow == Follow::kNo) return code;
  return follow_record(follower, arguments.form, {});
}

namespace {

int print_runs(const LogArguments& arguments, const std::vector<store::Record>& records) {
  const std::vector<service::PastRun> runs = service::runs_of(records);
  std::string text;
  for (std::size_t i = runs.size() - std::min(runs.size(), arguments.count); i < runs.size(); ++i) {
    text += arguments.form == service::OutputForm::kJson ? service::run_json(runs[i])
                                                         : service::run_line(runs[i], service::local_time);
  }
  return print(text);
}

}  // namespace

}  // namespace hutch::cli
