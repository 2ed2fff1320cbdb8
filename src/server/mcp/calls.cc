// The requests of an MCP session that are being worked on.
#include "server/mcp/calls.h"

#include <utility>
#include <vector>

namespace hutch::server::mcp {

void Call::progress(const Progress& progress) {
  if (settings_.progress_token.empty()) return;
  // Held while it is sent: each has to be more than the one before.
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (over_ || progress.done <= progress_) return;
  if (progress_at_ && now - *progress_at_ < settings_.progress_interval) return;
  progress_ = progress.done;
  progress_at_ = now;
  send_({Delivery::Part::kNotification, progress_notification(settings_.progress_token, progress)});
}

void Call::log(LogLevel level, std::string_view text) {
  if (over_ || !settings_.log_level || level < *settings_.log_level) return;
  // A client that cannot follow would hold up what it listens to.
  static constexpr std::size_t kBytesMax = 1 << 20;
  const std::size_t before = logged_.fetch_add(text.size());
  if (before >= kBytesMax) return;
  send_({Delivery::Part::kNotification, log_notification(level, text)});
  if (before + text.size() < kBytesMax) return;
  send_({Delivery::Part::kNotification, log_notification(level, "what follows is in the answer alone")});
}

void Call::tell(std::string text) {
  if (!over_) send_({Delivery::Part::kNotification, std::move(text)});
}

void Call::answer(Delivery delivery) {
  if (!over_.exchange(true)) send_(std::move(delivery));
}

void Call::cancel() {
  if (!over_.exchange(true)) send_({Delivery::Part::kNothing});
  stop_.request_stop();
}

Calls::Added Calls::add(const std::string& id, const std::shared_ptr<Call>& call) {
  const std::lock_guard lock(mutex_);
  if (calls_.contains(id)) return Added::kIdInUse;
  if (running_ >= kCallsMax) return Added::kTooMany;
  calls_.emplace(id, call);
  ++running_;
  return Added::kYes;
}

void Calls::answer(const std::string& id, const std::shared_ptr<Call>& call, Delivery delivery) {
  {
    const std::lock_guard lock(mutex_);
    erase(id, call);
  }
  call->answer(std::move(delivery));
  const std::lock_guard lock(mutex_);
  --running_;
  changed_.notify_all();
}

void Calls::forget(const std::string& id, const std::shared_ptr<Call>& call) {
  const std::lock_guard lock(mutex_);
  erase(id, call);
  --running_;
  changed_.notify_all();
}

void Calls::erase(const std::string& id, const std::shared_ptr<Call>& call) {
  const auto found = calls_.find(id);
  if (found != calls_.end() && found->second == call) calls_.erase(found);
}

bool Calls::wait(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, until, [&] { return running_ == 0; });
}

void Calls::cancel(const std::string& id) {
  std::shared_ptr<Call> call;
  {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(id);
    if (found == calls_.end()) return;
    call = std::move(found->second);
    calls_.erase(found);
  }
  call->cancel();
}

void Calls::cancel_all() {
  std::map<std::string, std::shared_ptr<Call>> calls;
  {
    const std::lock_guard lock(mutex_);
    calls.swap(calls_);
  }
  for (const auto& [id, call] : calls) call->cancel();
}

}  // namespace hutch::server::mcp
