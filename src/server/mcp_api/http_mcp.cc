// MCP by streamable HTTP: 2025-11-25 with sessions, 2026-07-28 with single requests.
#include <poll.h>

#include <array>

#include "base/text.h"
#include "server/http/routes.h"
#include "server/mcp_api/http_mcp_sessions.h"
#include "sys/io.h"

namespace hutch::server::http {

namespace {

constexpr std::size_t kDeliveriesMax = 16'384;

using Deliveries = sandbox::Inbox<mcp::Delivery>;

std::optional<std::string> optional_field(const Request& request, std::string_view name) {
  const std::string* value = request.field(name);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::string wanted_agent(Exchange& exchange) {
  const std::string agent = exchange.query("agent");
  return agent.empty() ? optional_field(exchange.request(), "hutch-agent").value_or("") : agent;
}

Result<std::string> requested_agent(Exchange& exchange) {
  const std::string agent = wanted_agent(exchange);
  if (agent.empty()) return fail(Error::invalid("which agent? /mcp?agent=NAME, or the header Hutch-Agent"));
  TRY(exchange.check_agent(agent));
  return agent;
}

bool is_for(Exchange& exchange, const McpSession& session) {
  const std::string wanted = wanted_agent(exchange);
  if ((!wanted.empty() && wanted != session.agent) || !exchange.may_see(session.agent)) return false;
  const auto shown = exchange.shared().agents.show(session.agent);
  return shown && shown->record.id == session.agent_id;
}

// The session that the request names; absent if it names none. A session of another agent, or of a removed agent,
// counts as not found.
Result<std::shared_ptr<McpSession>> named_session(Exchange& exchange) {
  const std::string* id = exchange.request().field("mcp-session-id");
  if (id == nullptr) return nullptr;
  auto session = exchange.shared().mcp_sessions->find(*id);
  if (!session || !is_for(exchange, *session)) {
    return fail(Error::not_found("there is no such MCP session: begin with `initialize`"));
  }
  return session;
}

// Answers of one POST: JSON where there is a single one and nothing came before it, else events.
class McpReply {
 public:
  McpReply(Exchange& exchange, std::shared_ptr<Deliveries> deliveries, std::size_t requests)
      : exchange_(exchange), deliveries_(std::move(deliveries)), left_(requests), single_(requests == 1) {
    const std::string* accept = exchange.request().field("accept");
    events_ = accept == nullptr || lists_value(*accept, "text/event-stream") || lists_value(*accept, "*/*");
  }

  Handled run(std::vector<Field> fields);

 private:
  Status pass(const mcp::Delivery& delivery);

  Exchange& exchange_;
  std::shared_ptr<Deliveries> deliveries_;
  std::size_t left_;
  const bool single_;
  bool events_ = true;
  std::vector<Field> fields_;
  std::optional<mcp::Delivery> whole_;  // the answer, where it is JSON
};

Handled McpReply::run(std::vector<Field> fields) {
  fields_ = std::move(fields);
  while (left_ > 0) {
    while (const auto delivery = deliveries_->take()) TRY(pass(*delivery));
    if (left_ == 0) break;
    if (deliveries_->overflowed()) return fail(Error::invalid("the client does not keep up"));
    std::array<pollfd, 2> wait = {
        {{deliveries_->fd(), POLLIN, 0}, {exchange_.connection().fd(), exchange_.connection().gone_events(), 0}}};
    const int ready = TRY(sys::poll(wait, kPing));
    if (wait[1].revents != 0) return fail(Error::invalid("the client has gone"));
    if (ready == 0 && exchange_.connection().is_streaming()) TRY(exchange_.send_ping());
  }
  if (exchange_.connection().is_streaming()) return Streamed{};
  if (!whole_) return Answer{.status = 202, .type = {}, .body = {}, .fields = fields_};
  return Answer{.status = whole_->http_status, .body = whole_->text, .fields = fields_};
}

Status McpReply::pass(const mcp::Delivery& delivery) {
  const bool last = delivery.part != mcp::Delivery::Part::kNotification;
  if (last && left_ > 0) --left_;
  if (delivery.part == mcp::Delivery::Part::kNothing) return {};
  const bool streaming = exchange_.connection().is_streaming();
  if (last && !streaming && (single_ || !events_)) {
    // Of a batch to a client that takes no events the first alone could be said: such a client sends none.
    if (!whole_) whole_ = delivery;
    return {};
  }
  if (!events_) return {};
  if (!streaming) TRY(exchange_.begin({.type = "text/event-stream", .body = {}, .fields = fields_}));
  return exchange_.send_event_text("message", delivery.text);
}

Handled post_mcp(Exchange& exchange) {
  const Request& request = exchange.request();
  auto session = TRY(named_session(exchange));
  const bool fresh = session == nullptr;
  if (fresh) {
    const std::string agent = TRY(requested_agent(exchange));
    session = TRY(McpSessions::make(exchange.shared(), agent));
  }
  const mcp::HttpHeaders headers{.version = optional_field(request, "mcp-protocol-version"),
                                 .method = optional_field(request, "mcp-method"),
                                 .name = optional_field(request, "mcp-name")};
  const auto deliveries = TRY(Deliveries::make(kDeliveriesMax));
  const mcp::Send send = [deliveries](mcp::Delivery delivery) { deliveries->add(std::move(delivery)); };
  const std::size_t requests = session->session->receive(request.body, send, &headers);
  std::vector<Field> fields;
  const bool begun = fresh && session->session->legacy_version().has_value();
  if (begun) {
    TRY(exchange.shared().mcp_sessions->keep(session));
    fields.push_back({"Mcp-Session-Id", session->id});
  }
  if (requests == 0) return Answer{.status = 202, .type = {}};
  Handled handled = McpReply(exchange, deliveries, requests).run(std::move(fields));
  // Of a single request nobody else waits for what is still running. In a session the end of a connection ends nothing:
  // there is notifications/cancelled for that.
  if (fresh && !begun) session->session->close();
  return handled;
}

// What the server says without being asked.
Handled get_mcp(Exchange& exchange) {
  const auto session = TRY(named_session(exchange));
  if (!session) {
    Answer answer = answer_of({405, "method_not_allowed", "a stream is of a session: Mcp-Session-Id is missing"});
    answer.fields.push_back({"Allow", "POST"});
    return answer;
  }
  if (!exchange.wants_events()) return answer_of({406, "not_acceptable", "the answer is text/event-stream"});
  if (session->streams.exchange(true)) return fail(Error{Code::kConflict, 0, "the session has a stream already"});
  const auto stream = [&]() -> Status {
    TRY(exchange.begin_events());
    for (;;) {
      while (const auto text = session->unasked->take()) {
        if (text->empty()) return {};
        TRY(exchange.send_event_text("message", *text));
      }
      std::array<pollfd, 2> wait = {
          {{session->unasked->fd(), POLLIN, 0}, {exchange.connection().fd(), exchange.connection().gone_events(), 0}}};
      const int ready = TRY(sys::poll(wait, kPing));
      if (wait[1].revents != 0) return {};
      if (ready == 0) TRY(exchange.send_ping());
    }
  };
  const Status streamed = stream();
  session->streams = false;
  if (!streamed) return fail(streamed.error());
  return Streamed{};
}

Handled delete_mcp(Exchange& exchange) {
  const auto session = TRY(named_session(exchange));
  if (!session) return fail(Error::invalid("Mcp-Session-Id is missing"));
  exchange.shared().mcp_sessions->close(session->id);
  return Answer{.status = 204, .type = {}};
}

constexpr std::array kMcpRoutes = {
    Route{"POST", "/mcp", BodyType::kJson, post_mcp},
    Route{"GET", "/mcp", BodyType::kNone, get_mcp},
    Route{"DELETE", "/mcp", BodyType::kNone, delete_mcp},
};

}  // namespace

std::span<const Route> mcp_routes() { return kMcpRoutes; }

}  // namespace hutch::server::http
