// HTTP on the bridge of one sandbox.
#include "server/daemon/bridge_server.h"

#include <poll.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "server/protocol/http_connection.h"
#include "sys/io.h"
#include "tool/value.h"

namespace hutch::server {

namespace {

using bridge::Fault;
using http::Answer;
using http::Connection;
using http::Request;
using tool::Value;

constexpr std::chrono::milliseconds kQuiet{15'000};

class BridgeServer {
 public:
  BridgeServer(service::HostServices& services, service::AgentSandbox& agent, const service::PluginRights* plugin,
               UniqueFd socket)
      : services_(services), agent_(agent), plugin_(plugin), connection_(std::move(socket), Connection::Kind::kUnix) {}

  void serve() {
    while (serve_one()) {}
  }
  // Whatever it asks.
  void refuse(const Fault& fault) { (void)refuse(nullptr, fault); }

 private:
  bool serve_one();
  bool answer(const Request& request);
  bool listen(const Request& request, const bridge::Call& call);
  bool infer(const Request& request, const bridge::Call& call);
  Status follow(const bridge::Call& call);
  // A request that was not read to its end is the last one.
  bool refuse(const Request* request, const Fault& fault) {
    if (connection_.send(fault_answer(request, fault), Connection::Then::kClose)) connection_.linger();
    return false;
  }
  bool send(const Request& request, const Answer& answer) {
    return connection_.send(answer, request.keep_alive ? Connection::Then::kKeep : Connection::Then::kClose) &&
           request.keep_alive;
  }
  static Answer fault_answer(const Request* request, const Fault& fault);

  service::HostServices& services_;
  service::AgentSandbox& agent_;
  const service::PluginRights* const plugin_;
  Connection connection_;
};

bool BridgeServer::serve_one() {
  auto head = connection_.read_head();
  if (!head) return refuse(nullptr, {head.error().status, head.error().message});
  if (!*head) return false;
  Request& request = **head;
  const std::uint64_t bytes = request.length.value_or(request.has_body ? bridge::kBodyBytesMax : 0);
  const auto share = services_.take_body(agent_, bytes);
  if (!share) return refuse(&request, share.error());
  const auto refused = connection_.read_body(request);
  if (!refused) return false;
  if (*refused) return refuse(&request, {(*refused)->status, (*refused)->message});
  return answer(request);
}

bool wants_text(const Request& request) {
  const std::string* accept = request.field("accept");
  return accept != nullptr && http::lists_value(*accept, "text/plain");
}

Answer BridgeServer::fault_answer(const Request* request, const Fault& fault) {
  if (request == nullptr || !wants_text(*request)) return http::json_answer(fault.status, bridge::fault_json(fault));
  return Answer{.status = fault.status, .type = "text/plain; charset=utf-8", .body = fault.message};
}

bool BridgeServer::answer(const Request& request) {
  const auto target = http::parse_target(request.target);
  if (!target) return send(request, fault_answer(&request, {400, "The request's target is no path"}));
  std::vector<std::string> types;
  std::string plugin;
  for (const http::Field& field : target->query) {
    if (field.name == "type") types.push_back(field.value);
    if (field.name == "plugin") plugin = field.value;
  }
  const auto call = bridge::read_call({request.method, target->segments, types, request.body, plugin});
  if (!call) return send(request, fault_answer(&request, call.error()));
  if (call->service == bridge::Service::kListen) return listen(request, *call);
  if (call->service == bridge::Service::kInference) return infer(request, *call);
  const auto reply = services_.carry_out(agent_, plugin_, *call);
  if (!reply) return send(request, fault_answer(&request, reply.error()));
  if (!wants_text(request)) return send(request, http::json_answer(200, reply->json));
  return send(request, Answer{.status = 200, .type = "text/plain; charset=utf-8", .body = reply->text});
}

// As text it goes on as it comes; of a stream that breaks off the end is missing. As JSON it is told whole.
bool BridgeServer::infer(const Request& request, const bridge::Call& call) {
  const bool streams = wants_text(request);
  std::string whole;
  const auto on_text = [&](std::string_view text) -> Status {
    if (!streams) {
      whole += text;
      return whole.size() <= http::kBodyBytesMax ? Status() : fail(Error::invalid("the model says too much"));
    }
    if (!connection_.is_streaming()) {
      TRY(connection_.begin_stream(Answer{.status = 200, .type = "text/plain; charset=utf-8"}, request.minor_version));
    }
    return connection_.send_piece(text);
  };
  const auto answered = services_.infer(agent_, plugin_, call, on_text, [this] { return connection_.is_gone(); });
  if (connection_.is_streaming())
    return answered && connection_.end_stream() && request.keep_alive && request.minor_version > 0;
  if (!answered) return send(request, fault_answer(&request, answered.error()));
  return send(request, http::json_answer(200, tool::json_text(Value(Value::Object{{"content", whole}}))));
}

bool BridgeServer::listen(const Request& request, const bridge::Call& call) {
  const auto taken = services_.take_use(agent_, plugin_, call.service);
  if (!taken) return send(request, fault_answer(&request, taken.error()));
  const Answer head{.status = 200, .type = "application/jsonl"};
  if (connection_.begin_stream(head, request.minor_version)) (void)follow(call);
  return false;
}

// Each is a line of JSON, and so is how many were lost of a client that does not keep up.
Status BridgeServer::follow(const bridge::Call& call) {
  const auto listener = TRY(services_.events().listen(agent_.record().name));
  for (;;) {
    for (;;) {
      const auto [event, missed] = listener->take();
      if (!event) break;
      if (missed > 0) TRY(connection_.send_piece(cat({"{\"missed\":", std::to_string(missed), "}\n"})));
      const auto lists = [&](const auto& types) { return std::ranges::find(types, event->type) != types.end(); };
      const bool wanted = call.types.empty() || lists(call.types);
      if (!wanted || (plugin_ != nullptr && !lists(plugin_->hears))) continue;
      // The text alone is kept while the client takes its time.
      const std::string line = tool::json_text(service::Plugins::event_value(*event)) + "\n";
      TRY(connection_.send_piece(line));
    }
    std::array<pollfd, 2> wait = {{{listener->fd(), POLLIN, 0}, {connection_.fd(), connection_.gone_events(), 0}}};
    TRY(sys::poll(wait, kQuiet));
    if (wait[1].revents != 0) return {};
  }
}

}  // namespace

void serve_bridge(service::HostServices& services, service::AgentSandbox& agent, const service::PluginRights* plugin,
                  UniqueFd socket) {
  if (!sys::set_nonblocking(socket.get())) return;
  const auto seat = plugin != nullptr ? services.take_connection(agent) : std::expected<std::shared_ptr<void>, Fault>();
  BridgeServer server(services, agent, plugin, std::move(socket));
  if (!seat) return server.refuse(seat.error());
  server.serve();
}

}  // namespace hutch::server
