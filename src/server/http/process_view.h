// Processes as the HTTP API takes and shows them.
#pragma once

#include <string>

#include "sandbox/resident/resident.h"
#include "server/http/exchange.h"

namespace hutch::server::http {

// What a body asks for: {"command" or "arguments", "cwd", "env", "timeoutMs", "stdin" or "stdinBase64", "input"}.
struct CommandBody {
  std::vector<std::string> arguments;
  std::string cwd;
  std::vector<std::string> environment;
  std::chrono::milliseconds timeout{0};
  std::string input;         // all of its stdin
  bool writes_input = false;  // stdin is written later
};
Result<CommandBody> read_command(const Exchange& exchange, const service::AgentSandbox& agent);
// The same of an object whose members are known to be such.
Result<CommandBody> command_of(const Value::Object& body, const service::AgentSandbox& agent);
// With the shell that reads a line.
Result<CommandBody> command_of(const Value::Object& body, const std::string& shell);
Result<sandbox::ProcessRequest> process_request(service::AgentSandbox& agent, const CommandBody& body);

// Writes what is to be its stdin while it runs. Whether the client was there until its end.
Result<bool> attend(Exchange& exchange, sandbox::Process& process, std::string_view input);

Value::Object end_object(const sandbox::ProcessEnd& end);
Value::Object process_object(const sandbox::Process& process);
// What is kept of both streams: stdout, stderr, stdoutOmittedBytes, stderrOmittedBytes. With `base64` for bytes that
// need not be text.
enum class Encoding { kText, kBase64 };
void add_output(Value::Object& object, const sandbox::Process& process, Encoding encoding);
Result<Encoding> encoding_of(const Exchange& exchange);  // ?encoding=base64

}  // namespace hutch::server::http
