// hutch audit.
#include "cli/machine/audit.h"

#include "cli/terminal/output.h"
#include "cli/terminal/past.h"
#include "service/common/history.h"

namespace hutch::cli {

int audit(const AuditArguments& arguments) {
  const Result<std::string> directory = record_directory();
  if (!directory) return complain(directory.error());
  // Before the reading: a record between the two is shown twice rather than not at all.
  store::SpoolFollower follower(*directory);
  const Result<store::SpoolContents> contents = read_record();
  if (!contents) return complain(contents.error());
  service::AuditFilter filter = {
      .since = {}, .types = arguments.types, .run = arguments.run, .agent = arguments.agent, .count = arguments.count};
  if (arguments.since) filter.since = store::now() - *arguments.since;
  const int code = print_records(contents->records, arguments.form, filter);
  if (code != 0 || arguments.follow == Follow::kNo) return code;
  filter.count.reset();
  return follow_record(follower, arguments.form, filter);
}

}  // namespace hutch::cli
