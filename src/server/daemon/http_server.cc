// HTTP on the daemon.
#include "server/daemon/http_server.h"

#include <algorithm>

#include "server/e2b_api/port_proxy.h"
#include "server/http/routes.h"
#include "server/protocol/http_connection.h"
#include "sys/io.h"

namespace hutch::server::http {

namespace {

using Then = Connection::Then;

// The types that a body of JSON may say it is of.
bool says_json(const Request& request) {
  const std::string* type = request.field("content-type");
  return type != nullptr && lists_value(*type, "application/json");
}

class Server {
 public:
  Server(Shared& shared, UniqueFd socket, const Guard* guard)
      : shared_(shared),
        connection_(std::move(socket), guard != nullptr ? Connection::Kind::kTcp : Connection::Kind::kUnix),
        guard_(guard) {}

  void serve() {
    while (serve_one()) {}
  }

 private:
  bool serve_one();
  bool refuse(const Refusal& refusal) { return last(answer_of(refusal)); }
  // What is left of the request is not read any more.
  bool last(const Answer& answer) {
    if (connection_.send(answer, Then::kClose)) connection_.linger();
    return false;
  }
  bool serve_port(const Request& request, const SandboxPort& port);
  bool answer(Request& request, const Target& target, const Chosen& chosen);
  Handled call(Exchange& exchange, const Chosen& chosen);
  bool handle(Exchange& exchange, const Chosen& chosen);

  Shared& shared_;
  Connection connection_;
  const Guard* guard_;
};

bool Server::serve_one() {
  auto head = connection_.read_head();
  if (!head) return refuse(head.error());
  if (!*head) return false;
  Request& request = **head;
  if (auto refused = check_place(request, guard_)) return last(*refused);
  const std::string* host = request.field("host");
  if (const auto port = host != nullptr ? port_of_host(*host) : std::nullopt) return serve_port(request, *port);
  const auto target = parse_target(request.target);
  const auto chosen = target ? choose_route(request.method, *target) : std::variant<Chosen, NotChosen>(NotChosen{});
  // Whoever does not show the token is not told what there is.
  const auto* found = std::get_if<Chosen>(&chosen);
  if (found == nullptr || found->route->is_shown == nullptr) {
    if (auto refused = check_token(request, guard_)) return last(*refused);
  }
  if (!target) return refuse({400, "bad_request", "the request's target is no path"});
  if (const auto* none = std::get_if<NotChosen>(&chosen)) {
    Answer answer = answer_of(none->refusal);
    if (!none->allow.empty()) answer.fields.push_back({"Allow", none->allow});
    if (request.has_body) return last(answer);
    const bool keep = request.keep_alive;
    return connection_.send(answer, keep ? Then::kKeep : Then::kClose).has_value() && keep;
  }
  return answer(request, *target, std::get<Chosen>(chosen));
}

// The connection is for that one request.
bool Server::serve_port(const Request& request, const SandboxPort& port) {
  const auto target = parse_target(request.target);
  if (!target) return refuse({400, "bad_request", "the request's target is no path"});
  Exchange exchange(shared_, connection_, request, *target, guard_);
  if (const auto refused = serve_sandbox_port(exchange, port)) return last(*refused);
  connection_.linger();
  return false;
}

bool Server::answer(Request& request, const Target& target, const Chosen& chosen) {
  Exchange exchange(shared_, connection_, request, target, guard_);
  exchange.set_parts(chosen.parts);
  if (chosen.route->is_shown != nullptr && !chosen.route->is_shown(exchange)) return handle(exchange, chosen);
  if (request.has_body && chosen.route->body == BodyType::kJson && !says_json(request)) {
    return refuse({415, "unsupported_media_type", "the body has to be application/json"});
  }
  if (chosen.route->body == BodyType::kStream) return handle(exchange, chosen);
  const auto read = connection_.read_body(request);
  if (!read) return false;
  if (*read) return refuse(**read);
  return handle(exchange, chosen);
}

// Every {name} of a path is an agent's.
Handled Server::call(Exchange& exchange, const Chosen& chosen) {
  const auto named = chosen.parts.find("name");
  if (named != chosen.parts.end()) TRY(exchange.check_seen(named->second));
  return chosen.route->handle(exchange);
}

bool Server::handle(Exchange& exchange, const Chosen& chosen) {
  const Request& request = exchange.request();
  const Handled handled = call(exchange, chosen);
  if (connection_.has_said_head()) return request.keep_alive && request.minor_version > 0;
  if (connection_.is_streaming()) {
    // A stream that broke off is not ended, so that nobody takes it for whole.
    if (!handled || !connection_.end_stream()) return false;
    if (!connection_.is_body_read()) {
      connection_.linger();
      return false;
    }
    return request.keep_alive && request.minor_version > 0;
  }
  if (handled && std::holds_alternative<Upgraded>(*handled)) return false;
  const Answer answer = handled ? std::get<Answer>(*handled) : answer_of(refusal_of(handled.error()));
  if (!connection_.is_body_read()) return last(answer);
  const bool keep = request.keep_alive;
  // What is sent to a client that has gone is taken all the same. Not asked afterwards: who has its answer may go.
  const bool is_lost = answer.undelivered && connection_.is_gone();
  const bool sent = !is_lost && connection_.send(answer, keep ? Then::kKeep : Then::kClose).has_value();
  if (!sent && answer.undelivered) answer.undelivered();
  return sent && keep;
}

}  // namespace

bool is_http(std::string_view first_bytes) {
  return first_bytes.size() == kFirstBytes && first_bytes.front() >= 'A' && first_bytes.front() <= 'Z' &&
         !first_bytes.contains('\0');
}

void serve_connection(Shared& shared, UniqueFd socket, const Guard* guard) {
  if (!sys::set_nonblocking(socket.get())) return;
  Server(shared, std::move(socket), guard).serve();
}

// The head is taken first: what a socket still holds unread when it is closed takes the answer with it.
void refuse_connection(UniqueFd socket, const Guard* guard, const std::string& why, std::chrono::milliseconds wait) {
  if (!sys::set_nonblocking(socket.get())) return;
  Connection connection(std::move(socket), guard != nullptr ? Connection::Kind::kTcp : Connection::Kind::kUnix,
                        {.idle = wait, .head = wait, .body = wait, .stall = wait});
  const auto head = connection.read_head();
  if (head && !*head) return;
  if (connection.send(answer_of({503, "busy", why}), Then::kClose)) connection.linger();
}

}  // namespace hutch::server::http
