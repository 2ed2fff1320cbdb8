// Calls about processes of an agent's sandbox.
#include <signal.h>

#include <array>
#include <limits>

#include "base/text.h"
#include "sandbox/questions/screen_watch.h"
#include "sandbox/resident/process.h"
#include "server/rpc/attended_call.h"
#include "server/rpc/session.h"
#include "server/state/desktop_notice.h"
#include "service/common/scrubbed_value.h"
#include "store/record.h"
#include "wire/daemon.h"

namespace hutch::server {

namespace {

using sandbox::Process;
using std::chrono::milliseconds;

// How long a client that has gone is not noticed while output is followed.
constexpr milliseconds kFollowSlice{500};
constexpr milliseconds kInputWait{30'000};
constexpr std::int64_t kTerminalSizeMax = 65535;
constexpr std::int64_t kTimeoutMax = 366LL * 24 * 3600 * 1000;

struct CalledProcess {
  std::shared_ptr<service::AgentSandbox> agent;
  std::shared_ptr<sandbox::Resident> resident;
  std::shared_ptr<Process> process;
};

// What it tells of a command's doings holds what the command has named.
Value end_value(const sandbox::ProcessEnd& end, const secret::Scrubber& scrubber) {
  Value::List refusals;
  for (const std::string& refusal : end.refusals) refusals.emplace_back(scrubber.scrub(refusal));
  return Value(Value::Object{{"exit_code", end.exit_code},
                             {"signal", end.signal},
                             {"ended_by", sandbox::name_of(end.ended_by)},
                             {"timed_out", sandbox::is_timeout(end.ended_by)},
                             {"killed", sandbox::is_killed(end.ended_by)},
                             {"duration_ms", end.duration.count()},
                             {"reason", scrubber.scrub(end.reason)},
                             {"refusals", std::move(refusals)}});
}

Value process_value(const Process& process, service::AgentSandbox& agent) {
  Value::List arguments;
  for (const std::string& argument : process.arguments()) arguments.emplace_back(argument);
  const auto started = std::chrono::time_point_cast<milliseconds>(process.started());
  const auto end = process.end();
  Value::Object object{{"pid", process.id()},
                       {"pid_inside", static_cast<std::int64_t>(process.pid_inside())},
                       {"arguments", std::move(arguments)},
                       {"started", store::format_time(started)},
                       {"running", !end.has_value()},
                       {"terminal", process.has_terminal()}};
  if (end) object["end"] = end_value(*end, *agent.secrets().scrubber());
  return Value(std::move(object));
}

Result<std::shared_ptr<service::AgentSandbox>> sandbox_of_call(Session& session, const CallReader& call) {
  const std::string name = TRY(call.text("agent"));
  return session.shared().agents.sandbox(name);
}

Result<CalledProcess> called_process(Session& session, const CallReader& call) {
  const std::string name = TRY(call.text("agent"));
  const std::string id = TRY(call.text("pid"));
  CalledProcess found{TRY(session.shared().agents.sandbox(name)), nullptr, nullptr};
  found.resident = found.agent->running();
  if (!found.resident) {
    const service::AgentSandbox::Status now = TRY(session.shared().agents.show(name)).status;
    const std::string why = now.reason.empty() ? std::string() : cat({" (", printable(now.reason, 256), ")"});
    return fail(Error::not_found(cat({"agent ", name, " has no process ", printable(id, 32), ": its sandbox is ",
                                      service::name_of(now.state), why})));
  }
  found.process = found.resident->find(id);
  if (!found.process) {
    return fail(Error::not_found(
        cat({"agent ", name, " has no process ", printable(id, 32), "; hutch ps ", name, " shows them"})));
  }
  return found;
}

Result<sandbox::ProcessRequest> request_of(Session& session, service::AgentSandbox& agent, const CallReader& call) {
  std::vector<std::string> arguments = TRY(call.texts("arguments"));
  if (arguments.empty() || arguments.front().empty()) return fail(Error::invalid("no command"));
  const std::string cwd = TRY(call.optional_text("cwd"));
  const std::vector<std::string> environment = TRY(call.texts("environment"));
  const std::int64_t timeout = TRY(call.number("timeout_ms", 0));
  if (timeout < 0 || timeout > kTimeoutMax) return fail(Error::invalid("timeout_ms is out of range"));
  // First: what its commands have in common is asked of what runs.
  TRY(started(session, agent));
  sandbox::ProcessRequest request = TRY(agent.request(std::move(arguments), cwd, environment));
  request.timeout = milliseconds(timeout);
  return request;
}

Result<sandbox::GivenStreams> streams_of(Session& session, const CallReader& call) {
  sandbox::GivenStreams streams;
  streams.descriptors = session.take_descriptors();
  const std::int64_t mask = TRY(call.number("streams", 7));
  if (mask < 0 || mask > 7) return fail(Error::invalid("streams is out of range"));
  streams.mask = static_cast<std::uint8_t>(mask);
  const bool terminal = TRY(call.truth("terminal"));
  streams.terminal = terminal ? wire::TerminalUse::kOwn : wire::TerminalUse::kNone;
  streams.rows = static_cast<std::uint16_t>(TRY(call.number("rows", 0)) & 0xffff);
  streams.columns = static_cast<std::uint16_t>(TRY(call.number("columns", 0)) & 0xffff);
  streams.modes = TRY(call.bytes("modes"));
  // What is no stream at all would end the sandbox's init: told here instead.
  const auto wanted = static_cast<std::size_t>(__builtin_popcountll(static_cast<unsigned long long>(mask)));
  if (streams.descriptors.size() != wanted || (!terminal && mask != 7)) {
    return fail(Error::invalid("a command without its streams"));
  }
  return streams;
}

Status take_input(const Value& input, sandbox::Resident& resident, const std::shared_ptr<Process>& process) {
  const auto* object = input.get<Value::Object>();
  if (object == nullptr) return fail(Error::invalid("input is a JSON object"));
  const std::int64_t number = TRY(CallReader(*object).number("signal", 0));
  if (number <= 0 || number >= NSIG) return fail(Error::invalid("input: no such signal"));
  if (number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT) {
    // As a terminal would: the command decides what it does about it.
    return resident.signal(*process, static_cast<int>(number), wire::SignalTarget::kTree);
  }
  return resident.signal(*process, static_cast<int>(number), wire::SignalTarget::kCommand);
}

// Plugins that the agent has made meanwhile, of which its person is to know.
Status tell_made(Session& session, Events::Listener& listener) {
  while (const auto event = listener.take()) {
    TRY(session.tell(Value(Value::Object{{"note", plugin_line(event->agent, event->reason)}})));
  }
  return {};
}

// The client's own streams are the command's; when the client goes, the command does.
Result<Value> exec_command(Session& session, const CallReader& call) {
  const auto agent = TRY(sandbox_of_call(session, call));
  sandbox::GivenStreams streams = TRY(streams_of(session, call));
  sandbox::ProcessRequest request = TRY(request_of(session, *agent, call));
  const auto resident = TRY(started(session, *agent));
  // A start takes its time: whoever has gone meanwhile wants no command run.
  if (TRY(session.hear(-1, milliseconds(0))).gone) return fail(Error{Code::kConflict, 0, "the client has gone"});
  const auto made = TRY(session.shared().events.listen_to(agent->record().name, service::kPluginMade));
  const auto process = TRY(resident->spawn(std::move(request), std::move(streams)));
  const UniqueFd ended = TRY(process->notice(Process::Notice::kEnd));
  const UniqueFd terminal = process->take_terminal();
  const int descriptor = terminal.get();
  const std::span<const int> descriptors(&descriptor, terminal ? 1 : 0);
  Status told = session.tell(Value(Value::Object{{"started", process->id()}}), descriptors);
  while (told && !process->end()) {
    auto heard = session.hear(ended.get(), std::nullopt, made->fd());
    if (!heard || heard->gone) break;
    if (heard->input) told = take_input(*heard->input, *resident, process);
    if (told && heard->also) told = tell_made(session, *made);
  }
  if (told) (void)tell_made(session, *made);
  if (!process->end()) resident->end(process, sandbox::EndedBy::kSignal);
  const auto end = process->wait(Process::Clock::now() + milliseconds(60'000));
  if (!end) return fail(Error{Code::kTimeout, 0, "the command does not end"});
  return end_value(*end, *agent->secrets().scrubber());
}

Result<sys::TerminalSize> terminal_size_argument(const CallReader& call) {
  const std::int64_t rows = TRY(call.number("rows", 0));
  const std::int64_t columns = TRY(call.number("columns", 0));
  if (rows < 1 || rows > kTerminalSizeMax || columns < 1 || columns > kTerminalSizeMax) {
    return fail(Error::invalid("rows and columns are from 1 to 65535"));
  }
  return sys::TerminalSize{static_cast<unsigned short>(rows), static_cast<unsigned short>(columns)};
}

Result<Value> spawn_process(Session& session, const CallReader& call) {
  const auto agent = TRY(sandbox_of_call(session, call));
  const bool input = TRY(call.truth("input"));
  sandbox::ProcessRequest request = TRY(request_of(session, *agent, call));
  if (TRY(call.truth("terminal"))) {
    const sys::TerminalSize size = TRY(terminal_size_argument(call));
    request.terminal = {size.rows, size.columns};
  }
  const auto resident = TRY(started(session, *agent));
  const auto process =
      TRY(resident->spawn(std::move(request), input ? sandbox::Input::kWritten : sandbox::Input::kNone));
  return process_value(*process, *agent);
}

Result<Value> list_agent_processes(Session& session, const CallReader& call) {
  const auto agent = TRY(sandbox_of_call(session, call));
  Value::List processes;
  const auto resident = agent->running();
  if (!resident) return Value(std::move(processes));
  for (const auto& process : resident->list()) processes.push_back(process_value(*process, *agent));
  // Whoever lists them did not start each of them.
  return service::scrubbed(*agent->secrets().scrubber(), Value(std::move(processes)));
}

struct FollowedLogs {
  static constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t next[2] = {0, 0};
  std::uint64_t until[2] = {kNoEnd, kNoEnd};  // nothing that begins there is told any more
  bool ended[2] = {false, false};
};

// Where whoever attaches to a terminal begins: what it shows next, after the line that its cursor is in.
FollowedLogs from_now(const Process& process) {
  constexpr std::size_t kLineMax = 4096;
  const sandbox::Capture output = process.captured(sandbox::OutputStream::kOutput);
  const std::string_view line = output.unfinished_line();
  const bool shown = line.size() <= kLineMax && sandbox::is_repeatable(line);
  return {.next = {output.bytes_total() - (shown ? line.size() : 0), 0}};
}

// Tells what is there of both streams; whether there was anything.
Result<bool> tell_output(Session& session, const Process& process, FollowedLogs& following) {
  bool any = false;
  for (const auto stream : {sandbox::OutputStream::kOutput, sandbox::OutputStream::kError}) {
    const auto index = static_cast<std::size_t>(stream);
    if (following.ended[index] || following.next[index] >= following.until[index]) continue;
    const Process::Read read = process.read(stream, following.next[index], Process::Clock::now());
    following.next[index] = read.piece.next;
    following.ended[index] = read.ended;
    if (read.piece.bytes.empty()) continue;
    any = true;
    TRY(session.tell(Value(Value::Object{{"stream", index == 0 ? "stdout" : "stderr"},
                                         {"skipped", read.piece.skipped},
                                         {"bytes", wire::text_of_bytes(read.piece.bytes)}})));
  }
  return any;
}

Result<Value> process_logs(Session& session, const CallReader& call) {
  const CalledProcess found = TRY(called_process(session, call));
  const bool follow = TRY(call.truth("follow"));
  const UniqueFd changed = TRY(found.process->notice(Process::Notice::kChange));
  FollowedLogs following;
  if (!follow) {
    // One that writes faster than is read would never come to an end.
    for (const auto stream : {sandbox::OutputStream::kOutput, sandbox::OutputStream::kError}) {
      following.until[static_cast<std::size_t>(stream)] = found.process->captured(stream).bytes_total();
    }
  }
  if (TRY(call.truth("from_now"))) {
    following = from_now(*found.process);
    // Whoever types waits for this: what is printed in answer is then shown.
    TRY(session.tell(Value(Value::Object{{"follows", true}})));
  }
  for (;;) {
    const bool over = found.process->end().has_value();
    const bool any = TRY(tell_output(session, *found.process, following));
    if (any) continue;
    if (!follow || over) break;
    const auto heard = TRY(session.hear(changed.get(), kFollowSlice));
    if (heard.gone) break;
    Process::clear(changed.get());
  }
  return process_value(*found.process, *found.agent);
}

Result<Value> wait_for_process(Session& session, const CallReader& call) {
  const CalledProcess found = TRY(called_process(session, call));
  const UniqueFd ended = TRY(found.process->notice(Process::Notice::kEnd));
  while (!found.process->end()) {
    if (TRY(session.hear(ended.get(), std::nullopt)).gone) break;
  }
  return process_value(*found.process, *found.agent);
}

Result<Value> kill_process(Session& session, const CallReader& call) {
  const CalledProcess found = TRY(called_process(session, call));
  const std::int64_t number = TRY(call.number("signal", 0));
  if (number < 0 || number >= NSIG) return fail(Error::invalid("signal is out of range"));
  const bool running = !found.process->end().has_value();
  if (number == 0) {
    found.resident->end(found.process, sandbox::EndedBy::kSignal);
    (void)found.process->wait(Process::Clock::now() + milliseconds(10'000));
  } else {
    TRY(found.resident->signal(*found.process, static_cast<int>(number), wire::SignalTarget::kTree));
  }
  return Value(Value::Object{{"killed", running}});
}

Result<Value> write_process(Session& session, const CallReader& call) {
  const CalledProcess found = TRY(called_process(session, call));
  const std::string bytes = TRY(call.bytes("bytes"));
  if (!bytes.empty()) TRY(found.process->write_input(bytes, Process::Clock::now() + kInputWait));
  // What others type on the terminal goes on: it has no end but the process's.
  if (TRY(call.truth("close")) && !found.process->has_terminal()) found.process->close_input();
  return Value(Value::Object{});
}

Result<Value> show_process(Session& session, const CallReader& call) {
  const CalledProcess found = TRY(called_process(session, call));
  return process_value(*found.process, *found.agent);
}

Result<Value> resize(Session& session, const CallReader& call) {
  const CalledProcess found = TRY(called_process(session, call));
  const auto redraw = TRY(call.truth("redraw")) ? Process::Redraw::kAlways : Process::Redraw::kIfChanged;
  const sys::TerminalSize size = TRY(terminal_size_argument(call));
  TRY(found.process->resize_terminal(size, redraw));
  return Value(Value::Object{});
}

constexpr std::array kProcessVerbs = {
    Verb{"exec", exec_command},
    Verb{"process.spawn", spawn_process},
    Verb{"process.list", list_agent_processes},
    Verb{"process.logs", process_logs},
    Verb{"process.wait", wait_for_process},
    Verb{"process.kill", kill_process},
    Verb{"process.write", write_process},
    Verb{"process.show", show_process},
    Verb{"process.resize", resize},
};

}  // namespace

std::span<const Verb> process_verbs() { return kProcessVerbs; }

}  // namespace hutch::server
