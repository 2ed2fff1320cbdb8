// The process service of the E2B-compatible API: commands that go on without whoever began them.
#include <poll.h>
#include <signal.h>

#include <array>
#include <charconv>

#include "base/base64.h"
#include "base/text.h"
#include "server/e2b/costs.h"
#include "server/e2b/paths.h"
#include "server/e2b_api/e2b_view.h"
#include "sys/io.h"

namespace hutch::server::e2b {

namespace {

using http::BodyType;
using http::Route;
using std::chrono::milliseconds;

constexpr milliseconds kE2bInputWait{30'000};
constexpr std::int64_t kTimeoutMsMax = 366LL * 24 * 3600 * 1000;
constexpr std::int64_t kSideMax = 10'000;  // of a terminal
constexpr std::size_t kLoggedBytes = 256;
constexpr std::size_t kTagBytesMax = 1024;

Result<sys::TerminalSize> terminal_size_of(const Value::Object& pty) {
  const auto* size = TRY(Message(pty).object("size"));
  if (size == nullptr) return fail(Error::invalid("pty has to have a size"));
  const std::int64_t rows = TRY(Message(*size).number("rows"));
  const std::int64_t columns = TRY(Message(*size).number("cols"));
  if (rows < 1 || rows > kSideMax || columns < 1 || columns > kSideMax) {
    return fail(Error::invalid("the rows and cols of a pty are from 1 to 10000"));
  }
  return sys::TerminalSize{static_cast<unsigned short>(rows), static_cast<unsigned short>(columns)};
}

Result<std::vector<std::string>> list_of_texts(const Message& message, std::string_view name) {
  std::vector<std::string> texts;
  const Value* value = message.find(name);
  if (value == nullptr) return texts;
  const auto* list = value->get<Value::List>();
  if (list == nullptr) return fail(Error::invalid(cat({name, " has to be a list of texts"})));
  for (const Value& one : *list) {
    const auto* text = one.get<std::string>();
    if (text == nullptr || text->contains('\0')) return fail(Error::invalid(cat({name, " has to be a list of texts"})));
    texts.push_back(*text);
  }
  return texts;
}

// Of the protocol: how long the call may take, and with it the process. Digits alone, at most ten.
Result<milliseconds> connect_timeout(const http::Request& request) {
  const std::string* value = request.field("connect-timeout-ms");
  if (value == nullptr) return milliseconds(0);
  std::int64_t ms = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), ms);
  if (error != std::errc() || end != value->data() + value->size() || ms < 0) {
    return fail(Error::invalid("Connect-Timeout-Ms has to be a number"));
  }
  return milliseconds(std::min(ms, kTimeoutMsMax));
}

Result<FollowedCommand> start_command(const http::Request& request, const Value::Object& message) {
  const Message start(message);
  const auto* process = TRY(start.object("process"));
  if (process == nullptr) return fail(Error::invalid("process is missing"));
  const Message config(*process);
  FollowedCommand command{.program = TRY(config.text("cmd")),
                          .arguments = TRY(list_of_texts(config, "args")),
                          .variables = {},
                          .cwd = TRY(config.text("cwd")),
                          .tag = TRY(start.text("tag")),
                          .timeout = TRY(connect_timeout(request))};
  if (command.program.empty()) return fail(Error::invalid("cmd is missing"));
  if (command.tag.size() > kTagBytesMax) return fail(Error::invalid("a tag has at most 1024 bytes"));
  if (const Value* envs = config.find("envs")) command.variables = TRY(variables_of(*envs, "envs"));
  const auto* pty = TRY(start.object("pty"));
  if (pty != nullptr) command.terminal = TRY(terminal_size_of(*pty));
  // Absent, as older clients have it: yes.
  const bool has_input = start.find("stdin") == nullptr || TRY(start.truth("stdin"));
  if (has_input) command.input = FollowedCommand::Input::kWritten;
  return command;
}

Result<std::shared_ptr<FollowedProcess>> process_of(E2bSandbox& sandbox, const Value::Object& message) {
  const auto* selector = TRY(Message(message).object("process"));
  if (selector == nullptr) return fail(Error::invalid("process is missing"));
  const Message chosen(*selector);
  if (chosen.find("tag") != nullptr) return sandbox.tagged(TRY(chosen.text("tag")));
  const std::int64_t pid = TRY(chosen.number("pid"));
  if (pid < 1 || pid > UINT32_MAX) return fail(Error::invalid("process has to have a pid, or a tag"));
  return sandbox.find(static_cast<std::uint32_t>(pid));
}

Value::Object process_event(std::string_view name, Value value) {
  return {{"event", Value::Object{{std::string(name), std::move(value)}}}};
}

std::string_view output_name(OutputKind kind) {
  switch (kind) {
    case OutputKind::kOutput: return "stdout";
    case OutputKind::kError: return "stderr";
    case OutputKind::kTerminal: return "pty";
  }
  return "";
}

Value::Object end_event(const sandbox::ProcessEnd& end) {
  if (end.signal == 0) {
    return process_event("end", Value::Object{{"exitCode", end.exit_code},
                                              {"exited", true},
                                              {"status", cat({"exit status ", std::to_string(end.exit_code)})}});
  }
  // As a shell has it, since 0 would be a success and -1 is nobody's.
  std::string why = cat({"signal: ", std::to_string(end.signal)});
  return process_event("end",
                       Value::Object{{"exitCode", end.exit_code}, {"exited", false}, {"status", why}, {"error", why}});
}

// Tells what there is. An error where the client has gone, or was overtaken.
Status send_output(Exchange& exchange, FollowedProcess::Follower& follower, std::uint64_t& told) {
  while (auto piece = follower.take()) {
    if (piece->lost > 0 && told > 0) {
      return fail(Error{Code::kConflict, 0,
                        cat({"the client did not keep up with another one: ", std::to_string(piece->lost),
                             " bytes are lost to it; Connect goes on from here"})});
    }
    told += piece->bytes.size();
    const Value::Object data{{std::string(output_name(piece->kind)), to_base64(piece->bytes)}};
    TRY(send_message(exchange, process_event("data", data)));
  }
  return {};
}

// A client and what it follows; with `reading` it is who reads that, as long as nobody has to wait for the client.
struct FollowedStream {
  std::shared_ptr<FollowedProcess> process;
  // The last to go: where it has to be read by this thread, nobody is to be waited for any more.
  std::shared_ptr<FollowedProcess::Reading> reading;
  std::shared_ptr<FollowedProcess::Follower> follower;
};

bool takes_more_now(const http::Connection& connection) {
  pollfd taking{connection.fd(), POLLOUT, 0};
  const auto ready = sys::poll({&taking, 1}, milliseconds(0));
  return ready && *ready > 0;
}

// Before something is said, which may take as long as the client likes.
void leave_reading(Exchange& exchange, FollowedStream& following) {
  auto& reading = following.reading;
  if (!reading || (!reading->has_to_go() && takes_more_now(exchange.connection()))) return;
  if (reading->leave()) reading.reset();
}

// Until the process has ended, or the client has gone: the process goes on without it.
Status follow_stream(Exchange& exchange, FollowedStream following) {
  const auto& [process, reading, follower] = following;
  const milliseconds keepalive = keepalive_of(exchange.request());
  exchange.connection().hold();
  leave_reading(exchange, following);
  TRY(begin_stream(exchange));
  TRY(send_message(exchange,
                   process_event("start", Value::Object{{"pid", static_cast<std::int64_t>(process->pid())}})));
  TRY(exchange.connection().release());
  std::uint64_t told = 0;
  for (;;) {
    leave_reading(exchange, following);
    TRY(send_output(exchange, *follower, told));
    if (const auto end = follower->end()) {
      if (sandbox::is_timeout(end->ended_by)) {
        return fail(Error{Code::kTimeout, 0, "the process took longer than its time limit, and was ended"});
      }
      exchange.connection().hold();  // what ends the stream follows at once
      return send_message(exchange, end_event(*end));
    }
    std::array<pollfd, 2> wait = {
        {{follower->fd(), POLLIN, 0}, {exchange.connection().fd(), exchange.connection().gone_events(), 0}}};
    const int ready = TRY(reading ? reading->poll(wait, keepalive) : sys::poll(wait, keepalive));
    // Its end is told to whoever has only stopped sending.
    if (wait[1].revents != 0 && !process->has_ended()) return fail(Error::invalid("the client has gone"));
    if (wait[0].revents != 0) follower->clear();
    if (ready > 0) continue;
    leave_reading(exchange, following);
    TRY(send_message(exchange, process_event("keepalive", Value::Object())));
  }
}

std::vector<std::string> start_environment(const E2bSandbox& sandbox, const FollowedCommand& command) {
  std::vector<std::string> environment;
  if (command.terminal) environment.emplace_back("TERM=xterm-256color");
  for (std::string& own : sandbox.environment()) environment.push_back(std::move(own));
  for (const auto& [name, value] : command.variables) environment.push_back(cat({name, "=", value}));
  return environment;
}

Result<Going> start_process(Exchange& exchange, const Inside& inside, const Value::Object& message) {
  FollowedCommand command = TRY(start_command(exchange.request(), message));
  command.key = inside.key;
  command.user = inside.user;
  if (command.cwd.starts_with('/')) command.cwd = TRY(path_of_client(*inside.agent, inside.user, command.cwd));
  const std::vector<std::string> environment = start_environment(*inside.sandbox, command);
  TRY(inside.sandbox->check_room());
  E2bDesk& desk = *exchange.shared().e2b;
  const std::string told = cat({printable(command.program, kLoggedBytes), " ",
                                command.arguments.empty() ? "" : printable(command.arguments.back(), kLoggedBytes)});
  // What runs is not waited for: it may go on for days.
  const Held held = TRY(desk.kept().hold(inside.key, cost_of(command), KeyMemory::Clock::now()));
  const FollowedProcess::Desk made_with{exchange.shared().workers, desk.outputs(), held};
  auto [process, reading] = TRY(FollowedProcess::start(made_with, *inside.agent, std::move(command), environment));
  // At once: what nobody follows may lose its oldest output to others.
  const std::shared_ptr<FollowedProcess::Follower> follower = TRY(FollowedProcess::follow(process));
  inside.sandbox->add(process);
  TRY(desk.stand_still_if_paused(*inside.sandbox));
  inside.sandbox->log(cat({"process ", std::to_string(process->pid()), " started: ", told}));
  return [&exchange, following = FollowedStream{process, std::move(reading), follower}]() mutable {
    return follow_stream(exchange, std::move(following));
  };
}

Result<Going> connect_to(Exchange& exchange, const Inside& inside, const Value::Object& message) {
  const auto process = TRY(process_of(*inside.sandbox, message));
  return [&exchange, process]() -> Status {
    const std::shared_ptr<FollowedProcess::Follower> follower = TRY(FollowedProcess::follow(process));
    return follow_stream(exchange, {process, nullptr, follower});
  };
}

Result<Reply> list_e2b_processes(Exchange&, const Inside& inside, const Value::Object&) {
  ListReply processes("processes");
  for (const auto& process : inside.sandbox->running()) {
    const auto command = process->command();
    if (!command) continue;
    TRY(hold_more(inside.held, 2 * cost_of(*command)));
    Value::List arguments(command->arguments.begin(), command->arguments.end());
    Value::Object variables;
    for (const auto& [name, value] : command->variables) variables.emplace(name, value);
    Value::Object config{{"cmd", command->program}, {"args", std::move(arguments)}, {"envs", std::move(variables)}};
    if (!command->cwd.empty()) config["cwd"] = command->cwd;
    Value::Object one{{"config", std::move(config)}, {"pid", static_cast<std::int64_t>(process->pid())}};
    if (!command->tag.empty()) one["tag"] = command->tag;
    TRY(processes.add(std::move(one)));
  }
  return std::move(processes).finish();
}

Result<std::string> process_input(const Value::Object& message) {
  const auto* input = TRY(Message(message).object("input"));
  if (input == nullptr) return fail(Error::invalid("input is missing"));
  const Message bytes(*input);
  return bytes.find("pty") != nullptr ? bytes.bytes("pty") : bytes.bytes("stdin");
}

Result<Reply> send_input(Exchange&, const Inside& inside, const Value::Object& message) {
  const auto process = TRY(process_of(*inside.sandbox, message));
  const std::string bytes = TRY(process_input(message));
  TRY(process->write_input(bytes, FollowedProcess::Clock::now() + kE2bInputWait));
  return Value::Object();
}

Result<Reply> close_input(Exchange&, const Inside& inside, const Value::Object& message) {
  const auto process = TRY(process_of(*inside.sandbox, message));
  TRY(process->close_input());
  return Value::Object();
}

Result<Reply> send_signal(Exchange&, const Inside& inside, const Value::Object& message) {
  const auto process = TRY(process_of(*inside.sandbox, message));
  const Value* given = Message(message).find("signal");
  const auto* name = given == nullptr ? nullptr : given->get<std::string>();
  std::int64_t number = 0;
  if (name != nullptr && *name == "SIGNAL_SIGKILL") number = SIGKILL;
  if (name != nullptr && *name == "SIGNAL_SIGTERM") number = SIGTERM;
  if (name == nullptr) number = TRY(Message(message).number("signal"));
  if (number != SIGKILL && number != SIGTERM) {
    return fail(Error::invalid("signal is SIGNAL_SIGTERM (15) or SIGNAL_SIGKILL (9)"));
  }
  if (process->has_ended()) return fail(Error::not_found("the process has ended"));
  TRY(process->signal(static_cast<int>(number)));
  return Value::Object();
}

Result<Reply> update_process(Exchange&, const Inside& inside, const Value::Object& message) {
  const auto process = TRY(process_of(*inside.sandbox, message));
  const auto* pty = TRY(Message(message).object("pty"));
  if (pty == nullptr) return Value::Object();
  const sys::TerminalSize size = TRY(terminal_size_of(*pty));
  TRY(process->resize(size));
  return Value::Object();
}

// One message of a stream of input. The first says whose it is.
Status take_stream_input(E2bSandbox& sandbox, const connect::Envelope& envelope,
                         std::shared_ptr<FollowedProcess>& process) {
  const Value parsed = TRY_CTX(tool::parse_value(envelope.bytes, connect::kMessageBytesMax), "the message");
  const auto* object = parsed.get<Value::Object>();
  if (object == nullptr) return fail(Error::invalid("the message is not a JSON object"));
  const Message message(*object);
  if (const auto* begin = TRY(message.object("start"))) {
    if (process) return fail(Error::invalid("a second start"));
    process = TRY(process_of(sandbox, *begin));
    return {};
  }
  const auto* data = TRY(message.object("data"));
  if (data == nullptr) return {};  // keepalive
  if (!process) return fail(Error::invalid("the first message has to be start"));
  const std::string bytes = TRY(process_input(*data));
  return process->write_input(bytes, FollowedProcess::Clock::now() + kE2bInputWait);
}

Status take_inputs(Exchange& exchange, const Inside& inside) {
  connect::EnvelopeReader reader;
  std::shared_ptr<FollowedProcess> process;
  for (;;) {
    auto piece = TRY(exchange.connection().read_body_piece(exchange.request()));
    if (const auto* refusal = std::get_if<http::Refusal>(&piece)) return fail(Error::invalid(refusal->message));
    const auto& bytes = std::get<std::string>(piece);
    if (bytes.empty()) break;
    inside.held->shrink(cost_of_text(reader.bytes()));
    TRY(hold_more(inside.held, cost_of_text(bytes.size())));
    reader.add(bytes);
    while (auto envelope = TRY(reader.next())) {
      TRY(hold_more(inside.held, cost_of_json(envelope->bytes)));
      if ((envelope->flags & connect::kEndOfStream) == 0) TRY(take_stream_input(*inside.sandbox, *envelope, process));
    }
  }
  return reader.is_between() ? Status() : fail(Error::invalid("the stream ends within a message"));
}

Handled stream_input(Exchange& exchange, const Inside& inside) {
  if (!is_stream_of_json(exchange.request())) return error_answer(415, "this call takes application/connect+json");
  const Status taken = take_inputs(exchange, inside);
  TRY(begin_stream(exchange));
  if (taken) TRY(send_message(exchange, {}));
  TRY(exchange.connection().send_piece(taken ? connect::end_of_stream()
                                             : connect::end_of_stream(connect::problem_of(taken.error()))));
  return http::Streamed{};
}

constexpr std::array kE2bProcessRoutes = {
    Route{"POST", "/process.Process/Start", BodyType::kStream, streamed<start_process>, shows_token},
    Route{"POST", "/process.Process/Connect", BodyType::kStream, streamed<connect_to>, shows_token},
    Route{"POST", "/process.Process/List", BodyType::kStream, call<list_e2b_processes>, shows_token},
    Route{"POST", "/process.Process/SendInput", BodyType::kStream, call<send_input>, shows_token},
    Route{"POST", "/process.Process/StreamInput", BodyType::kStream, with_sandbox<stream_input>, shows_token},
    Route{"POST", "/process.Process/SendSignal", BodyType::kStream, call<send_signal>, shows_token},
    Route{"POST", "/process.Process/Update", BodyType::kStream, call<update_process>, shows_token},
    Route{"POST", "/process.Process/CloseStdin", BodyType::kStream, call<close_input>, shows_token},
};

}  // namespace

}  // namespace hutch::server::e2b

namespace hutch::server::http {

std::span<const Route> e2b_process_routes() { return e2b::kE2bProcessRoutes; }

}  // namespace hutch::server::http
