// The MCP server's side of a conversation, without a transport: a message's text goes in, texts come out.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/mcp/headers.h"
#include "server/mcp/host.h"
#include "server/mcp/writer.h"

namespace hutch::server::mcp {

// Calls that run, and streams of changes, of one session at once.
inline constexpr std::size_t kCallsMax = 64;
inline constexpr std::size_t kSubscriptionsMax = 16;

// What goes to the client because of one of its messages.
struct Delivery {
  enum class Part {
    kNotification,  // an answer follows, in its time
    kAnswer,        // the last
    kNothing,       // the last as well, without a text: the request was cancelled and gets no answer
  };
  Part part = Part::kAnswer;
  std::string text{};
  int http_status = 200;
};

class ParkedCalls;

// Called by any thread, those of one request in order; once `close` has returned, no more. It neither
// calls the session nor waits for the client: whoever reads slowly is the transport's business.
using Send = std::function<void(Delivery)>;

// Both eras are spoken, side by side: `initialize` up to 2025-11-25, and requests that stand for themselves from
// 2026-07-28 on. Over HTTP a session is what Mcp-Session-Id names, or a single POST. For any number of threads.
class Session {
 public:
  struct Settings {
    ServerInfo server{};
    std::function<void(std::function<void()>)> execute{};  // runs what may take long, on another thread
    std::function<void(std::string)> unasked{};  // changes, to a client of the first era; none where it has no way
    std::shared_ptr<ParkedCalls> parked{};  // of all sessions; null: a client of 2026-07-28 is asked nothing
    std::chrono::milliseconds progress_interval{100};  // at least that long between two notifications of progress
  };

  Session(std::shared_ptr<ToolHost> host, Settings settings);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();  // closes; calls that run go on without it until they notice

  // Returns the number of requests in it, each of which ends with a kAnswer or kNothing; 0: over HTTP that is 202.
  // `headers` where they came over HTTP.
  std::size_t receive(std::string_view text, const Send& send, const HttpHeaders* headers = nullptr);

  // What the host has is another by now.
  void tools_changed();
  void artifacts_changed();

  // What `initialize` agreed on.
  std::optional<std::string> legacy_version() const;

  // Waits for the calls that are under way, but no longer than that.
  void finish(std::chrono::milliseconds at_most);
  // Cancels every call and ends every subscription.
  void close();

 private:
  class State;
  std::shared_ptr<State> state_;  // shared with the calls that run
};

}  // namespace hutch::server::mcp
