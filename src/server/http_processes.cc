// Routes of processes in the background.
#include <poll.h>
#include <signal.h>

#include <array>

#include "base/base64.h"
#include "base/text.h"
#include "server/http_process_view.h"
#include "server/http_routes.h"
#include "server/session.h"
#include "service/scrubbed_value.h"
#include "sys/io.h"

namespace hutch::server::http {

namespace {

using sandbox::Process;
using std::chrono::milliseconds;

constexpr milliseconds kInputWait{30'000};
constexpr milliseconds kKillWait{10'000};
constexpr milliseconds kPing{15'000};
constexpr std::int64_t kWaitMax = 24LL * 3600 * 1000;

struct Found {
  std::shared_ptr<sandbox::Resident> resident;
  std::shared_ptr<Process> process;
};

Result<Found> find(Exchange& exchange) {
  const auto agent = TRY(exchange.agent());
  Found found;
  // A sandbox is not started to be told that nothing runs in it.
  found.resident = agent->running();
  if (found.resident) found.process = found.resident->find(exchange.part("id"));
  if (found.process) return found;
  return fail(
      Error::not_found(cat({"agent ", exchange.part("name"), " has no process ", printable(exchange.part("id"), 32)})));
}

Handled json(int status, Value::Object object) {
  return json_answer(status, tool::json_text(Value(std::move(object))));
}

Handled spawn(Exchange& exchange) {
  const auto agent = TRY(exchange.agent());
  const CommandBody body = TRY(read_command(exchange, *agent));
  if (body.writes_input && !body.input.empty()) {
    return fail(Error::invalid("stdin is all of the input: with input it is written later"));
  }
  sandbox::ProcessRequest request = TRY(process_request(*agent, body));
  const auto resident = TRY(agent->resident());
  const bool written = body.writes_input || !body.input.empty();
  const auto process =
      TRY(resident->spawn(std::move(request), written ? sandbox::Input::kWritten : sandbox::Input::kNone));
  if (!body.input.empty()) {
    exchange.shared().workers.run([process, input = body.input] {
      (void)process->write_input(input, Process::Clock::now() + kInputWait);
      process->close_input();
    });
  }
  return json(201, process_object(*process));
}

Handled list(Exchange& exchange) {
  const auto agent = TRY(exchange.agent());
  Value::List processes;
  if (const auto resident = agent->running()) {
    for (const auto& process : resident->list()) processes.emplace_back(process_object(*process));
  }
  // Whoever lists them did not start each of them.
  return json(200, {{"processes", service::scrubbed(*agent->secrets().scrubber(), Value(std::move(processes)))}});
}

Handled show(Exchange& exchange) { return json(200, process_object(*TRY(find(exchange)).process)); }

struct Following {
  std::uint64_t next[2] = {0, 0};
  bool ended[2] = {false, false};
};

// Tells what is there of both streams; whether there was anything.
Result<bool> tell_output(Exchange& exchange, const Process& process, Following& following) {
  bool any = false;
  for (const auto stream : {sandbox::OutputStream::kOutput, sandbox::OutputStream::kError}) {
    const auto index = static_cast<std::size_t>(stream);
    if (following.ended[index]) continue;
    const Process::Read read = process.read(stream, following.next[index], Process::Clock::now());
    following.next[index] = read.piece.next;
    following.ended[index] = read.ended;
    if (read.piece.bytes.empty()) continue;
    any = true;
    const Value::Object data{{"base64", to_base64(read.piece.bytes)}, {"skippedBytes", read.piece.skipped}};
    TRY(exchange.send_event(index == 0 ? "stdout" : "stderr", Value(data)));
  }
  return any;
}

Handled follow(Exchange& exchange, const Process& process) {
  const UniqueFd changed = TRY(process.notice(Process::Notice::kChange));
  Following following;
  TRY(exchange.begin_events());
  for (;;) {
    const auto end = process.end();
    if (TRY(tell_output(exchange, process, following))) continue;
    if (end) {
      TRY(exchange.send_event("exit", Value(end_object(*end))));
      return Streamed{};
    }
    std::array<pollfd, 2> wait = {
        {{changed.get(), POLLIN, 0}, {exchange.connection().fd(), exchange.connection().gone_events(), 0}}};
    const int ready = TRY(sys::poll(wait, kPing));
    if (wait[1].revents != 0) return Streamed{};
    if (ready == 0) TRY(exchange.send_ping());
    if (wait[0].revents != 0) Process::clear(changed.get());
  }
}

Handled output(Exchange& exchange) {
  const Found found = TRY(find(exchange));
  if (exchange.wants_events()) return follow(exchange, *found.process);
  Value::Object object = process_object(*found.process);
  add_output(object, *found.process, TRY(encoding_of(exchange)));
  return json(200, std::move(object));
}

Handled write(Exchange& exchange) {
  const Found found = TRY(find(exchange));
  const bool close = TRY(exchange.query_flag("close"));
  const std::string& bytes = exchange.request().body;
  if (!bytes.empty()) TRY(found.process->write_input(bytes, Process::Clock::now() + kInputWait));
  if (close) found.process->close_input();
  return Answer{.status = 204, .type = {}};
}

Handled kill(Exchange& exchange) {
  const Found found = TRY(find(exchange));
  const Value::Object body = TRY(exchange.body_object({"signal"}));
  const auto given = body.find("signal");
  const bool asked = given != body.end() && !given->second.is_null();
  const std::int64_t number = TRY(CallReader(body).number("signal", 0));
  // 0 would be none at all to kill(2): whoever says it does not want the end of the process.
  if (asked && (number <= 0 || number >= NSIG)) return fail(Error::invalid("signal is out of range"));
  const bool running = !found.process->end().has_value();
  if (number == 0) {
    found.resident->end(found.process, sandbox::EndedBy::kSignal);
    (void)found.process->wait(Process::Clock::now() + kKillWait);
  } else if (running) {
    TRY(found.resident->signal(*found.process, static_cast<int>(number), wire::SignalTarget::kTree));
  }
  Value::Object object = process_object(*found.process);
  object["killed"] = running;
  return json(200, std::move(object));
}

Handled wait(Exchange& exchange) {
  const Found found = TRY(find(exchange));
  const std::int64_t at_most = TRY(exchange.query_number("timeoutMs", kWaitMax));
  if (at_most < 0 || at_most > kWaitMax) return fail(Error::invalid("timeoutMs is out of range"));
  const auto deadline = Process::Clock::now() + milliseconds(at_most);
  const UniqueFd ended = TRY(found.process->notice(Process::Notice::kEnd));
  while (!found.process->end()) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Process::Clock::now());
    if (left.count() <= 0) break;
    std::array<pollfd, 2> wait = {
        {{ended.get(), POLLIN, 0}, {exchange.connection().fd(), exchange.connection().gone_events(), 0}}};
    TRY(sys::poll(wait, left));
    if (wait[1].revents != 0) return fail(Error::invalid("the client has gone"));
  }
  return show(exchange);
}

constexpr std::array kRoutes = {
    Route{"POST", "/v1/agents/{name}/processes", BodyType::kJson, spawn},
    Route{"GET", "/v1/agents/{name}/processes", BodyType::kNone, list},
    Route{"GET", "/v1/agents/{name}/processes/{id}", BodyType::kNone, show},
    Route{"GET", "/v1/agents/{name}/processes/{id}/output", BodyType::kNone, output},
    Route{"POST", "/v1/agents/{name}/processes/{id}/stdin", BodyType::kBytes, write},
    Route{"POST", "/v1/agents/{name}/processes/{id}/kill", BodyType::kJson, kill},
    Route{"POST", "/v1/agents/{name}/processes/{id}/wait", BodyType::kNone, wait},
};

}  // namespace

std::span<const Route> process_routes() { return kRoutes; }

}  // namespace hutch::server::http
