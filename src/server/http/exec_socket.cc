// The route that runs a command over a WebSocket: its streams in both directions, its signals, its terminal's size.
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "server/http/attended.h"
#include "server/http/process_view.h"
#include "server/http/routes.h"
#include "server/protocol/call_reader.h"
#include "server/protocol/http_streams.h"
#include "server/protocol/ws_frames.h"
#include "server/protocol/ws_handshake.h"
#include "sys/io.h"
#include "sys/terminal.h"

namespace hutch::server::http {

namespace {

using sandbox::Process;
using SocketClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kCommandWait{15'000};  // for the first message
constexpr milliseconds kPingAfter{15'000};    // of quiet
constexpr milliseconds kSilenceMax{60'000};   // of a client that was pinged
constexpr milliseconds kStallMax{30'000};     // without a byte being taken
constexpr milliseconds kSocketTick{1'000};
constexpr std::size_t kOutMax = 256 << 10;  // waits for the client; until it has gone the command's output is not read
constexpr std::size_t kInMax = 1 << 20;  // waits for the command; until then the client is not read
constexpr int kSocketLastPieces = 64;  // read from a stream whose command has ended
constexpr std::string_view kEndOfInput = "\x04";  // what Ctrl-D is on a terminal (termios(3), VEOF)

// Why it is over, as a close says it.
struct Over {
  int code = ws::kNormal;
  std::string reason{};
};

class ExecSocket {
 public:
  explicit ExecSocket(Exchange& exchange) : exchange_(exchange), connection_(exchange.connection()) {
    reader_.add(connection_.take_rest());
  }

  // Until the command has ended, or the client has gone.
  void serve(service::AgentSandbox& agent);

 private:
  std::expected<ws::Message, Over> first_message();
  Result<std::shared_ptr<sandbox::Resident>> begin(service::AgentSandbox& agent, const Value::Object& message);
  Result<Streams> streams_of(const Value::Object& message);
  Over run(sandbox::Resident& resident);
  // Whether more of the client can be held: else it is not read, and waits.
  bool takes() const { return in_.size() < kInMax && out_.size() < kOutMax; }
  std::optional<Over> turn();
  std::optional<Over> exchange_bytes(const std::array<pollfd, 5>& ready);
  std::optional<Over> take_messages(sandbox::Resident& resident);
  std::optional<Over> take(sandbox::Resident& resident, const ws::Message& message);
  std::optional<Over> take_input(std::string_view bytes);
  Status take_control(sandbox::Resident& resident, const std::string& text);
  std::optional<Over> watch_clock();
  bool receive();  // false when the client has gone
  bool send();  // likewise
  void pass_output(std::size_t index);
  void say(std::string_view type, Value::Object members);
  void end(const Over& over);

  Exchange& exchange_;
  Connection& connection_;
  ws::Reader reader_;
  std::shared_ptr<Process> process_;
  UniqueFd ended_;
  Ends ends_;
  UniqueFd terminal_;  // null: it has none
  std::string out_;
  std::string in_;
  bool input_over_ = false;  // no more will come; what is there still goes
  SocketClock::time_point heard_ = SocketClock::now();
  SocketClock::time_point pinged_ = SocketClock::now();
  SocketClock::time_point taken_ = SocketClock::now();  // when the client took something, or nothing waited for it
};

Result<Value::Object> message_object(const std::string& text, std::initializer_list<std::string_view> known) {
  const Value value = TRY(tool::parse_value(text, ws::kMessageBytesMax));
  const auto* object = value.get<Value::Object>();
  if (object == nullptr) return fail(Error::invalid("a message is a JSON object"));
  for (const auto& [key, member] : *object) {
    if (std::ranges::find(known, std::string_view(key)) != known.end()) continue;
    return fail(Error::invalid(cat({"a message has an unknown member ", printable(key, 64)})));
  }
  return *object;
}

Result<sys::TerminalSize> message_size(const Value::Object& object) {
  const CallReader reader(object);
  const std::int64_t rows = TRY(reader.number("rows", 0));
  const std::int64_t columns = TRY(reader.number("columns", 0));
  constexpr std::int64_t kMax = 10'000;
  if (rows < 1 || rows > kMax || columns < 1 || columns > kMax) {
    return fail(Error::invalid("rows and columns are whole numbers from 1 to 10000"));
  }
  return sys::TerminalSize{static_cast<unsigned short>(rows), static_cast<unsigned short>(columns)};
}

void ExecSocket::serve(service::AgentSandbox& agent) {
  const auto first = first_message();
  if (!first) return end(first.error());
  const auto message = message_object(first->bytes, {"command", "arguments", "cwd", "env", "timeoutMs", "terminal"});
  const auto resident =
      message ? begin(agent, *message) : Result<std::shared_ptr<sandbox::Resident>>(std::unexpected(message.error()));
  if (!resident) {
    const Refusal refusal = refusal_of(resident.error());
    say("error", {{"code", refusal.code}, {"message", refusal.message}});
    return end({refusal.status < 500 ? ws::kNotAllowed : ws::kFailed, refusal.message});
  }
  const Over over = run(**resident);
  if (!process_->end()) (*resident)->end(process_, sandbox::EndedBy::kSignal);
  end(over);
}

std::expected<ws::Message, Over> ExecSocket::first_message() {
  const auto until = SocketClock::now() + kCommandWait;
  for (;;) {
    auto message = reader_.next();
    if (!message) return std::unexpected(Over{message.error().code, message.error().message});
    if (*message && (*message)->kind == ws::Kind::kText) return std::move(**message);
    if (*message && (*message)->kind == ws::Kind::kPing) {
      out_ += ws::frame(ws::Kind::kPong, (*message)->bytes);
      continue;
    }
    if (*message && (*message)->kind == ws::Kind::kPong) continue;
    if (*message) return std::unexpected(Over{ws::kNotAllowed, "the first message is a text: the command"});
    const auto left = std::chrono::ceil<milliseconds>(until - SocketClock::now());
    pollfd socket{connection_.fd(), POLLIN, 0};
    const auto ready = left.count() > 0 ? sys::poll({&socket, 1}, left) : Result<int>(0);
    if (!ready || *ready == 0) return std::unexpected(Over{ws::kNotAllowed, "no command came"});
    if (!receive()) return std::unexpected(Over{ws::kGoingAway, ""});
  }
}

Result<std::shared_ptr<sandbox::Resident>> ExecSocket::begin(service::AgentSandbox& agent,
                                                             const Value::Object& message) {
  Value::Object body = message;
  body.erase("terminal");
  CommandBody command = TRY(command_of(body, agent));
  Streams streams = TRY(streams_of(message));
  const bool terminal = streams.given.terminal == wire::TerminalUse::kOwn;
  // First: what the client says of it wins.
  if (terminal) command.environment.insert(command.environment.begin(), "TERM=xterm-256color");
  const auto resident = TRY(started(exchange_, agent));
  sandbox::ProcessRequest request = TRY(process_request(agent, command));
  process_ = TRY(resident->spawn(std::move(request), std::move(streams.given)));
  ended_ = TRY(process_->notice(Process::Notice::kEnd));
  ends_ = std::move(streams.ends);
  if (terminal) {
    terminal_ = process_->take_terminal();
    if (terminal_) {
      TRY(sys::set_nonblocking(terminal_.get()));
      ends_.input = TRY(sys::duplicate(terminal_.get()));
      ends_.output[0] = TRY(sys::duplicate(terminal_.get()));
    }
  }
  say("started", process_object(*process_));
  return resident;
}

// {"terminal": {"rows": 24, "columns": 80}}, or none.
Result<Streams> ExecSocket::streams_of(const Value::Object& message) {
  const auto found = message.find("terminal");
  if (found == message.end() || found->second.is_null()) return make_streams();
  const auto* size = found->second.get<Value::Object>();
  if (size == nullptr) return fail(Error::invalid("terminal must be an object: {\"rows\": 24, \"columns\": 80}"));
  const sys::TerminalSize given = TRY_CTX(message_size(*size), "terminal");
  Streams streams;
  streams.given.mask = 0;
  streams.given.terminal = wire::TerminalUse::kOwn;
  streams.given.rows = given.rows;
  streams.given.columns = given.columns;
  return streams;
}

Over ExecSocket::run(sandbox::Resident& resident) {
  for (;;) {
    if (auto over = take_messages(resident)) return *over;
    if (auto over = turn()) return *over;
    if (!process_->end()) continue;
    // What it wrote is all there by now. A child that goes on may write for ever: that is not waited for.
    for (const std::size_t index : {0U, 1U}) {
      for (int piece = 0; piece < kSocketLastPieces && ends_.output.at(index); ++piece) {
        const std::size_t before = out_.size();
        pass_output(index);
        if (out_.size() == before) break;
      }
    }
    say("exit", end_object(*process_->end()));
    return {};
  }
}

std::optional<Over> ExecSocket::turn() {
  const auto reads = static_cast<short>(takes() ? POLLIN : connection_.gone_events());
  const short writes = out_.empty() ? short{0} : short{POLLOUT};
  const auto output = [&](std::size_t index) {
    return pollfd{out_.size() < kOutMax ? ends_.output.at(index).get() : -1, POLLIN, 0};
  };
  std::array<pollfd, 5> wait = {{{connection_.fd(), static_cast<short>(reads | writes), 0},
                                 output(0),
                                 output(1),
                                 {in_.empty() ? -1 : ends_.input.get(), POLLOUT, 0},
                                 {ended_.get(), POLLIN, 0}}};
  if (!sys::poll(wait, kSocketTick)) return Over{ws::kFailed, "poll failed"};
  if (auto over = exchange_bytes(wait)) return over;
  return watch_clock();
}

std::optional<Over> ExecSocket::exchange_bytes(const std::array<pollfd, 5>& ready) {
  static const Over kGone{ws::kGoingAway, ""};
  const bool said = (ready[0].revents & ~POLLOUT) != 0;
  if (said && (!takes() || !receive())) return kGone;
  if ((ready[0].revents & POLLOUT) != 0 && !send()) return kGone;
  for (const std::size_t index : {0U, 1U}) {
    if (ready.at(1 + index).revents != 0) pass_output(index);
  }
  if (ready[3].revents != 0) write_piece(ends_.input, in_);
  if (in_.empty() && input_over_ && !terminal_) ends_.input.reset();
  return std::nullopt;
}

std::optional<Over> ExecSocket::take_messages(sandbox::Resident& resident) {
  while (takes()) {
    const auto message = reader_.next();
    if (!message) return Over{message.error().code, message.error().message};
    if (!*message) return std::nullopt;
    if (auto over = take(resident, **message)) return over;
  }
  return std::nullopt;
}

std::optional<Over> ExecSocket::take(sandbox::Resident& resident, const ws::Message& message) {
  switch (message.kind) {
    case ws::Kind::kPing: out_ += ws::frame(ws::Kind::kPong, message.bytes); return std::nullopt;
    case ws::Kind::kPong: return std::nullopt;
    case ws::Kind::kClose: return Over{message.code == ws::kNoCode ? ws::kNormal : message.code, ""};
    case ws::Kind::kBinary: return take_input(message.bytes);
    case ws::Kind::kText: break;
  }
  const Status taken = take_control(resident, message.bytes);
  if (taken) return std::nullopt;
  say("error", {{"code", refusal_of(taken.error()).code}, {"message", taken.error().message}});
  return Over{ws::kNotAllowed, taken.error().message};
}

// The stream's number, then its bytes.
std::optional<Over> ExecSocket::take_input(std::string_view bytes) {
  if (bytes.empty() || bytes.front() != '\0') return Over{ws::kNotAllowed, "bytes begin with 0, the number of stdin"};
  // A command that has closed its input, or was told of its end, hears no more of it.
  if (ends_.input && !input_over_) in_ += bytes.substr(1);
  return std::nullopt;
}

Status ExecSocket::take_control(sandbox::Resident& resident, const std::string& text) {
  const Value::Object message = TRY(message_object(text, {"type", "signal", "rows", "columns"}));
  const CallReader reader(message);
  const std::string type = TRY(reader.text("type"));
  if (type == "closeInput") {
    if (terminal_) {
      in_ += kEndOfInput;
      return {};
    }
    input_over_ = true;
    if (in_.empty()) ends_.input.reset();
    return {};
  }
  if (type == "signal") {
    const std::int64_t number = TRY(reader.number("signal", 0));
    if (number <= 0 || number >= NSIG) return fail(Error::invalid("signal is out of range"));
    return resident.signal(*process_, static_cast<int>(number), wire::SignalTarget::kTree);
  }
  if (type == "resize") {
    const sys::TerminalSize size = TRY(message_size(message));
    if (!terminal_) return fail(Error::invalid("there is no terminal to resize"));
    return sys::set_terminal_size(terminal_.get(), size);
  }
  return fail(Error::invalid(
      cat({"an unknown type of message: ", printable(type, 64), "; known are closeInput, signal and resize"})));
}

std::optional<Over> ExecSocket::watch_clock() {
  const auto now = SocketClock::now();
  if (out_.empty()) taken_ = now;
  if (now - taken_ > kStallMax) return Over{ws::kNotAllowed, "the client does not read"};
  // It may have said much that was not read. Its end among that is not seen either: then it is the ping that finds out.
  const bool unread = !takes();
  if (unread) heard_ = now;
  if (now - heard_ > kSilenceMax) return Over{ws::kGoingAway, "the client says nothing"};
  if ((unread || now - heard_ > kPingAfter) && now - pinged_ > kPingAfter) {
    out_ += ws::frame(ws::Kind::kPing, "");
    pinged_ = now;
  }
  return std::nullopt;
}

bool ExecSocket::receive() {
  std::array<char, kPieceBytes> bytes;
  const auto count = sys::read_some(connection_.fd(), bytes);
  if (!count) return count.error().sys_errno == EAGAIN;
  if (*count == 0) return false;
  heard_ = SocketClock::now();
  reader_.add({bytes.data(), *count});
  return true;
}

bool ExecSocket::send() {
  const auto count = sys::write_some(connection_.fd(), out_);
  if (!count) return count.error().sys_errno == EAGAIN;
  if (*count > 0) taken_ = SocketClock::now();
  out_.erase(0, *count);
  return true;
}

// The stream's number, 1 or 2, then its bytes.
void ExecSocket::pass_output(std::size_t index) {
  const std::string piece = read_piece(ends_.output.at(index));
  if (!piece.empty()) out_ += ws::frame(ws::Kind::kBinary, cat({index == 0 ? "\x01" : "\x02", piece}));
}

void ExecSocket::say(std::string_view type, Value::Object members) {
  members["type"] = type;
  out_ += ws::frame(ws::Kind::kText, tool::json_text(Value(std::move(members))));
}

// What is left to say, a close, and the other side's own for a moment (RFC 6455, 7.1.1).
void ExecSocket::end(const Over& over) {
  out_ += ws::close_frame(over.code, over.reason);
  const bool heard_close = over.code == ws::kGoingAway;
  taken_ = SocketClock::now();
  while (!out_.empty()) {
    pollfd socket{connection_.fd(), POLLOUT, 0};
    if (!sys::poll({&socket, 1}, kSocketTick) || SocketClock::now() - taken_ > kStallMax || !send()) return;
  }
  if (!heard_close) connection_.linger();
}

Handled get_exec(Exchange& exchange) {
  if (auto refused = ws::check_upgrade(exchange.request())) return std::move(*refused);
  const auto agent = TRY(exchange.agent());
  TRY(exchange.connection().switch_protocol(
      {{"Upgrade", "websocket"},
       {"Connection", "Upgrade"},
       {"Sec-WebSocket-Accept", ws::accept_key(*exchange.request().field("sec-websocket-key"))}}));
  ExecSocket(exchange).serve(*agent);
  return Upgraded{};
}

constexpr std::array kExecSocketRoutes = {Route{"GET", "/v1/agents/{name}/exec", BodyType::kNone, get_exec}};

}  // namespace

std::span<const Route> exec_socket_routes() { return kExecSocketRoutes; }

}  // namespace hutch::server::http
