// The record of what ended with a daemon that was killed.
#include "service/live/abandoned.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "store/spool.h"

namespace hutch::service {

namespace {

constexpr int kAbandonedStatus = 125;

}  // namespace

std::vector<store::Record> ends_of_abandoned(const std::vector<store::Record>& records, store::Time now) {
  std::vector<store::Record> open;
  std::map<std::string, std::size_t> at;  // of each run in `open`
  for (const store::Record& record : records) {
    // A run without an agent is of another program, which may still be at it.
    if (record.agent.empty()) continue;
    if (std::holds_alternative<store::RunStart>(record.body)) {
      at[record.run] = open.size();
      open.push_back(record);
    } else if (std::holds_alternative<store::RunEnd>(record.body) && at.contains(record.run)) {
      open[at.at(record.run)].run.clear();
    }
  }
  std::erase_if(open, [](const store::Record& record) { return record.run.empty(); });
  for (store::Record& record : open) {
    const auto lasted = std::max(now - record.time, std::chrono::milliseconds(0));
    record.time = now;
    record.body = store::RunEnd{.exit_code = kAbandonedStatus,
                                .signal = 0,
                                .ended_by = "itself",
                                .duration = lasted,
                                .error = "the daemon ended while it ran"};
  }
  return open;
}

Status end_abandoned(const std::string& directory) {
  const store::SpoolContents contents = TRY(store::read_spool(directory));
  const auto ends = ends_of_abandoned(contents.records, store::now());
  if (ends.empty()) return {};
  store::SpoolWriter spool = TRY(store::SpoolWriter::open(directory));
  for (const store::Record& end : ends) TRY(spool.append(end));
  return {};
}

}  // namespace hutch::service
