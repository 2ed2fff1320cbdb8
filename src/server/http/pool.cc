// Routes about the daemon's pool: what there is, and a sandbox for whoever asks, until they give it back.
#include <array>

#include "server/http/process_view.h"
#include "server/http/routes.h"
#include "server/protocol/call_reader.h"

namespace hutch::server::http {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPoolEndWait{60'000};

PoolDesk::IsGone gone_of(Exchange& exchange) {
  return [&connection = exchange.connection()] { return connection.is_gone(); };
}

Handled get_pool(Exchange& exchange) { return json_answer(200, tool::json_text(exchange.shared().pool.stats())); }

Handled post_pool_fill(Exchange& exchange) {
  const Value::Object body =
      TRY(exchange.body_object({"count", "backend", "trust", "image", "memory", "cpu", "pids", "env", "mounts"}));
  const std::int64_t count = TRY(CallReader(body).number("count", 1));
  TRY(exchange.shared().pool.fill(body, count, gone_of(exchange)));
  return get_pool(exchange);
}

// What there is then: those that end are among it.
Handled post_pool_drain(Exchange& exchange) {
  (void)exchange.shared().pool.drain();
  return get_pool(exchange);
}

Handled acquire(Exchange& exchange) {
  const Value::Object body =
      TRY(exchange.body_object({"backend", "trust", "image", "memory", "cpu", "pids", "env", "mounts"}));
  PoolDesk& pool = exchange.shared().pool;
  const PoolDesk::Acquired acquired = TRY(pool.acquire(body, gone_of(exchange)));
  // Nobody else knows its id.
  const auto give_back = [&pool, id = acquired.id] { (void)pool.give_back(id, PoolDesk::How::kRelease); };
  if (exchange.connection().is_gone()) {
    give_back();
    return fail(Error{Code::kConflict, 0, "whoever asked for the sandbox went away"});
  }
  Value::Object told = pool_limits_object(acquired.held->spec);
  told.emplace("id", acquired.id);
  Answer created = json_answer(201, tool::json_text(Value(std::move(told))));
  created.undelivered = give_back;
  return created;
}

// Ends with the client, or by itself.
Result<sandbox::ProcessEnd> follow_exec(Exchange& exchange, sandbox::PooledSandbox& sandbox,
                                        const std::shared_ptr<sandbox::Process>& process, const std::string& input) {
  const auto stayed = attend(exchange, *process, input);
  if (!process->end()) sandbox.end(process, sandbox::EndedBy::kSignal);
  TRY(stayed);
  auto end = process->wait(sandbox::Process::Clock::now() + kPoolEndWait);
  if (!end) return fail(Error{Code::kTimeout, 0, "the command does not end"});
  return std::move(*end);
}

Handled post_pool_exec(Exchange& exchange) {
  const auto held = TRY(exchange.shared().pool.find(exchange.part("id")));
  const Value::Object body =
      TRY(exchange.body_object({"command", "arguments", "cwd", "env", "timeoutMs", "stdin", "stdinBase64"}));
  CommandBody command = TRY(command_of(body, std::string("/bin/sh")));
  const Encoding encoding = TRY(encoding_of(exchange));
  const auto input = command.input.empty() ? sandbox::Input::kNone : sandbox::Input::kWritten;
  sandbox::ProcessRequest request{.arguments = std::move(command.arguments),
                                  .environment = std::move(command.environment),
                                  .cwd = std::move(command.cwd),
                                  .timeout = command.timeout.count() > 0 ? command.timeout : held->timeout};
  ++held->running;
  const auto run = [&]() -> Handled {
    const auto process = TRY(held->lease.sandbox->spawn(std::move(request), input));
    Value::Object result = end_object(TRY(follow_exec(exchange, *held->lease.sandbox, process, command.input)));
    add_output(result, *process, encoding);
    return value_answer(200, std::move(result));
  };
  Handled handled = run();
  --held->running;
  held->used = PoolDesk::Clock::now();
  return handled;
}

Handled release(Exchange& exchange) {
  TRY(exchange.shared().pool.give_back(exchange.part("id"), PoolDesk::How::kRelease));
  return value_answer(200, Value::Object());
}

Handled destroy(Exchange& exchange) {
  TRY(exchange.shared().pool.give_back(exchange.part("id"), PoolDesk::How::kDestroy));
  return value_answer(200, Value::Object());
}

constexpr std::array kPoolRoutes = {
    Route{"GET", "/v1/pool", BodyType::kNone, get_pool},
    Route{"POST", "/v1/pool/fill", BodyType::kJson, post_pool_fill},
    Route{"POST", "/v1/pool/drain", BodyType::kNone, post_pool_drain},
    Route{"POST", "/v1/pool/sandboxes", BodyType::kJson, acquire},
    Route{"POST", "/v1/pool/sandboxes/{id}/exec", BodyType::kJson, post_pool_exec},
    Route{"POST", "/v1/pool/sandboxes/{id}/release", BodyType::kNone, release},
    Route{"DELETE", "/v1/pool/sandboxes/{id}", BodyType::kNone, destroy},
};

}  // namespace

std::span<const Route> pool_routes() { return kPoolRoutes; }

}  // namespace hutch::server::http
