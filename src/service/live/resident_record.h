// What is written down of a sandbox that stays: its start and end, each of its processes, what was refused.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/io/outcome.h"
#include "sandbox/resident/process.h"
#include "service/common/recorder.h"
#include "store/record.h"

namespace hutch::service {

// Any thread may use it.
class ResidentRecord {
 public:
  struct Settings {
    std::string directory;  // where the record lies
    Recorder::Tell tell;    // of refusals, and of a record that cannot be kept
    std::string agent{};    // whose sandbox it is; empty: no agent's
    std::string name{};     // what lines that are told begin with
    std::vector<std::string> command;  // as what the start is recorded
    Recorder::Scrub scrub{};
  };
  explicit ResidentRecord(Settings settings) : settings_(std::move(settings)) {}

  // `start` without its command, which is the settings'.
  void started(store::RunStart start);
  void ended(const std::optional<Error>& reason);
  void refused(const sandbox::Refusal& refusal);
  void connected(const egress::Passed& passed);
  void decided(store::Decision decision);
  void used(store::Service service);
  void process_started(const sandbox::Process& process);
  void process_ended(const sandbox::Process& process, const sandbox::ProcessEnd& end);

 private:
  std::string scrubbed(const std::string& text) const { return settings_.scrub ? settings_.scrub(text) : text; }

  const Settings settings_;
  std::mutex mutex_;
  std::optional<Recorder> recorder_;
  std::map<std::uint32_t, Recorder> process_recorders_;  // of those that run
  std::vector<sandbox::Refusal> told_;                   // each once
  store::RunStart start_;
};

}  // namespace hutch::service
