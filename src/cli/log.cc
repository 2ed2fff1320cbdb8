// hutch log.
#include "cli/log.h"

#include <algorithm>
#include <chrono>

#include "cli/output.h"
#include "cli/past.h"
#include "service/history.h"
#include "sys/io.h"

namespace hutch::cli {

namespace {

constexpr std::chrono::milliseconds kFollowInterval{300};

int print_runs(const LogArguments& arguments, const std::vector<store::Record>& records);
int follow(service::OutputForm form, store::SpoolFollower& follower);

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
  return follow(arguments.form, follower);
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

// Until a signal or a reader that has gone ends it.
int follow(service::OutputForm form, store::SpoolFollower& follower) {
  for (;;) {
    const Result<store::SpoolContents> news = follower.next();
    if (!news) return complain(news.error());
    tell_of_damage(news->damaged_lines);
    std::string text;
    for (const store::Record& record : news->records) {
      text += form == service::OutputForm::kJson ? store::format_record(record) + "\n"
                                                 : service::record_line(record, service::local_time);
    }
    if (const int code = print(text); code != 0) return code;
    const Result<int> waited = sys::poll({}, kFollowInterval);
    if (!waited) return complain(waited.error());
  }
}

}  // namespace

}  // namespace hutch::cli
