// Routes of processes in the background.
#include <poll.h>
#include <signal.h>

#include <array>

#include "base/base64.h"
#include "base/text.h"
#include "server/http/attended.h"
#include "server/http/process_view.h"
#include "server/http/routes.h"
#include "server/protocol/call_reader.h"
#include "service/common/scrubbed_value.h"
#include "sys/io.h"

namespace hutch::server::http {

namespace {

using sandbox::Process;
using std::chrono::milliseconds;

constexpr milliseconds kStdinWait{30'000};
constexpr milliseconds kKillWait{10'000};
constexpr std::int64_t kWaitMax = 24LL * 3600 * 1000;

struct FoundProcess {
  std::shared_ptr<sandbox::Resident> resident;
  std::shared_ptr<Process> process;
};

Result<FoundProcess> find_process(Exchange& exchange) {
  const auto agent = TRY(exchange.agent());
  FoundProcess found;
  // A sandbox is not started to be told that nothing runs in it.
  found.resident = agent->running();
  if (found.resident) found.process = found.resident->find(exchange.part("id"));
  if (found.process) return found;
  return fail(
      Error::not_found(cat({"agent ", exchange.part("name"), " has no process ", printable(exchange.part("id"), 32)})));
}

Handled post_processes(Exchange& exchange) {
  const auto agent = TRY(exchange.agent());
  const CommandBody body = TRY(read_command(exchange, *agent));
  if (body.writes_input && !body.input.empty()) {
    return fail(Error::invalid("stdin is all of the input: with input it is written later"));
  }
  const auto resident = TRY(started(exchange, *agent));
  sandbox::ProcessRequest request = TRY(process_request(*agent, body));
  const bool written = body.writes_input || !body.input.empty();
  const auto process =
      TRY(resident->spawn(std::move(request), written ? sandbox::Input::kWritten : sandbox::Input::kNone));
  if (!body.input.empty()) {
    exchange.shared().workers.run([process, input = body.input] {
      (void)process->write_input(input, Process::Clock::now() + kStdinWait);
      process->close_input();
    });
  }
  return value_answer(201, process_object(*process));
}

Handled get_processes(Exchange& exchange) {
  const auto agent = TRY(exchange.agent());
  Value::List processes;
  if (const auto resident = agent->running()) {
    for (const auto& process : resident->list()) processes.emplace_back(process_object(*process));
  }
  // Whoever lists them did not start each of them.
  Value shown = service::scrubbed(*agent->secrets().scrubber(), Value(std::move(processes)));
  return value_answer(200, Value::Object{{"processes", std::move(shown)}});
}

Handled get_process(Exchange& exchange) {
  return value_answer(200, process_object(*TRY(find_process(exchange)).process));
}

struct FollowedOutput {
  std::uint64_t next[2] = {0, 0};
  bool ended[2] = {false, false};
};

// Tells what is there of both streams; whether there was anything.
Result<bool> send_output_events(Exchange& exchange, const Process& process, FollowedOutput& following) {
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

Handled follow_process(Exchange& exchange, const Process& process) {
  const UniqueFd changed = TRY(process.notice(Process::Notice::kChange));
  FollowedOutput following;
  TRY(exchange.begin_events());
  for (;;) {
    const auto end = process.end();
    if (TRY(send_output_events(exchange, process, following))) continue;
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

Handled get_process_output(Exchange& exchange) {
  const FoundProcess found = TRY(find_process(exchange));
  if (exchange.wants_events()) return follow_process(exchange, *found.process);
  Value::Object object = process_object(*found.process);
  add_output(object, *found.process, TRY(encoding_of(exchange)));
  return value_answer(200, std::move(object));
}

Handled post_process_stdin(Exchange& exchange) {
  const FoundProcess found = TRY(find_process(exchange));
  const bool close = TRY(exchange.query_flag("close"));
  const std::string& bytes = exchange.request().body;
  if (!bytes.empty()) TRY(found.process->write_input(bytes, Process::Clock::now() + kStdinWait));
  if (close) found.process->close_input();
  return Answer{.status = 204, .type = {}};
}

Handled post_process_kill(Exchange& exchange) {
  const FoundProcess found = TRY(find_process(exchange));
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
  return value_answer(200, std::move(object));
}

Handled post_process_wait(Exchange& exchange) {
  const FoundProcess found = TRY(find_process(exchange));
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
  return get_process(exchange);
}

constexpr std::array kProcessRoutes = {
    Route{"POST", "/v1/agents/{name}/processes", BodyType::kJson, post_processes},
    Route{"GET", "/v1/agents/{name}/processes", BodyType::kNone, get_processes},
    Route{"GET", "/v1/agents/{name}/processes/{id}", BodyType::kNone, get_process},
    Route{"GET", "/v1/agents/{name}/processes/{id}/output", BodyType::kNone, get_process_output},
    Route{"POST", "/v1/agents/{name}/processes/{id}/stdin", BodyType::kBytes, post_process_stdin},
    Route{"POST", "/v1/agents/{name}/processes/{id}/kill", BodyType::kJson, post_process_kill},
    Route{"POST", "/v1/agents/{name}/processes/{id}/wait", BodyType::kNone, post_process_wait},
};

}  // namespace

std::span<const Route> process_routes() { return kProcessRoutes; }

}  // namespace hutch::server::http
