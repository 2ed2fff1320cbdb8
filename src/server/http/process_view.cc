// Processes as the HTTP API takes and shows them.
#include "server/http/process_view.h"

#include <poll.h>

#include <array>

#include "base/base64.h"
#include "base/text.h"
#include "server/protocol/call_reader.h"
#include "store/record.h"
#include "sys/io.h"

namespace hutch::server::http {

namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kRequestTimeoutMax = 366LL * 24 * 3600 * 1000;

Result<std::vector<std::string>> environment_in(const Value::Object& body) {
  std::vector<std::string> environment;
  const auto found = body.find("env");
  if (found == body.end() || found->second.is_null()) return environment;
  const auto* variables = found->second.get<Value::Object>();
  if (variables == nullptr) return fail(Error::invalid("env must be an object of texts"));
  for (const auto& [name, value] : *variables) {
    const auto* text = value.get<std::string>();
    if (text == nullptr || text->contains('\0')) return fail(Error::invalid("env must be an object of texts"));
    if (name.empty() || name.contains('=') || name.contains('\0')) {
      return fail(Error::invalid(cat({"env: ", printable(name, 64), " is no variable's name"})));
    }
    environment.push_back(cat({name, "=", *text}));
  }
  return environment;
}

Result<std::string> input_in(const Value::Object& body) {
  const auto text_of = [&](std::string_view key) -> Result<std::optional<std::string>> {
    const auto found = body.find(key);
    if (found == body.end() || found->second.is_null()) return std::optional<std::string>();
    const auto* text = found->second.get<std::string>();
    if (text == nullptr) return fail(Error::invalid(cat({key, " must be text"})));
    return std::optional(*text);
  };
  const auto text = TRY(text_of("stdin"));
  const auto encoded = TRY(text_of("stdinBase64"));
  if (text && encoded) return fail(Error::invalid("stdin and stdinBase64: one of them"));
  if (!encoded) return text.value_or("");
  auto bytes = from_base64(*encoded);
  if (!bytes) return fail(Error::invalid("stdinBase64 is no base64"));
  return std::move(*bytes);
}

}  // namespace

Result<CommandBody> read_command(const Exchange& exchange, const service::AgentSandbox& agent) {
  const Value::Object body =
      TRY(exchange.body_object({"command", "arguments", "cwd", "env", "timeoutMs", "stdin", "stdinBase64", "input"}));
  return command_of(body, agent);
}

Result<CommandBody> command_of(const Value::Object& body, const service::AgentSandbox& agent) {
  const std::string& shell = agent.layout().shell;
  return command_of(body, shell.empty() ? std::string("/bin/sh") : shell);
}

Result<CommandBody> command_of(const Value::Object& body, const std::string& shell) {
  const CallReader reader(body);
  CommandBody command;
  command.arguments = TRY(reader.texts("arguments"));
  const std::string line = TRY(reader.optional_text("command"));
  if (line.empty() == command.arguments.empty()) {
    return fail(Error::invalid("either command, which a shell reads, or arguments"));
  }
  if (!line.empty()) {
    command.arguments = {shell, "-c", line};
  }
  if (command.arguments.front().empty()) return fail(Error::invalid("the first of arguments is empty"));
  command.cwd = TRY(reader.optional_text("cwd"));
  command.environment = TRY(environment_in(body));
  const std::int64_t timeout = TRY(reader.number("timeoutMs", 0));
  if (timeout < 0 || timeout > kRequestTimeoutMax) return fail(Error::invalid("timeoutMs is out of range"));
  command.timeout = milliseconds(timeout);
  command.input = TRY(input_in(body));
  command.writes_input = TRY(reader.truth("input"));
  return command;
}

Result<sandbox::ProcessRequest> process_request(service::AgentSandbox& agent, const CommandBody& body) {
  sandbox::ProcessRequest request = TRY(agent.request(body.arguments, body.cwd, body.environment));
  request.timeout = body.timeout;
  return request;
}

Result<bool> attend(Exchange& exchange, sandbox::Process& process, std::string_view input) {
  const UniqueFd ended = TRY(process.notice(sandbox::Process::Notice::kEnd));
  static constexpr milliseconds kSlice{100};
  while (!process.end()) {
    if (!input.empty()) {
      // In pieces of a pipe's atomic write, so that it is known how much has gone (pipe(7), PIPE_BUF).
      const std::string_view piece = input.substr(0, 4096);
      const Status written = process.write_input(piece, sandbox::Process::Clock::now() + kSlice);
      if (written || written.error().code != Code::kTimeout) input.remove_prefix(written ? piece.size() : input.size());
      if (input.empty()) process.close_input();
    }
    std::array<pollfd, 2> wait = {
        {{exchange.connection().fd(), exchange.connection().gone_events(), 0}, {ended.get(), POLLIN, 0}}};
    TRY(sys::poll(wait, input.empty() ? std::nullopt : std::optional(milliseconds(0))));
    if (wait[0].revents != 0) return false;
  }
  return true;
}

Value::Object end_object(const sandbox::ProcessEnd& end) {
  return {{"exitCode", end.exit_code},
          {"signal", end.signal},
          {"endedBy", sandbox::name_of(end.ended_by)},
          {"timedOut", sandbox::is_timeout(end.ended_by)},
          {"killed", sandbox::is_killed(end.ended_by)},
          {"durationMs", end.duration.count()},
          {"reason", end.reason}};
}

Value::Object process_object(const sandbox::Process& process) {
  Value::List arguments;
  for (const std::string& argument : process.arguments()) arguments.emplace_back(argument);
  const auto end = process.end();
  Value::Object object{{"id", process.id()},
                       {"pid", static_cast<std::int64_t>(process.pid_inside())},
                       {"arguments", std::move(arguments)},
                       {"started", store::format_time(std::chrono::time_point_cast<milliseconds>(process.started()))},
                       {"running", !end.has_value()}};
  if (end) object["end"] = end_object(*end);
  return object;
}

void add_output(Value::Object& object, const sandbox::Process& process, Encoding encoding) {
  for (const auto stream : {sandbox::OutputStream::kOutput, sandbox::OutputStream::kError}) {
    const std::string name = stream == sandbox::OutputStream::kOutput ? "stdout" : "stderr";
    const sandbox::Capture captured = process.captured(stream);
    const std::string bytes = captured.head() + std::string(captured.tail());
    if (encoding == Encoding::kBase64) {
      object[name + "Base64"] = to_base64(bytes);
    } else {
      object[name] = captured.bytes_left_out() > 0 ? captured.text() : bytes;
    }
    object[name + "OmittedBytes"] = captured.bytes_left_out();
  }
}

Result<Encoding> encoding_of(const Exchange& exchange) {
  const std::string encoding = exchange.query("encoding");
  if (encoding.empty() || encoding == "text") return Encoding::kText;
  if (encoding == "base64") return Encoding::kBase64;
  return fail(Error::invalid("encoding is text or base64"));
}

}  // namespace hutch::server::http
