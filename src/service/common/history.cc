// Groups the records of the spool by run and puts them into words.
#include "service/common/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "sys/files/journal.h"

namespace hutch::service {

namespace {

constexpr std::size_t kCommandWidth = 120;

std::string command_text(const std::vector<std::string>& command);
std::string end_text(const store::RunEnd& end);
std::string duration_text(std::chrono::milliseconds duration);
std::string process_text(std::uint32_t pid, const std::string& program);

}  // namespace

std::vector<PastRun> runs_of(const std::vector<store::Record>& records) {
  std::vector<PastRun> runs;
  std::map<std::string, std::size_t> places;
  for (const store::Record& record : records) {
    const auto [place, fresh] = places.try_emplace(record.run, runs.size());
    if (fresh) runs.push_back({.id = record.run, .time = record.time, .start = {}, .end = {}, .refusals = {}});
    PastRun& run = runs[place->second];
    if (const auto* start = std::get_if<store::RunStart>(&record.body)) run.start = *start;
    if (const auto* end = std::get_if<store::RunEnd>(&record.body)) run.end = *end;
    if (const auto* refusal = std::get_if<store::Refusal>(&record.body)) run.refusals.push_back(*refusal);
  }
  return runs;
}

Result<PastRun> find_run(const std::vector<PastRun>& runs, const std::string& prefix) {
  const PastRun* found = nullptr;
  for (const PastRun& run : runs) {
    if (!run.id.starts_with(prefix)) continue;
    if (found) {
      return fail(
          Error::invalid(cat({"several runs begin with \"", printable(prefix), "\": ", found->id, ", ", run.id})));
    }
    found = &run;
  }
  if (!found) return fail(Error::not_found(cat({"no run begins with \"", printable(prefix), "\"; see hutch log"})));
  return *found;
}

Result<PastRun> last_refused(const std::vector<PastRun>& runs) {
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (!run->refusals.empty()) return *run;
  }
  return fail(Error::not_found("nothing was refused in any run that is on record"));
}

std::vector<store::Record> filter_records(const std::vector<store::Record>& records, const AuditFilter& filter) {
  std::vector<store::Record> found;
  for (const store::Record& record : records) {
    if (filter.since && record.time < *filter.since) continue;
    if (!filter.agent.empty() && record.agent != filter.agent) continue;
    if (filter.run && !record.run.starts_with(*filter.run)) continue;
    if (!filter.types.empty() && std::ranges::find(filter.types, store::type_of(record)) == filter.types.end())
      continue;
    found.push_back(record);
  }
  if (filter.count && found.size() > *filter.count) {
    found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(*filter.count));
  }
  return found;
}

std::string local_time(store::Time time) { return sys::local_time_text(time); }

std::string run_line(const PastRun& run, const TimeText& time_text) {
  const std::string refused =
      run.refusals.empty() ? "" : fmt::format("  ({} refused; hutch why {})", run.refusals.size(), run.id.substr(0, 6));
  return fmt::format("{}  {}  {:<12}  {:>8}  {:<9}  {}{}\n", time_text(run.time), run.id.substr(0, 12),
                     run.end ? end_text(*run.end) : "no end", run.end ? duration_text(run.end->duration) : "",
                     run.start ? printable(run.start->backend) : "", run.start ? command_text(run.start->command) : "?",
                     refused);
}

