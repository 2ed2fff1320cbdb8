// One connection of the daemon's own client: its calls, one after another, each carried out on the connection's thread.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "server/protocol/call_reader.h"
#include "server/state/shared.h"
#include "tool/value.h"
#include "wire/connection.h"
#include "wire/daemon.h"

namespace hutch::server {

using tool::Value;

class Session {
 public:
  Session(Shared& shared, UniqueFd socket) : shared_(shared), connection_(std::move(socket)) {}

  // Until the client goes, or breaks a rule.
  void serve();
  // Its first call fails so, and none is carried out.
  void refuse(Error why);

  Shared& shared() { return shared_; }
  int fd() const { return connection_.fd(); }

  // --- for whoever carries out a call ---

  Status tell(const Value& event, std::span<const int> descriptors = {});
  Status tell_text(const std::string& text);  // as an event's, whole
  // Those that came with the call.
  std::vector<UniqueFd> take_descriptors() { return connection_.take_descriptors(); }
  // What the client says meanwhile. Waits until `also` or `other` is readable as well, where they are not -1, and no
  // longer than `wait`.
  struct Heard {
    bool gone = false;  // the client
    bool also = false;  // one of the other descriptors is readable
    std::optional<Value> input{};
  };
  // The next input as its text, whole; absent when the client has gone.
  Result<std::optional<std::string>> hear_text();
  Result<Heard> hear(int also, std::optional<std::chrono::milliseconds> wait, int other = -1);

 private:
  Status serve_call(const wire::Call& call);

  Shared& shared_;
  wire::Connection connection_;
};

struct Verb {
  std::string_view name;
  Result<Value> (*carry_out)(Session& session, const CallReader& call);
};
std::span<const Verb> agent_verbs();
std::span<const Verb> process_verbs();
std::span<const Verb> tool_verbs();
std::span<const Verb> mcp_verbs();
std::span<const Verb> session_verbs();
std::span<const Verb> question_verbs();
std::span<const Verb> pool_verbs();
std::span<const Verb> task_verbs();
std::span<const Verb> secret_verbs();
std::span<const Verb> event_verbs();
std::span<const Verb> memory_verbs();
std::span<const Verb> artifact_verbs();
std::span<const Verb> plugin_verbs();
std::span<const Verb> machine_verbs();

}  // namespace hutch::server
