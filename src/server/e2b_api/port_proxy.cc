// A request for a port of a sandbox.
#include "server/e2b_api/port_proxy.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/text.h"
#include "server/e2b/keys.h"
#include "server/e2b/process_shares.h"
#include "server/e2b_api/e2b_view.h"
#include "server/http/port_answer.h"
#include "server/protocol/http_streams.h"
#include "sys/io.h"
#include "wire/machine_dial.h"

namespace hutch::server {

namespace {

using http::Answer;
using http::Exchange;
using PortClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kDialMax{15};  // until the process has said that it is connected
constexpr std::chrono::seconds kPortStallMax{30};  // without a byte of the answer being taken
constexpr std::size_t kPortPieceMax = 256 << 10;  // waits for one side; until then the other is not read

// Whether the request shows what the port takes: its password, or the daemon's own token.
bool shows_port_token(const Exchange& exchange, const std::string& token) {
  if (exchange.guard() == nullptr) return true;
  const http::Request& request = exchange.request();
  const auto is = [&](std::string_view given) {
    return http::is_token(given, token) || http::is_token(given, exchange.guard()->token);
  };
  if (is(http::bearer_of(request))) return true;
  const auto password = http::may_be_of_other_page(request) ? std::nullopt : http::basic_password(request);
  if (password && is(*password)) return true;
  return std::ranges::any_of(std::array{"e2b-traffic-access-token", "x-access-token"}, [&](const char* name) {
    const std::string* field = request.field(name);
    return field != nullptr && is(*field);
  });
}

// The two sides of one connection, until one of them has ended.
class PortRelay {
 public:
  PortRelay(Exchange& exchange, http::Ends& ends, std::string head)
      : connection_(exchange.connection()),
        request_(exchange.request()),
        ends_(ends),
        to_sandbox_(std::move(head)),
        answer_(request_),
        reads_body_(request_.has_body) {}

  Status run() {
    // Whoever waits to be told so sends nothing that could be waited for.
    if (reads_body_ && request_.expects_continue) TRY(take_body());
    while (!is_over_) TRY(turn());
    return {};
  }
  // Whoever asked has been told nothing yet: the server said nothing, or no answer.
  bool is_unanswered() const { return is_damaged_ && !answer_.has_begun(); }

 private:
  Status turn();
  Status take_body();
  Status take_raw();
  void take_answer();
  Status pass_answer();
  bool wants_client() const {
    return (reads_body_ || answer_.is_raw()) && !is_answered() && to_sandbox_.size() < kPortPieceMax;
  }
  // Nothing goes on from the server any more; what came before that still does.
  bool is_answered() const { return is_damaged_ || answer_.is_done() || !ends_.output[0]; }

