// log, why and audit: what happened, from the spool.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/record.h"
#include "store/spool.h"

namespace hutch::service {

// All that is known of one run.
struct PastRun {
  std::string id;
  store::Time time;                      // of its first record
  std::optional<store::RunStart> start;  // absent when the file with it is gone already
  std::optional<store::RunEnd> end;      // absent while it runs, and when it was killed with hutch
  std::vector<store::Refusal> refusals;
};

// In the order of their first records.
std::vector<PastRun> runs_of(const std::vector<store::Record>& records);

// The run whose id begins with `prefix`: exactly one has to.
Result<PastRun> find_run(const std::vector<PastRun>& runs, const std::string& prefix);

// The last run that something was refused to.
Result<PastRun> last_refused(const std::vector<PastRun>& runs);

struct AuditFilter {
  std::optional<store::Time> since;
  std::vector<std::string> types;  // empty: all
  std::optional<std::string> run;  // the beginning of an id
  std::string agent{};             // empty: all, and those of none
  std::optional<std::size_t> count;  // the last so many
};
std::vector<store::Record> filter_records(const std::vector<store::Record>& records, const AuditFilter& filter);

// How a time is shown; commands and all else that a sandbox had a hand in is shown by printable().
using TimeText = std::function<std::string(store::Time)>;
std::string local_time(store::Time time);

// A line each, with its end.
std::string run_line(const PastRun& run, const TimeText& time_text);
std::string run_json(const PastRun& run);
std::string record_line(const store::Record& record, const TimeText& time_text);

// A few lines: the run, and each thing refused with the rule.
std::string refusals_text(const PastRun& run, const TimeText& time_text);

}  // namespace hutch::service
