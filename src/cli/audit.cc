// hutch audit.
#include "cli/audit.h"

#include "cli/output.h"
#include "cli/past.h"
#include "service/history.h"

namespace hutch::cli {

int audit(const AuditArguments& arguments) {
  const Result<store::SpoolContents> contents = read_record();
  if (!contents) return complain(contents.error());
  service::AuditFilter filter = {
      .since = {}, .types = arguments.types, .run = arguments.run, .agent = arguments.agent, .count = arguments.count};
  if (arguments.since) filter.since = store::now() - *arguments.since;
  std::string text;
  for (const store::Record& record : service::filter_records(contents->records, filter)) {
    text += arguments.form == service::OutputForm::kJson ? store::format_record(record) + "\n"
                                                         : service::record_line(record, service::local_time);
  }
  return print(text);
}

}  // namespace hutch::cli
