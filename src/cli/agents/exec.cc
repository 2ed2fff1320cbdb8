// hutch exec and hutch shell.
#include "cli/agents/exec.h"

#include "base/text.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "client/attach.h"
#include "client/exec.h"
#include "sys/io.h"
#include "sys/process/host_info.h"
#include "sys/process/unwaiting.h"
#include "wire/daemon.h"

namespace hutch::cli {

namespace {

using client::Value;

// A refusal holds a path twice, and each byte of it may be escaped.
constexpr std::size_t kRefusalBytesMax = 64 << 10;

Result<std::vector<std::string>> environment_of(const ExecArguments& arguments) {
  std::vector<std::string> environment;
  if (const auto terminal = sys::environment_variable("TERM")) environment.push_back(cat({"TERM=", *terminal}));
  for (const std::string& entry : arguments.environment) {
    if (entry.contains('=')) {
      environment.push_back(entry);
      continue;
    }
    const auto value = sys::environment_variable(entry.c_str());
    if (!value) return fail(Error::invalid(cat({"--env: ", entry, " is not set here; write ", entry, "=VALUE"})));
    environment.push_back(cat({entry, "=", *value}));
  }
  return environment;
}

// To its end. A process that takes no more of it, since it has ended, has what it wanted.
Status pass_input(client::DaemonClient& daemon, const ExecArguments& arguments, const std::string& pid) {
  constexpr char kEndOfInput = 'D' & 0x1f;  // VEOF of a new terminal, termios(3)
  std::vector<char> bytes(64 << 10);
  bool within_line = false;
  for (bool open = true; open;) {
    const std::size_t count = TRY(sys::read_some(0, bytes));
    open = count > 0;
    std::string piece(bytes.data(), count);
    if (!open && arguments.tty == Tty::kYes) piece.append(within_line ? 2 : 1, kEndOfInput);
    if (open) within_line = piece.back() != '\n';
    const auto written = daemon.call(
        "process.write",
        {{"agent", arguments.agent}, {"pid", pid}, {"bytes", wire::text_of_bytes(piece)}, {"close", !open}});
    if (!written && written.error().code == Code::kConflict) return {};
    if (!written) return fail(written.error());
  }
  return {};
}

int spawn(client::DaemonClient& daemon, const ExecArguments& arguments, const std::vector<std::string>& environment) {
  Value::Object call{{"agent", arguments.agent},
                     {"arguments", Value::List(arguments.command.begin(), arguments.command.end())},
                     {"environment", Value::List(environment.begin(), environment.end())},
                     {"cwd", arguments.cwd},
                     {"input", true},
                     {"timeout_ms", arguments.timeout.count()}};
  if (arguments.tty == Tty::kYes) {
    const sys::TerminalSize size = client::own_terminal_size();
    call["terminal"] = true;
    call["rows"] = static_cast<std::int64_t>(size.rows);
    call["columns"] = static_cast<std::int64_t>(size.columns);
  }
  const auto result = daemon.call("process.spawn", std::move(call));
  if (!result) return complain(result.error());
  const std::string pid = text_in(*result, "pid");
  const bool json = arguments.form == service::OutputForm::kJson;
  const int printed = print((json ? tool::json_text(*result) : pid) + "\n");
  if (arguments.input == Input::kLeftOpen || printed != 0) return printed;
  const Status passed = pass_input(daemon, arguments, pid);
  return passed ? 0 : complain(Error(passed.error()).with_context(cat({"process ", pid, " runs; its input"})));
}

// bash runs PROMPT_COMMAND before each prompt; others expand PS1.
constexpr const char* kLoginShell =
    "if [ -x /bin/bash ]; then exec /bin/bash -l; else PS1=\"${HUTCH_STATUS}\n$ \"; export PS1; exec /bin/sh -l; fi";
constexpr const char* kPromptCommand = R"(PROMPT_COMMAND=printf '%s\n' "$HUTCH_STATUS")";

// What a sandbox of that agent may do, above each prompt.
void add_status_line(client::DaemonClient& daemon, client::ExecRequest& request) {
  const auto answer = daemon.call("agent.status_line", {{"agent", request.agent}});
  if (!answer) return;
  request.environment.push_back(cat({"HUTCH_STATUS=", text_in(*answer, "line")}));
  request.environment.emplace_back(kPromptCommand);
}

}  // namespace

int exec(const ExecArguments& arguments) {
  const auto environment = environment_of(arguments);
  if (!environment) return complain(environment.error());
  auto daemon = own_daemon();
  if (!daemon) return complain(daemon.error());
  if (arguments.detach == Detach::kYes) return spawn(*daemon, arguments, *environment);
  client::ExecRequest request{.agent = arguments.agent,
                              .arguments = arguments.command,
                              .environment = *environment,
                              .cwd = arguments.cwd,
                              .timeout = arguments.timeout};
  if (arguments.tty == Tty::kYes) request.terminal = sandbox::Terminal::kAlways;
  // The shell of the sandbox; which one is there, it knows itself.
  if (request.arguments.empty()) {
    request.arguments = {"/bin/sh", "-c", kLoginShell};
    add_status_line(*daemon, request);
  }
  const auto end = client::exec(*daemon, request);
  if (!end) return complain(end.error());
  for (const std::string& refusal : end->refusals) {
    (void)sys::write_until_told(2, cat({"hutch: ", printable(refusal, kRefusalBytesMax), "\n"}));
  }
  for (const std::string& note : end->notes) {
    (void)sys::write_until_told(2, cat({"hutch: ", printable(note), "\n"}));
  }
  if (!end->reason.empty()) (void)sys::write_until_told(2, cat({"hutch: ", printable(end->reason), "\n"}));
  if (end->timed_out) (void)sys::write_until_told(2, "hutch: ended by the timeout\n");
  return code_with_output(end->exit_code, end->lost_output);
}

}  // namespace hutch::cli
