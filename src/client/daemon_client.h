// The daemon as its clients see it: found, or started where it is not there; called.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "host/state_dirs.h"
#include "tool/value.h"
#include "wire/connection.h"
#include "wire/daemon.h"

namespace hutch::client {

using tool::Value;

class DaemonClient {
 public:
  enum class Start { kIfNeeded, kNever };
  // Code::kNotFound with Start::kNever where none runs.
  static Result<DaemonClient> connect(const host::StateDirs& dirs, Start start = Start::kIfNeeded);

  explicit DaemonClient(wire::Connection connection) : connection_(std::move(connection)) {}

  // From here on a daemon that does not read or answer for so long is an error.
  Status limit_wait(std::chrono::milliseconds wait);

  // The result of `verb` with its arguments; `on_event` hears what comes before it.
  using OnEvent = std::function<Status(const Value& event)>;
  Result<Value> call(std::string_view verb, Value::Object arguments, const OnEvent& on_event = {});

  // --- for calls that take longer: their parts ---

  Status send(std::string_view verb, Value::Object arguments, std::span<const int> descriptors = {});
  // The same of a call which is sent again, to a new daemon, where the one that it went to left without reading it.
  // Until its first answer the descriptors stay open, and nothing else is sent.
  Status begin(std::string_view verb, Value::Object arguments, std::span<const int> descriptors = {});
  Status send_input(Value::Object input);
  Status send_text(const std::string& text);                 // an input's text, whole
  Result<std::optional<std::string>> receive_text();         // an event's; absent at the call's end
  struct Answer {
    enum class Kind { kEvent, kResult } kind = Kind::kResult;
    Value value;
    std::vector<UniqueFd> descriptors;
  };
  // Waits. A CallFailed is the error.
  Result<Answer> receive();
  // What has come, after poll(2); absent when it is not whole.
  Result<std::optional<Answer>> receive_ready();
  Result<std::optional<Answer>> take_buffered();
  int fd() const { return connection_.fd(); }

 private:
  struct Begun {
    std::string json;
    std::vector<int> descriptors;
    int attempts = 0;
  };
  Status begin_again(Error lost);
  Result<Answer> answer_of(const wire::Frame& frame);
  Result<std::optional<std::string>> event_text(const wire::Frame& frame);
  wire::Connection connection_;
  std::optional<host::StateDirs> dirs_{};  // where it was found
  std::optional<Begun> begun_{};           // the call that has no answer yet
};

}  // namespace hutch::client
