// MCP for a client of the daemon: every message is an input or an event of one call.
#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/text.h"
#include "server/mcp/session.h"
#include "server/mcp_api/agent_tools.h"
#include "server/rpc/session.h"
#include "sys/net/local_socket.h"
#include "sys/process/threads.h"

namespace hutch::server {

namespace {

// A client that reads so much later than it asks is one no more.
constexpr std::size_t kWaitingBytesMax = 64 << 20;
// For what a client asked before the end of its input.
constexpr std::chrono::milliseconds kLastAnswers{2000};

// What is to be sent, by a thread of its own: whoever has something to say waits for no client.
class Outbox {
 public:
  explicit Outbox(Session& session) : session_(session) {}
  ~Outbox() { close(); }

  Status begin() {
    thread_ = TRY(sys::start_thread([this] { send_all(); }));
    return {};
  }

  // Sends what is there and ends. Before the session goes: a call that outlives it holds this object.
  void close() {
    {
      const std::scoped_lock lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  void add(std::string text) {
    if (text.empty()) return;
    const std::scoped_lock lock(mutex_);
    if (closed_) return;
    bytes_ += text.size();
    texts_.push_back(std::move(text));
    if (bytes_ > kWaitingBytesMax) give_up();
    changed_.notify_all();
  }

 private:
  void send_all() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return closed_ || !texts_.empty(); });
      if (texts_.empty() || gone_) return;
      const std::string text = std::move(texts_.front());
      texts_.pop_front();
      bytes_ -= text.size();
      lock.unlock();
      const Status sent = session_.tell_text(text);
      lock.lock();
      if (!sent) give_up();
    }
  }

  // With the lock held. Whoever waits for the client's next message wakes up.
  void give_up() {
    closed_ = true;
    gone_ = true;
    sys::shut_down(session_.fd());
  }

  Session& session_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> texts_;
  std::size_t bytes_ = 0;
  bool closed_ = false;
  bool gone_ = false;
  std::thread thread_;
};

Result<std::string> served_agent(Session& session, const CallReader& call) {
  std::string agent = TRY(call.optional_text("agent"));
  if (!agent.empty()) {
    TRY(session.shared().agents.show(agent));
    return agent;
  }
  const std::string directory = TRY(call.text("directory"));
  return TRY(session.shared().agents.of_directory(directory)).name;
}

Result<Value> serve_mcp(Session& session, const CallReader& call) {
  const std::string agent = TRY(served_agent(session, call));
  // Calls that outlive the conversation hold it, and find it closed.
  const auto outbox = std::make_shared<Outbox>(session);
  TRY(outbox->begin());
  const auto conversation = std::make_shared<mcp::Session>(
      std::make_shared<AgentTools>(session.shared(), agent),
      mcp::Session::Settings{
          .server = mcp_server_info(session.shared(), agent),
          .execute = [&shared = session.shared()](std::function<void()> work) { shared.workers.run(std::move(work)); },
          .unasked = [outbox](std::string text) { outbox->add(std::move(text)); },
          .parked = session.shared().mcp_parked});
  session.shared().mcp_audience.add(agent, conversation);
  const mcp::Send send = [outbox](mcp::Delivery delivery) { outbox->add(std::move(delivery.text)); };
  for (;;) {
    const auto text = session.hear_text();
    if (!text || !*text) break;
    conversation->receive(**text, send);
  }
  // A client that says no more may still hear; what takes longer nobody waits for.
  conversation->finish(kLastAnswers);
  conversation->close();
  outbox->close();
  return Value(Value::Object{});
}

constexpr std::array kMcpVerbs = {Verb{"mcp", serve_mcp}};

}  // namespace

std::span<const Verb> mcp_verbs() { return kMcpVerbs; }

}  // namespace hutch::server