  http::Connection& connection_;
  const http::Request& request_;
  http::Ends& ends_;
  std::string to_sandbox_;
  std::string to_client_;
  http::PortAnswer answer_;
  bool reads_body_;
  bool is_damaged_ = false;
  bool is_over_ = false;
  PortClock::time_point taken_at_ = PortClock::now();
};

Status PortRelay::turn() {
  if (wants_client() && connection_.has_rest()) return answer_.is_raw() ? take_raw() : take_body();
  const int client = connection_.fd();
  const auto reads = static_cast<short>(wants_client() ? POLLIN : connection_.gone_events());
  const auto writes = static_cast<short>(to_client_.empty() ? 0 : POLLOUT);
  const bool takes_answer = !is_answered() && to_client_.size() < kPortPieceMax;
  std::array<pollfd, 3> wait = {{{client, static_cast<short>(reads | writes), 0},
                                 {to_sandbox_.empty() ? -1 : ends_.input.get(), POLLOUT, 0},
                                 {takes_answer ? ends_.output[0].get() : -1, POLLIN, 0}}};
  TRY(sys::poll(wait, writes != 0 ? std::optional<std::chrono::milliseconds>(kPortStallMax) : std::nullopt));
  const auto is = [&](std::size_t i, short what) { return (wait[i].revents & what) != 0; };
  if (is(0, POLLERR | POLLHUP) || (!wants_client() && is(0, POLLRDHUP))) {
    is_over_ = true;
    return {};
  }
  if (is(1, POLLOUT | POLLERR)) http::write_piece(ends_.input, to_sandbox_);
  if (is(2, POLLIN | POLLHUP | POLLERR)) take_answer();
  if (is(0, POLLOUT)) TRY(pass_answer());
  if (wants_client() && is(0, POLLIN)) TRY(answer_.is_raw() ? take_raw() : take_body());
  if (writes != 0 && PortClock::now() - taken_at_ > kPortStallMax) is_over_ = true;
  if (is_answered() && to_client_.empty()) is_over_ = true;
  return {};
}

// As it was sent: its length is said in the head, or each piece is a chunk.
Status PortRelay::take_body() {
  auto piece = TRY(connection_.read_body_piece(request_));
  const auto* bytes = std::get_if<std::string>(&piece);
  if (bytes == nullptr) return fail(Error::invalid("the request's body is damaged"));
  const bool is_chunked = !request_.length.has_value();
  if (!bytes->empty()) {
    to_sandbox_ += is_chunked ? cat({http::chunk_size(bytes->size()), "\r\n", *bytes, "\r\n"}) : *bytes;
  }
  // Nothing may come behind it, and nobody would say so.
  if (!bytes->empty() && !connection_.is_body_read()) return {};
  reads_body_ = false;
  if (is_chunked) to_sandbox_ += "0\r\n\r\n";
  return {};
}

Status PortRelay::take_raw() {
  if (connection_.has_rest()) {
    to_sandbox_ += connection_.take_rest();
    return {};
  }
  std::array<char, http::kPieceBytes> bytes;
  const auto count = sys::read_some(connection_.fd(), bytes);
  if (!count && count.error().sys_errno == EAGAIN) return {};
  if (TRY(count) == 0) is_over_ = true;
  to_sandbox_.append(bytes.data(), *count);
  return {};
}

void PortRelay::take_answer() {
  const std::string bytes = http::read_piece(ends_.output[0]);
  if (to_client_.empty()) taken_at_ = PortClock::now();
  Status taken = answer_.take(bytes, to_client_);
  if (taken && !ends_.output[0]) taken = answer_.end(to_client_);
  is_damaged_ = !taken;
}

Status PortRelay::pass_answer() {
  const auto count = sys::write_some(connection_.fd(), to_client_);
  if (!count && count.error().sys_errno == EAGAIN) return {};
  to_client_.erase(0, TRY(count));
  taken_at_ = PortClock::now();
  return {};
}

struct Dialled {
  std::shared_ptr<sandbox::Resident> resident;
  std::shared_ptr<sandbox::Process> process;
  http::Ends ends;
  bool is_connected = false;
};

// A process of the sandbox's own connects, so that it is the same whatever its backend is.
Result<Dialled> dial(service::AgentSandbox& agent, std::uint16_t port) {
  const std::string program = agent.host_program();
  if (program.empty()) return fail(Error::unsupported("the sandbox has no hutch-host, which connects to its ports"));
  http::Streams streams = TRY(http::make_streams());
  sandbox::ProcessRequest request = TRY(agent.request({program, "port", std::to_string(port)}, "/", {}));
  request.shown = sandbox::ProcessRequest::Shown::kNo;
  Dialled dialled{.resident = TRY(agent.resident()), .process = {}, .ends = std::move(streams.ends)};
  dialled.process = TRY(dialled.resident->spawn(std::move(request), std::move(streams.given)));
  const auto until = PortClock::now() + kDialMax;
  char first = 0;
  while (PortClock::now() < until) {
    pollfd output{dialled.ends.output[0].get(), POLLIN, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - PortClock::now());
    if (TRY(sys::poll({&output, 1}, left)) == 0) break;
    const std::size_t count = TRY(sys::read_some(output.fd, {&first, 1}));
    dialled.is_connected = count == 1 && first == wire::kDialled;
    break;
  }
  return dialled;
}

Answer closed_port(const http::SandboxPort& port) {
  return e2b::json(502, tool::Value(tool::Value::Object{{"sandboxId", port.id},
                                                        {"message", "The sandbox is running but port is not open"},
                                                        {"port", static_cast<std::int64_t>(port.port)},
                                                        {"code", 502}}));
}

}  // namespace

std::optional<Answer> serve_sandbox_port(Exchange& exchange, const http::SandboxPort& port) {
  const auto sandbox = exchange.shared().e2b->find(port.id, "");
  const std::string token = sandbox ? (*sandbox)->record().token : "";
  // Nobody without its token is told that it is there.
  if (!sandbox || !shows_port_token(exchange, http::port_token(token))) {
    Answer answer = e2b::error_answer(
        401, "a port of a sandbox needs its token: e2b-traffic-access-token, or the password of Basic authentication");
    answer.fields.push_back({"WWW-Authenticate", "Basic realm=\"sandbox\""});
    return answer;
  }
  auto found = e2b::entered(exchange, *sandbox);
  if (const auto* refused = std::get_if<e2b::NotInside>(&found)) {
    return e2b::error_answer(refused->status, refused->problem.message);
  }
  const e2b::Inside& inside = std::get<e2b::Inside>(found);
  const auto place = take_process_place(inside.key);
  if (!place) return e2b::error_answer(place.error());
  auto dialled = dial(*inside.agent, port.port);
  if (!dialled) return e2b::error_answer(dialled.error());
  const auto end = [&] { dialled->resident->end(dialled->process, sandbox::EndedBy::kSignal); };
  if (!dialled->is_connected) {
    end();
    return closed_port(port);
  }
  std::vector<std::string> secrets = {token, http::port_token(token), exchange.guard() ? exchange.guard()->token : ""};
  for (e2b::NamedKey& one : e2b::keys_beside(exchange.shared().agents.dirs().config).keys) {
    secrets.push_back(std::move(one.key));
  }
  PortRelay relay(exchange, dialled->ends, http::forwarded_head(exchange.request(), secrets));
  const Status done = relay.run();
  dialled->ends = {};
  end();
  if (!done || !relay.is_unanswered()) return std::nullopt;
  return e2b::error_answer(502, "what listens at that port of the sandbox gave no answer of HTTP/1");
}

}  // namespace hutch::server