std::string run_json(const PastRun& run) {
  nlohmann::ordered_json json = {{"run", run.id}, {"time", store::format_time(run.time)}};
  if (run.start) {
    json["command"] = run.start->command;
    json["cwd"] = run.start->cwd;
    json["policy"] = run.start->policy;
    json["backend"] = run.start->backend;
  }
  if (run.end) {
    json["exit_code"] = run.end->exit_code;
    json["signal"] = run.end->signal == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(run.end->signal);
    json["ended_by"] = run.end->ended_by;
    json["duration_ms"] = run.end->duration.count();
    json["error"] = run.end->error.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(run.end->error);
  }
  json["refusals"] = nlohmann::ordered_json::array();
  for (const store::Refusal& refusal : run.refusals) {
    nlohmann::ordered_json one = {{"what", refusal.what}, {"rule", refusal.rule}};
    if (refusal.pid != 0) one["pid"] = refusal.pid;
    if (!refusal.program.empty()) one["exe"] = refusal.program;
    json["refusals"].push_back(std::move(one));
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string record_line(const store::Record& record, const TimeText& time_text) {
  std::string what;
  if (const auto* start = std::get_if<store::RunStart>(&record.body)) {
    what = fmt::format("{}  in {}, backend {}, policy {}", command_text(start->command), printable(start->cwd),
                       printable(start->backend), printable(start->policy));
  } else if (const auto* end = std::get_if<store::RunEnd>(&record.body)) {
    what = fmt::format("{} after {}", end_text(*end), duration_text(end->duration));
    if (!end->error.empty()) what += cat({": ", printable(end->error)});
  } else if (const auto* refusal = std::get_if<store::Refusal>(&record.body)) {
    what = printable(refusal->what, std::string::npos);
    if (!refusal->rule.empty()) what += cat({"  by ", printable(refusal->rule)});
    if (refusal->pid != 0) what += cat({"  for ", process_text(refusal->pid, refusal->program)});
  } else if (const auto* connection = std::get_if<store::Connection>(&record.body)) {
    what = fmt::format("{}  {} bytes up, {} down, {}  by {}", printable(connection->target), connection->bytes_up,
                       connection->bytes_down, duration_text(connection->duration), printable(connection->rule));
    if (connection->pid != 0) what += cat({"  for ", process_text(connection->pid, connection->program)});
  } else if (const auto* decision = std::get_if<store::Decision>(&record.body)) {
    what = cat({printable(decision->what), ": ", printable(decision->answer), "  by ", printable(decision->by)});
    if (decision->pid != 0) what += cat({"  for ", process_text(decision->pid, decision->program)});
  } else if (const auto* service = std::get_if<store::Service>(&record.body)) {
    what = cat({printable(service->service), " ", printable(service->what), ": ", printable(service->outcome)});
    if (service->pid != 0) what += cat({"  for ", process_text(service->pid, service->program)});
  }
  return fmt::format("{}  {}  {:<10}  {}\n", time_text(record.time), record.run.substr(0, 12), store::type_of(record),
                     what);
}

std::string refusals_text(const PastRun& run, const TimeText& time_text) {
  std::string text = fmt::format("run {} of {}: {}\n", run.id, time_text(run.time),
                                 run.start ? command_text(run.start->command) : "its start is no longer on record");
  if (run.start) text += fmt::format("  in {}, policy {}\n", printable(run.start->cwd), printable(run.start->policy));
  if (run.end && !run.end->error.empty()) text += cat({"  hutch failed: ", printable(run.end->error), "\n"});
  if (run.refusals.empty()) text += "  nothing was refused\n";
  for (const store::Refusal& refusal : run.refusals) {
    text += cat({"  refused: ", printable(refusal.what, std::string::npos), "\n"});
    if (!refusal.rule.empty()) text += cat({"       by: ", printable(refusal.rule), "\n"});
    if (refusal.pid != 0) text += cat({"      for: ", process_text(refusal.pid, refusal.program), "\n"});
  }
  return text;
}

namespace {

// As one would type it.
std::string command_text(const std::vector<std::string>& command) {
  std::vector<std::string> words;
  for (const std::string& word : command) words.push_back(shell_word(word));
  return printable(join(words, " "), kCommandWidth);
}

std::string end_text(const store::RunEnd& end) {
  if (!end.error.empty()) return "failed";
  if (end.ended_by == "itself" || end.ended_by.empty()) {
    return end.signal != 0 ? fmt::format("signal {}", end.signal) : fmt::format("exit {}", end.exit_code);
  }
  return printable(end.ended_by);
}

std::string duration_text(std::chrono::milliseconds duration) {
  const auto count = duration.count();
  if (count < 1000) return fmt::format("{}ms", count);
  if (count < 60'000) return fmt::format("{}.{}s", count / 1000, count % 1000 / 100);
  if (count < 3'600'000) return fmt::format("{}m{:02}s", count / 60'000, count % 60'000 / 1000);
  return fmt::format("{}h{:02}m", count / 3'600'000, count % 3'600'000 / 60'000);
}

std::string process_text(std::uint32_t pid, const std::string& program) {
  return fmt::format("{} (process {})", program.empty() ? "?" : printable(program), pid);
}

}  // namespace

}  // namespace hutch::service
