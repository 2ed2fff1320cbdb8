// The socket on which a run offers its questions.
#include "sandbox/questions/question_socket.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/limits.h"
#include "base/text.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/net/local_socket.h"
#include "sys/process/signals.h"

namespace hutch::sandbox {

namespace {

constexpr std::uint64_t kListenerKey = 0;
constexpr std::size_t kClientsMax = 32;
constexpr std::size_t kReadAtOnce = 16384;

// A directory that another user may write could have a socket of theirs in it.
Result<UniqueFd> open_private_directory(const std::string& path) {
  TRY(sys::make_private_directories(path));
  UniqueFd directory = TRY(sys::open(path, sys::Open::kReadDirectory));
  const sys::FileIdentity identity = TRY(sys::identify(directory.get()));
  const bool shared = (identity.mode & 077) != 0;
  if (identity.uid == sys::user_id() && !shared) return directory;
  return fail(Error::invalid(cat({printable(path), " has to be yours alone (mode 0700)"})));
}

}  // namespace

Result<std::unique_ptr<QuestionSocket>> QuestionSocket::open(Settings settings) {
  UniqueFd directory = TRY(open_private_directory(settings.directory));
  auto epoll = TRY(sys::Epoll::make());
  UniqueFd listener = TRY(sys::listen_beneath(directory.get(), cat({settings.run.run, kRunSocketSuffix})));
  TRY(epoll.add(listener.get(), {.read = true, .write = false}, kListenerKey));
  return std::make_unique<QuestionSocket>(std::move(settings), std::move(directory), std::move(listener),
                                          std::move(epoll));
}

QuestionSocket::QuestionSocket(Settings settings, UniqueFd directory, UniqueFd listener, sys::Epoll epoll)
    : settings_(std::move(settings)),
      directory_(std::move(directory)),
      listener_(std::move(listener)),
      name_(cat({settings_.run.run, kRunSocketSuffix})),
      epoll_(std::move(epoll)) {}

QuestionSocket::~QuestionSocket() { sys::forget_beneath(directory_.get(), name_); }

Status QuestionSocket::step() {
  std::array<sys::Readiness, kClientsMax + 1> ready;
  const std::size_t count = TRY(epoll_.wait(ready, std::chrono::milliseconds(0)));
  bool called = false;
  for (const sys::Readiness& one : std::span(ready).first(count)) {
    called = called || one.key == kListenerKey;
    const auto found = clients_.find(one.key);
    if (found != clients_.end()) serve(found->second, one);
  }
  // Whoever comes takes the place of one who has gone.
  forget_gone();
  // Out of descriptors, say: whoever is there goes on.
  if (called) (void)accept();
  forget_gone();
  return {};
}

bool QuestionSocket::is_attached() const {
  const auto attends = [](const auto& entry) { return entry.second.attends && !entry.second.gone; };
  return std::ranges::any_of(clients_, attends) || sys::is_held(cat({settings_.directory, "/", kAttendingFile}));
}

void QuestionSocket::asked(const wire::ControlQuestion& question) { tell_all(wire::control_question(question)); }

void QuestionSocket::answered(const approval::Desk::Closed& closed) {
  tell_all(wire::control_answered(std::to_string(closed.id), approval::name_of(closed.answer), closed.by));
}

Status QuestionSocket::accept() {
  auto accepted = TRY(sys::accept_local(listener_.get(), std::chrono::milliseconds(0)));
  if (!accepted || clients_.size() >= kClientsMax) return {};
  const std::uint32_t uid = accepted->peer.uid;
  if (uid != sys::user_id() && uid != 0) return {};
  TRY(sys::set_nonblocking(accepted->socket.get()));
  const std::uint64_t key = ++last_key_;
  TRY(epoll_.add(accepted->socket.get(), {.read = true, .write = false}, key));
  Client& client = clients_[key];
  client.key = key;
  client.socket = std::move(accepted->socket);
  client.name = cat({"process ", std::to_string(accepted->peer.pid)});
  greet(client);
  return {};
}

void QuestionSocket::greet(Client& client) {
  const std::vector<wire::ControlQuestion> open = list_ ? list_() : std::vector<wire::ControlQuestion>();
  std::string lines = wire::control_run(settings_.run, open.size());
  for (const wire::ControlQuestion& question : open) lines += wire::control_question(question);
  send(client, lines);
}

void QuestionSocket::serve(Client& client, const sys::Readiness& ready) {
  if (ready.writable) write_waiting(client);
  if (ready.readable || ready.broken) read(client);
}

void QuestionSocket::read(Client& client) {
  std::array<char, kReadAtOnce> chunk;
  const auto count = sys::read_some(client.socket.get(), chunk);
  if (!count && count.error().sys_errno == EAGAIN) return;
  if (!count || *count == 0) {
    client.gone = true;
    return;
  }
  client.held.append(chunk.data(), *count);
  std::size_t begin = 0;
  for (std::size_t end = client.held.find('\n'); end != std::string::npos; end = client.held.find('\n', begin)) {
    take(client, std::string_view(client.held).substr(begin, end - begin));
    begin = end + 1;
  }
  client.held.erase(0, begin);
  if (client.held.size() <= limits::kControlLineBytesMax) return;
  send(client, wire::control_error("a line of more than 1 MiB"));
  client.gone = true;
}

void QuestionSocket::take(Client& client, std::string_view line) {
  if (line.empty() || client.gone) return;
  const auto input = wire::parse_control(line);
  if (input && std::holds_alternative<wire::ControlAttend>(*input)) {
    client.attends = true;
    return;
  }
  const Tell tell = [&](const std::string& answer) { send(client, answer); };
  Status done = input ? Status() : Status(std::unexpected(input.error()));
  if (done && handle_) done = handle_(*input, client.name, tell);
  if (!done) send(client, wire::control_error(done.error().message));
}

// A client that does not read is not waited for: what it has not taken is kept up to a limit, then it goes.
void QuestionSocket::send(Client& client, std::string_view line) {
  if (client.deaf) return;
  const bool idle = client.waiting.empty();
  client.waiting += line;
  if (idle) write_waiting(client);
  if (client.waiting.size() > limits::kControlLineBytesMax) client.gone = true;
}

void QuestionSocket::write_waiting(Client& client) {
  if (client.deaf || client.waiting.empty()) return;
  const sys::BrokenPipeHeld held;
  const auto count = sys::write_some(client.socket.get(), client.waiting);
  client.deaf = !count && count.error().sys_errno != EAGAIN;
  client.waiting.erase(0, client.deaf ? client.waiting.size() : count.value_or(0));
  const bool more = !client.waiting.empty();
  if (more == client.watched_for_writing) return;
  client.watched_for_writing = more;
  if (!epoll_.change(client.socket.get(), {.read = true, .write = more}, client.key)) client.gone = true;
}

void QuestionSocket::tell_all(const std::string& line) {
  for (auto& [key, client] : clients_) send(client, line);
}

void QuestionSocket::forget_gone() {
  std::erase_if(clients_, [&](const auto& entry) {
    if (entry.second.gone) epoll_.remove(entry.second.socket.get());
    return entry.second.gone;
  });
}

}  // namespace hutch::sandbox
