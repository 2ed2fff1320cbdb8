// sandbox_exec, sandbox_exec_background and sandbox_process: command lines read by the sandbox's own shell.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "base/text.h"
#include "tool/excerpt.h"
#include "tool/handlers.h"
#include "tool/random_name.h"
#include "tool/steps.h"

namespace hutch::tool {

namespace {

constexpr std::chrono::seconds kTimeoutMax{300};
constexpr std::chrono::milliseconds kWaitSlice{500};

Envelope poll_process(const Call& call, const std::string& id);
Envelope wait_for_process(const Call& call, const std::string& id);
Envelope kill_process(const Call& call, const std::string& id);
Envelope process_failed(const std::string& id, const Error& error);
std::string log_tail(const ProcessState& state, std::int64_t lines);
std::string last_lines(std::string_view text, std::int64_t lines);

}  // namespace

Envelope execute(const Call& call) {
  const std::expected<Located, Envelope> cwd = locate_directory(call, "cwd");
  if (!cwd) return cwd.error();
  if (std::optional<Envelope> refused = take_command(call)) return std::move(*refused);
  CallContext& context = call.context;
  const std::chrono::seconds timeout =
      timeout_of(call, std::clamp(context.settings.command_timeout, std::chrono::seconds(1), kTimeoutMax));
  const Command command{.arguments = {shell_of(context.place), "-c", call.arguments.text("command")},
                        .cwd = cwd->absolute,
                        .environment = environment(context.place.layout(), cwd->absolute),
                        .timeout = timeout,
                        .on_output = context.on_output,
                        .stop = context.stop};
  const Result<CommandEnd> end = context.place.run(command);
  end_command(call);
  if (!end) return failed("Failed to run the command", end.error(), Retry::kYes);
  return ended(*end, timeout,
               {{"stdout", excerpt(end->output, kOutputCharacters)},
                {"stderr", excerpt(end->error, kErrorCharacters)},
                {"exit_code", end->exit_code},
                {"cwd", cwd->absolute}});
}

Envelope execute_in_background(const Call& call) {
  const std::expected<Located, Envelope> cwd = locate_directory(call, "cwd");
  if (!cwd) return cwd.error();
  if (std::optional<Envelope> refused = take_command(call)) return std::move(*refused);
  Place& place = call.context.place;
  const Layout& layout = place.layout();
  // The shell reads all of the command, so that `a; b` is one process of the agent's, not `b` alone.
  const Command command{.arguments = {shell_of(place), "-c", call.arguments.text("command")},
                        .cwd = cwd->absolute,
                        .environment = environment(layout, cwd->absolute),
                        .error = ErrorStream::kIntoOutput,
                        .log_file = cat({layout.home, "/bg-", random_name(), ".log"})};
  const Result<std::string> id = place.spawn(command);
  end_command(call);
  if (!id) return failed("Failed to start the command", id.error(), Retry::kYes);
  const Result<ProcessState> state = place.poll(*id);
  const std::string log_file = state ? state->log_file : "";
  Envelope envelope = success({{"pid", *id}, {"log_file", log_file}, {"cwd", cwd->absolute}});
  if (log_file.empty()) {
    envelope.warnings.emplace_back(
        "Its output is kept, but in no file of the sandbox: read it with `sandbox_process`.");
  }
  return envelope;
}

Envelope control_process(const Call& call) {
  const std::string& action = call.arguments.text("action");
  const std::string& id = call.arguments.text("pid");
  if (action == "poll") return poll_process(call, id);
  if (action == "wait") return wait_for_process(call, id);
  return kill_process(call, id);
}

namespace {

Envelope poll_process(const Call& call, const std::string& id) {
  const Result<ProcessState> state = call.context.place.poll(id);
  if (!state) return process_failed(id, state.error());
  Value::Object result = {{"pid", id},
                          {"alive", state->running},
                          {"log_file", state->log_file},
                          {"log_tail", log_tail(*state, call.arguments.number("tail_lines").value_or(0))}};
  if (state->end) result.emplace("exit_code", state->end->exit_code);
  return success(std::move(result));
}

// In slices, so that a cancelled call ends soon although nothing happens in the sandbox. The process goes on.
Envelope wait_for_process(const Call& call, const std::string& id) {
  CallContext& context = call.context;
  const TimePoint deadline = context.now() + timeout_of(call, std::chrono::seconds(60));
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - context.now());
    const auto slice = std::clamp(left, std::chrono::milliseconds(0), kWaitSlice);
    const Result<ProcessState> state = context.place.wait(id, slice);
    if (!state) return process_failed(id, state.error());
    if (state->running && left > slice && !context.stop.stop_requested()) continue;
    Value::Object result = {{"pid", id},
                            {"exited", !state->running},
                            {"timed_out", state->running},
                            {"log_file", state->log_file},
                            {"log_tail", log_tail(*state, call.arguments.number("tail_lines").value_or(0))}};
    if (state->end) result.emplace("exit_code", state->end->exit_code);
    return success(std::move(result));
  }
}

Envelope kill_process(const Call& call, const std::string& id) {
  const bool force = call.arguments.is_set("force");
  const Result<bool> killed = call.context.place.kill(id, force ? SIGKILL : SIGTERM);
  if (!killed) return process_failed(id, killed.error());
  Envelope envelope = success({{"pid", id}, {"killed", *killed}, {"signal", force ? "SIGKILL" : "SIGTERM"}});
  if (!*killed) envelope.warnings.emplace_back("It had ended already.");
  return envelope;
}

Envelope process_failed(const std::string& id, const Error& error) {
  if (error.code == Code::kNotFound) {
    Envelope envelope = failure(Kind::kNotFound, cat({"This agent has no process `", printable(id), "`."}));
    envelope.field = "pid";
    envelope.expected = "a pid that sandbox_exec_background gave";
    return envelope;
  }
  return failed(cat({"Process `", printable(id), "`"}), error, Retry::kYes);
}

std::string log_tail(const ProcessState& state, std::int64_t lines) {
  const auto tail_of = [](const Kept& kept) { return kept.omitted_bytes > 0 ? kept.tail : kept.whole(); };
  std::string text = last_lines(tail_of(state.output), lines);
  const std::string error = last_lines(tail_of(state.error), lines);
  if (!text.empty() && !error.empty() && !text.ends_with('\n')) text += '\n';
  return text + error;
}

std::string last_lines(std::string_view text, std::int64_t lines) {
  if (lines <= 0) return {};
  const std::string_view near = last_characters(text, kOutputCharacters);
  std::size_t at = near.size();
  if (near.ends_with('\n')) --at;
  for (std::int64_t found = 0; found < lines; ++found) {
    const std::size_t newline = at == 0 ? std::string_view::npos : near.rfind('\n', at - 1);
    if (newline == std::string_view::npos) return std::string(near);
    at = newline;
  }
  return std::string(near.substr(at + 1));
}

}  // namespace

}  // namespace hutch::tool
