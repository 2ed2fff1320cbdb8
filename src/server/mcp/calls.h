// The requests of an MCP session that are being worked on, each with the way back to whoever asked.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "server/mcp/session.h"

namespace hutch::server::mcp {

// One request. Whatever comes first, its answer or its cancellation, is its end: nothing is sent after that.
class Call {
 public:
  struct Settings {
    std::string progress_token{};         // JSON text; empty: no progress is wanted
    std::optional<LogLevel> log_level{};  // the lowest that is wanted; none: nothing
    std::chrono::milliseconds progress_interval{0};
  };
  Call(Send send, Settings settings) : send_(std::move(send)), settings_(std::move(settings)) {}

  void progress(const Progress& progress);
  void log(LogLevel level, std::string_view text);
  void tell(std::string text);  // a message before the answer
  void answer(Delivery delivery);
  void cancel();
  std::stop_token cancelled() const { return stop_.get_token(); }

 private:
  Send send_;
  Settings settings_;
  std::stop_source stop_;
  std::atomic<bool> over_ = false;
  std::atomic<std::size_t> logged_ = 0;  // bytes
  std::mutex mutex_;  // of what follows
  double progress_ = -1;
  std::optional<std::chrono::steady_clock::time_point> progress_at_;
};

// By their ids. One that was cancelled counts among those that run until it has ended.
class Calls {
 public:
  enum class Added { kYes, kIdInUse, kTooMany };
  Added add(const std::string& id, const std::shared_ptr<Call>& call);
  // The client may use the id again from then on.
  void answer(const std::string& id, const std::shared_ptr<Call>& call, Delivery delivery);
  // Without an answer.
  void forget(const std::string& id, const std::shared_ptr<Call>& call);
  void cancel(const std::string& id);
  void cancel_all();
  // Until all are answered; false when some are not by then.
  bool wait(std::chrono::steady_clock::time_point until);

 private:
  void erase(const std::string& id, const std::shared_ptr<Call>& call);  // with the lock held

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<Call>> calls_;
  std::size_t running_ = 0;
};

}  // namespace hutch::server::mcp
