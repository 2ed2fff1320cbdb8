// Opens the record for reading.
#include "cli/terminal/past.h"

#include <fmt/format.h>

#include <chrono>

#include "cli/terminal/output.h"
#include "host/machine/facts.h"
#include "host/state_dirs.h"
#include "sys/files/identity.h"
#include "sys/io.h"

namespace hutch::cli {

namespace {

constexpr std::chrono::milliseconds kFollowInterval{300};

void tell_of_damage(std::size_t lines);

}  // namespace

Result<std::string> record_directory() {
  const std::string home = TRY_CTX(host::home_directory(), "find the record");
  return TRY(host::own_state_dirs(sys::user_id(), home)).data;
}

Result<store::SpoolContents> read_record() {
  const std::string directory = TRY(record_directory());
  store::SpoolContents contents = TRY_CTX(store::read_spool(directory), "read the record");
  tell_of_damage(contents.damaged_lines);
  return contents;
}

int print_records(const std::vector<store::Record>& records, service::OutputForm form,
                  const service::AuditFilter& filter) {
  std::string text;
  for (const store::Record& record : service::filter_records(records, filter)) {
    text += form == service::OutputForm::kJson ? store::format_record(record) + "\n"
                                               : service::record_line(record, service::local_time);
  }
  return print(text);
}

int follow_record(store::SpoolFollower& follower, service::OutputForm form, const service::AuditFilter& filter) {
  for (;;) {
    const Result<store::SpoolContents> news = follower.next();
    if (!news) return complain(news.error());
    tell_of_damage(news->damaged_lines);
    if (const int code = print_records(news->records, form, filter); code != 0) return code;
    const Result<int> waited = sys::poll({}, kFollowInterval);
    if (!waited) return complain(waited.error());
  }
}

namespace {

void tell_of_damage(std::size_t lines) {
  if (lines == 0) return;
  (void)sys::write_all(
      2, fmt::format("hutch: {} damaged line{} of the record passed over\n", lines, lines == 1 ? "" : "s"));
}

}  // namespace

}  // namespace hutch::cli
