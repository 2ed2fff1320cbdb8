// The outcome of a run as JSON.
#include <nlohmann/json.hpp>

#include <utility>

#include "service/run/run.h"

namespace hutch::service {

std::string outcome_json(const RunReport& report) {
  const sandbox::Outcome& outcome = report.outcome;
  nlohmann::ordered_json refusals = nlohmann::ordered_json::array();
  for (const sandbox::Refusal& refusal : outcome.refusals) {
    nlohmann::ordered_json one = {{"what", refusal.what}, {"rule", refusal.rule}};
    if (!refusal.host.empty()) one["host"] = refusal.host;
    if (refusal.port != 0) one["port"] = refusal.port;
    if (refusal.pid != 0) one["pid"] = refusal.pid;
    if (!refusal.program.empty()) one["exe"] = refusal.program;
    if (!refusal.diff.empty()) one["diff"] = refusal.diff;
    refusals.push_back(std::move(one));
  }
  const nlohmann::ordered_json json = {
      {"exit_code", outcome.exit_code},
      {"signal", outcome.signal == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(outcome.signal)},
      {"timed_out", sandbox::is_timeout(outcome.ended_by)},
      {"killed", sandbox::is_killed(outcome.ended_by)},
      {"ended_by", sandbox::name_of(outcome.ended_by)},
      {"duration_ms", outcome.duration.count()},
      {"stdout", outcome.standard_output.text()},
      {"stdout_bytes", outcome.standard_output.bytes_total()},
      {"stdout_omitted_bytes", outcome.standard_output.bytes_left_out()},
      {"stderr", outcome.standard_error.text()},
      {"stderr_bytes", outcome.standard_error.bytes_total()},
      {"stderr_omitted_bytes", outcome.standard_error.bytes_left_out()},
      {"backend", report.backend},
      {"limits", outcome.limits_by.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(outcome.limits_by)},
      {"pids_limit_hits", outcome.pids_limit_hits},
      {"refusals", std::move(refusals)},
  };
  // Output need not be text: what is no UTF-8 is replaced, and the byte counts stay those of the command.
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace hutch::service
