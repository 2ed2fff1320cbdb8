// What is written down of a sandbox that stays.
#include "service/live/resident_record.h"

#include <algorithm>

#include "base/text.h"

namespace hutch::service {

namespace {

constexpr std::size_t kRefusalsMax = 500;  // that one start tells of
// The limit includes remarks that a person must see anyway: refusals must not use it up.
constexpr std::size_t kRemarksMax = 1000;

}  // namespace

void ResidentRecord::started(store::RunStart start) {
  const std::scoped_lock lock(mutex_);
  start_ = std::move(start);
  start_.command = settings_.command;
  told_.clear();
  recorder_.emplace(settings_.directory, settings_.tell, settings_.agent, settings_.scrub);
  recorder_->started(start_);
}

void ResidentRecord::ended(const std::optional<Error>& reason) {
  const std::scoped_lock lock(mutex_);
  if (recorder_ && reason) recorder_->failed(*reason);
  if (recorder_ && !reason) {
    sandbox::Outcome stopped;
    stopped.exit_code = 0;
    recorder_->ended(stopped);
  }
  recorder_.reset();
}

void ResidentRecord::decided(store::Decision decision) {
  const std::scoped_lock lock(mutex_);
  // What is asked before a start is of no run yet.
  if (!recorder_) {
    Recorder before(settings_.directory, settings_.tell, settings_.agent, settings_.scrub);
    return before.decided(std::move(decision));
  }
  recorder_->decided(std::move(decision));
}

void ResidentRecord::used(store::Service service) {
  const std::scoped_lock lock(mutex_);
  if (recorder_) recorder_->used(std::move(service));
}

void ResidentRecord::refused(const sandbox::Refusal& seen) {
  sandbox::Refusal refusal = seen;
  refusal.before.reset();  // it is not compared again, and may be long
  refusal.what = scrubbed(refusal.what);
  const std::scoped_lock lock(mutex_);
  // A program can ask for any number of hosts: what it writes into hutch's record has an end.
  const bool is_remark = refusal.weight == sandbox::Refusal::Weight::kAlways;
  const auto is_known = [&](const sandbox::Refusal& known) {
    return known == refusal || (!refusal.host.empty() && known.host == refusal.host);
  };
  if (told_.size() >= (is_remark ? kRemarksMax : kRefusalsMax) || std::ranges::any_of(told_, is_known)) return;
  told_.push_back(refusal);
  settings_.tell(cat({settings_.name, ": ", refusal.what}));
  if (recorder_) recorder_->refused(refusal);
}

void ResidentRecord::connected(const egress::Passed& passed) {
  const std::scoped_lock lock(mutex_);
  if (recorder_) recorder_->connected(passed);
}

void ResidentRecord::process_started(const sandbox::Process& process) {
  const std::scoped_lock lock(mutex_);
  store::RunStart start = start_;
  start.command = process.arguments();
  if (!recorder_) return;
  const auto [at, added] = process_recorders_.try_emplace(process.number(), recorder_->another());
  at->second.started(start);
}

void ResidentRecord::process_ended(const sandbox::Process& process, const sandbox::ProcessEnd& end) {
  const std::scoped_lock lock(mutex_);
  const auto at = process_recorders_.find(process.number());
  // One that could not be executed never started.
  if (at == process_recorders_.end()) return;
  sandbox::Outcome outcome;
  outcome.exit_code = end.exit_code;
  outcome.signal = end.signal;
  outcome.ended_by = end.ended_by;
  outcome.duration = end.duration;
  at->second.ended(outcome);
  process_recorders_.erase(at);
}

}  // namespace hutch::service
