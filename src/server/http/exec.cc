// The route that runs a command to its end: with an answer of JSON, or with events while it runs.
#include <poll.h>

#include <array>

#include "base/base64.h"
#include "base/text.h"
#include "server/http/attended.h"
#include "server/http/process_view.h"
#include "server/http/routes.h"
#include "server/protocol/http_streams.h"
#include "sys/io.h"

namespace hutch::server::http {

namespace {

using sandbox::Process;
using std::chrono::milliseconds;

constexpr milliseconds kExecEndWait{60'000};

Result<sandbox::ProcessEnd> exec_end(const Process& process) {
  auto end = process.wait(Process::Clock::now() + kExecEndWait);
  if (!end) return fail(Error{Code::kTimeout, 0, "the command does not end"});
  return std::move(*end);
}

// Passes on what the command writes. Nothing is kept of it, and a client that reads slowly slows the command.
class Relay {
 public:
  Relay(Exchange& exchange, Ends ends, std::string input)
      : exchange_(exchange), ends_(std::move(ends)), input_(std::move(input)) {}

  // Until it has ended. An error when the client has gone.
  Status run(const Process& process);

 private:
  Status pass(std::size_t index);  // what there is of one stream, once
  void feed();

  Exchange& exchange_;
  Ends ends_;
  std::string input_;
};

Status Relay::run(const Process& process) {
  const UniqueFd ended = TRY(process.notice(Process::Notice::kEnd));
  if (input_.empty()) ends_.input.reset();
  for (;;) {
    std::array<pollfd, 5> wait = {{{exchange_.connection().fd(), exchange_.connection().gone_events(), 0},
                                   {ends_.output[0].get(), POLLIN, 0},
                                   {ends_.output[1].get(), POLLIN, 0},
                                   {ends_.input.get(), POLLOUT, 0},
                                   {ended.get(), POLLIN, 0}}};
    const int ready = TRY(sys::poll(wait, kPing));
    if (wait[0].revents != 0) return fail(Error::invalid("the client has gone"));
    if (ready == 0) TRY(exchange_.send_ping());
    for (const std::size_t index : {0U, 1U}) {
      if (wait[1 + index].revents != 0) TRY(pass(index));
    }
    if (wait[3].revents != 0) feed();
    if (wait[4].revents == 0) continue;
    // What it wrote is all there once it has ended, and no more than a pipe holds. A child that goes on may hold its
    // streams open for long: that is not waited for.
    for (const std::size_t index : {0U, 1U}) {
      if (ends_.output.at(index)) TRY(pass(index));
    }
    return {};
  }
}

Status Relay::pass(std::size_t index) {
  const std::string piece = read_piece(ends_.output.at(index));
  if (piece.empty()) return {};
  return exchange_.send_event(index == 0 ? "stdout" : "stderr", Value(Value::Object{{"base64", to_base64(piece)}}));
}

void Relay::feed() {
  write_piece(ends_.input, input_);
  if (input_.empty()) ends_.input.reset();
}

Handled stream_exec(Exchange& exchange, service::AgentSandbox& agent, CommandBody body) {
  Streams streams = TRY(make_streams());
  const auto resident = TRY(started(exchange, agent));
  sandbox::ProcessRequest request = TRY(process_request(agent, body));
  const auto process = TRY(resident->spawn(std::move(request), std::move(streams.given)));
  const auto relay = [&]() -> Status {
    TRY(exchange.begin_events());
    TRY(exchange.send_event("started", Value(process_object(*process))));
    TRY(Relay(exchange, std::move(streams.ends), std::move(body.input)).run(*process));
    return {};
  };
  const Status relayed = relay();
  if (!process->end()) resident->end(process, sandbox::EndedBy::kSignal);
  if (!relayed) return fail(relayed.error());
  const sandbox::ProcessEnd end = TRY(exec_end(*process));
  TRY(exchange.send_event("exit", Value(end_object(end))));
  return Streamed{};
}

Handled post_exec(Exchange& exchange) {
  const auto agent = TRY(exchange.agent());
  CommandBody body = TRY(read_command(exchange, *agent));
  if (body.writes_input) return fail(Error::invalid("input is for processes: here stdin is said at once"));
  if (exchange.wants_events()) return stream_exec(exchange, *agent, std::move(body));
  const Encoding encoding = TRY(encoding_of(exchange));
  const auto resident = TRY(started(exchange, *agent));
  sandbox::ProcessRequest request = TRY(process_request(*agent, body));
  const auto input = body.input.empty() ? sandbox::Input::kNone : sandbox::Input::kWritten;
  const auto process = TRY(resident->spawn(std::move(request), input));
  const auto stayed = attend(exchange, *process, body.input);
  if (!process->end()) resident->end(process, sandbox::EndedBy::kSignal);
  TRY(stayed);
  Value::Object result = end_object(TRY(exec_end(*process)));
  result["id"] = process->id();
  add_output(result, *process, encoding);
  return json_answer(200, tool::json_text(Value(std::move(result))));
}

constexpr std::array kExecRoutes = {Route{"POST", "/v1/agents/{name}/exec", BodyType::kJson, post_exec},
                                    Route{"POST", "/v1/sessions/{session}/exec", BodyType::kJson, post_exec}};

}  // namespace

std::span<const Route> exec_routes() { return kExecRoutes; }

}  // namespace hutch::server::http
