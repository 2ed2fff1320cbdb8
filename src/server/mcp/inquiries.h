// The questions that tool calls put to whoever uses an MCP client: asked of it (up to 2025-11-25), or told as the
// answer of a request that the client then makes again (from 2026-07-28 on).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "server/mcp/calls.h"
#include "server/mcp/host.h"
#include "server/mcp/reader.h"

namespace hutch::server::mcp {

// What has been asked of a client and not been answered. The oldest are forgotten where there are too many.
class Elicitations {
 public:
  // The id of the request to send, as JSON text; absent where the same has been asked already.
  std::optional<std::string> add(const Inquiry& inquiry);
  void take(const std::string& id, const Elicited& answer);
  void withdraw(const std::string& key);

 private:
  std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Inquiry> open_;
};

// A call that goes on while its client is asked, over several requests. Each has its own waiter, which is called once:
// with the call's result, or with what is open.
class Rounds : public std::enable_shared_from_this<Rounds> {
 public:
  using Waiter = std::function<void(const Result<CallAnswer>* done, const std::vector<Inquiry>& open)>;
  void wait(std::shared_ptr<Call> call, Waiter waiter);

  void inquire(const Inquiry& inquiry);
  void withdraw(const std::string& key);
  void finish(Result<CallAnswer> done);
  void answer(const std::string& key, const Elicited& answer);

  std::shared_ptr<Call> call() const;  // of the last request
  void stop() { stop_.request_stop(); }
  std::stop_token stopped() const { return stop_.get_token(); }

 private:
  void tell();

  mutable std::mutex mutex_;
  std::shared_ptr<Call> call_;
  Waiter waiter_;
  std::optional<Result<CallAnswer>> done_;
  std::map<std::string, Inquiry> open_;
  std::stop_source stop_;
  std::optional<std::stop_callback<std::function<void()>>> cancelled_;  // with the request that waits
};

// Calls whose client is to make its request again. Bounded; one that it does not come back for is ended.
class ParkedCalls {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  // What the client shows when it comes back.
  Result<std::string> add(const std::shared_ptr<Rounds>& rounds, const std::string& tool, Moment now);
  std::shared_ptr<Rounds> take(const std::string& state, const std::string& tool);  // null: none

 private:
  struct Parked {
    std::shared_ptr<Rounds> rounds;
    std::string tool;
    Moment since;
  };
  std::mutex mutex_;
  std::map<std::string, Parked> parked_;
};

}  // namespace hutch::server::mcp
