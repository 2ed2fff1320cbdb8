// One request with the way back to whoever asked, as the routes' handlers see it.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/protocol/http_connection.h"
#include "server/protocol/http_guard.h"
#include "server/protocol/http_message.h"
#include "server/state/shared.h"
#include "tool/value.h"

namespace hutch::server::http {

using tool::Value;

inline Answer value_answer(int status, const Value& value) { return json_answer(status, tool::json_text(value)); }

// A stream sends a ping after this time without data, so that proxies on the way keep it open.
inline constexpr std::chrono::milliseconds kPing{15'000};

class Exchange {
 public:
  Exchange(Shared& shared, Connection& connection, const Request& request, const Target& target,
           const Guard* guard = nullptr)
      : shared_(shared), connection_(connection), request_(request), target_(target), guard_(guard) {}

  Shared& shared() { return shared_; }
  Connection& connection() { return connection_; }
  const Request& request() const { return request_; }
  const Guard* guard() const { return guard_; }  // null: it came by the Unix socket

  // A part of the path, as the pattern names it.
  const std::string& part(const std::string& name) const { return parts_.at(name); }
  void set_parts(std::map<std::string, std::string> parts) { parts_ = std::move(parts); }

  // Of the query; "" where it is absent.
  std::string query(std::string_view name) const;
  Result<bool> query_flag(std::string_view name) const;  // absent, "0", "false": no; "", "1", "true": yes
  Result<std::int64_t> query_number(std::string_view name, std::int64_t otherwise) const;

  // The body as an object; without a body an empty one. A member that is not `known` is an error.
  Result<Value::Object> body_object(std::initializer_list<std::string_view> known) const;

  bool wants_events() const;  // Accept: text/event-stream

  // Of the agent that the path names, or of the session: that one's sandbox is found by whoever knows its id.
  bool is_of_session() const { return parts_.contains("session"); }
  Result<std::shared_ptr<service::AgentSandbox>> agent();
  // Not by TCP where its session has brought a policy: a token has what the policies of the daemon's user allow.
  bool may_see(const std::string& agent) const;
  Status check_seen(const std::string& agent) const;  // Code::kNotFound
  // That agent is there, and may be seen.
  Status check_agent(const std::string& agent) const;

  // --- an answer that is a stream: begun here, ended by whoever serves the connection ---

  Status begin(const Answer& head) { return connection_.begin_stream(head, request_.minor_version); }
  Status begin_events();
  Status send_event(std::string_view event, const Value& data) { return send_event_text(event, tool::json_text(data)); }
  Status send_event_text(std::string_view event, std::string_view json);  // of one line
  // Says that nothing is to be said: so that whoever is between does not take the stream for dead.
  Status send_ping() { return connection_.send_piece(": \n\n"); }

 private:
  Shared& shared_;
  Connection& connection_;
  const Request& request_;
  const Target& target_;
  const Guard* guard_;
  std::map<std::string, std::string> parts_;
};

}  // namespace hutch::server::http
