// The sockets of a sandbox.
#include "guest/calls/sockets.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "guest/git/wall.h"
#include "plan/git/files.h"
#include "plan/paths/names.h"
#include "sys/files/delegate.h"
#include "sys/net/foreign_socket.h"
#include "sys/notify.h"

namespace hutch::guest {

namespace {

// Of those that wait: each holds a thread of the sandbox, and descriptors of this process.
constexpr std::size_t kConnectingMax = 256;
// How often a queue is looked at that was full, and whether whoever waits is still there.
constexpr std::chrono::milliseconds kPauseMax{50};
constexpr std::chrono::milliseconds kSocketCallerCheck{250};

Status socket_error(int error) { return fail(Error::from_errno("the call", error)); }
bool is_waiting(int error) { return error == EINPROGRESS || error == EALREADY; }

}  // namespace

Status AccessSockets::start(const AccessCall& call) {
  const sys::NoLongWait no_long_wait;
  if (call.kind == AccessKind::kBind) return answer(call, bind(call));
  auto socket = sys::take_descriptor(places_.proc(), call.path.caller, *call.descriptor);
  if (!socket) return answer(call, fail(std::move(socket).error()));
  Connecting connecting{call, std::move(*socket)};
  // One that connects to nothing, a datagram socket's peer undone, is the kernel's to judge.
  const std::string path = sys::path_in_address(call.text);
  const auto family = sys::family_of_socket(connecting.socket.get());
  if (!family) return answer(call, fail(family.error()));
  if (*family != sys::SocketFamily::kUnix || path.empty()) return begin(std::move(connecting));
  return connect_by_path(std::move(connecting), path);
}

// An abstract name is one of the sandbox's network namespace, which is its own (unix(7)).
Status AccessSockets::begin(Connecting connecting) {
  const auto made = connect(connecting);
  if (!made) return answer(connecting.call, fail(made.error()));
  if (*made) return answer(connecting.call, Status());
  const auto timeout = sys::send_timeout_of(connecting.socket.get());
  if (timeout.count() > 0) connecting.until = Clock::now() + timeout;
  if (is_full()) return answer(connecting.call, socket_error(EAGAIN));
  connecting_.push_back(std::move(connecting));
  return {};
}

Result<bool> AccessSockets::connect(Connecting& connecting) {
  if (!still_waits(connecting.call)) return fail(socket_error(EINTR).error());
  const int socket = connecting.socket.get();
  const auto blocking = TRY(sys::blocking_of(socket));
  const Status made = connecting.file ? sys::connect_to_file(socket, connecting.file.get())
                                      : sys::connect_now(socket, connecting.call.text);
  if (made) return true;
  const int error = made.error().sys_errno;
  const bool full = error == EAGAIN;
  if (blocking == sys::Blocking::kNo || (!is_waiting(error) && !full)) return fail(made.error());
  const auto now = Clock::now();
  if (connecting.until && now >= *connecting.until) return fail(socket_error(full ? EAGAIN : EINPROGRESS).error());
  connecting.in_progress = !full;
  connecting.next_look = now + (full ? connecting.pause : kSocketCallerCheck);
  connecting.pause = std::min(connecting.pause * 2, kPauseMax);
  return false;
}

// What a path leads to is looked at once, and connected to as what was looked at.
Status AccessSockets::connect_by_path(Connecting connecting, const std::string& path) {
  const AccessCall call = connecting.call;
  auto seen = places_.seen({call.path.caller, AT_FDCWD, path}, sys::LastLink::kFollow);
  if (!seen) {
    const int error = seen.error().sys_errno;
    return ask(std::move(connecting), absolute(call, path), error != 0 ? error : ENOENT);
  }
  const auto what = sys::look_at_socket(seen->get());
  if (!what) return answer(call, fail(what.error()));
  // Of what is no socket the kernel says what is wrong with it.
  if (what->is_socket && !own_.has(what->identity)) {
    const auto canonical = sys::path_of(places_.proc(), seen->get());
    if (!canonical || !canonical->starts_with('/')) return answer(call, socket_error(ECONNREFUSED));
    return ask(std::move(connecting), *canonical, 0);
  }
  connecting.file = std::move(*seen);
  return begin(std::move(connecting));
}

Status AccessSockets::ask(Connecting connecting, const std::string& path, int error) {
  const AccessCall& call = connecting.call;
  if (is_full()) return answer(call, socket_error(EAGAIN));
  TRY(settings_.ask({call.raw.id, call.raw.pid, path, error}));
  asked_.insert_or_assign(call.raw.id, std::move(connecting));
  return {};
}

Status AccessSockets::take_answer(const wire::SocketAnswered& told, UniqueFd file) {
  auto found = asked_.extract(told.id);
  if (found.empty()) return {};  // whoever asked has gone
  const sys::NoLongWait no_long_wait;
  Connecting connecting = std::move(found.mapped());
  if (told.error != 0 || !file) return answer(connecting.call, socket_error(told.error != 0 ? told.error : EACCES));
  connecting.file = std::move(file);
  return begin(std::move(connecting));
}

bool AccessSockets::is_full() const { return connecting_.size() + asked_.size() >= kConnectingMax; }

std::size_t AccessSockets::add_to(std::vector<pollfd>& wait) const {
  for (const Connecting& connecting : connecting_) {
    wait.push_back({connecting.in_progress ? connecting.socket.get() : -1, POLLOUT, 0});
  }
  return connecting_.size();
}

std::optional<std::chrono::milliseconds> AccessSockets::time_left() const {
  if (connecting_.empty() && asked_.empty()) return std::nullopt;
  const auto now = Clock::now();
  Clock::time_point next = now + kSocketCallerCheck;
  for (const Connecting& connecting : connecting_) {
    next = std::min(next, connecting.next_look);
    if (connecting.until) next = std::min(next, *connecting.until);
  }
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(next - now), std::chrono::milliseconds(0));
}

Status AccessSockets::step(std::span<const pollfd> ready) {
  if (connecting_.empty() && asked_.empty()) return {};
  const sys::NoLongWait no_long_wait;
  const auto now = Clock::now();
  std::size_t at = 0;
  for (auto it = connecting_.begin(); it != connecting_.end();) {
    const bool told = at < ready.size() && ready[at].revents != 0;
    ++at;
    const bool due = told || it->next_look <= now || (it->until && *it->until <= now);
    if (!due) {
      ++it;
      continue;
    }
    const auto made = connect(*it);
    if (made && !*made) {
      ++it;
      continue;
    }
    TRY(answer(it->call, made ? Status() : Status(fail(made.error()))));
    it = connecting_.erase(it);
  }
  std::erase_if(asked_, [&](const auto& one) { return !still_waits(one.second.call); });
  return {};
}

Status AccessSockets::bind(const AccessCall& call) {
  const UniqueFd socket = TRY(sys::take_descriptor(places_.proc(), call.path.caller, *call.descriptor));
  const std::string path = sys::path_in_address(call.text);
  const auto family = TRY(sys::family_of_socket(socket.get()));
  if (!still_waits(call)) return socket_error(EINTR);
  if (family != sys::SocketFamily::kUnix || path.empty()) return sys::bind_to(socket.get(), call.text);
  const TurnScope scope(settings_.turns);
  const auto place = TRY(place_of(call, path));
  if (!place) return socket_error(ENOENT);
  TRY(umasks_.take(places_.proc(), call.path.caller));
  Status bound = place->path.empty() ? bind_as_called(call, socket.get(), path) : bind_in(call, socket.get(), *place);
  TRY(sys::stay_in(places_.proc()));
  TRY(bound);
  return remember(socket.get(), *place);
}

// As AccessCalls does it.
Result<std::optional<NamedPlace>> AccessSockets::place_of(const AccessCall& call, const std::string& path) {
  const CallerPath from{call.path.caller, AT_FDCWD, path};
  if (plan::is_known_to_git(path)) TRY(take_turn(call, path));
  auto place = TRY(places_.named(from, 0));
  if (!place || settings_.turns.is_mine() || !plan::is_known_to_git(place->path)) return place;
  TRY(take_turn(call, place->path));
  return places_.named(from, 0);
}

Status AccessSockets::take_turn(const AccessCall& call, const std::string& path) const {
  Status turn = settings_.turns.take();
  if (!turn) settings_.refused(call, path, turn_rule());
  return turn;
}

// The kernel keeps the name as it is given here, and tells it to both sides. Where it may be made by the name that the
// caller gave, it is; in a supervised tree it is the last component alone.
Status AccessSockets::bind_as_called(const AccessCall& call, int socket, const std::string& path) {
  if (!path.starts_with('/')) {
    const UniqueFd here = TRY(sys::directory_of(places_.proc(), call.path.caller));
    TRY(sys::stay_in(here.get()));
  }
  return sys::bind_to(socket, call.text);
}

Status AccessSockets::bind_in(const AccessCall& call, int socket, const NamedPlace& place) {
  TRY(judge(call, place));
  TRY(sys::stay_in(place.at()));
  TRY(sys::bind_here(socket, place.name));
  Status kept = judge_bound(call, place);
  if (!kept) take_back(place);
  return kept;
}

// As AccessCalls::judge_made(): the directory may have got another name meanwhile.
Status AccessSockets::judge_bound(const AccessCall& call, const NamedPlace& place) const {
  NamedPlace now = place;
  now.path = TRY(places_.path_of(place));
  if (now.path == place.path) return {};
  if (plan::is_known_to_git(now.path)) TRY(take_turn(call, now.path));
  return judge(call, now);
}

Status AccessSockets::judge(const AccessCall& call, const NamedPlace& place) const {
  if (const auto rule = plan::denied_name(settings_.names, place.path)) {
    settings_.refused(call, place.path, *rule);
    return socket_error(EPERM);
  }
  // git takes a socket for a part of a repository as it takes a directory: it checks only search or execute permission.
  // Where it opens a file it fails.
  const Status judged = plan::is_read_by_git(place.path) ? socket_error(EPERM) : judge_git_name(place, MadeOf::kMoved);
  if (!judged && !plan::is_lifted_path(settings_.names, place.path)) {
    settings_.refused(call, place.path, plan::git_rule());
    return judged;
  }
  return {};
}

// The name may mean another file by now, even a socket of the host's that was moved there. Where the kernel does not
// say which file the socket has (bubblewrap's network belongs to a user namespace further out), nobody may answer at it
// yet: its own socket does not listen so soon.
Status AccessSockets::remember(int socket, const NamedPlace& place) {
  auto file = sys::bound_file(socket);
  const bool told = file.has_value();
  const int directory = place.path.empty() ? place.directory->seen.get() : place.at();
  if (!told) file = TRY(sys::open_at(directory, place.name, O_PATH, 0));
  const sys::SocketFile what = TRY(sys::look_at_socket(file->get()));
  if (told || (what.is_socket && !TRY(sys::is_anybody_at(file->get(), socket)))) {
    own_.add(what.identity, std::move(*file));
  }
  return {};
}

bool AccessSockets::still_waits(const AccessCall& call) const {
  return sys::still_waits(settings_.listener, call.raw.id);
}

Status AccessSockets::answer(const AccessCall& call, const Status& made) const {
  if (made) return sys::answer_notification(settings_.listener, call.raw.id);
  const int error = made.error().sys_errno;
  return sys::refuse_notification(settings_.listener, call.raw.id, error != 0 ? error : EPERM);
}

// What leads nowhere in the sandbox, for the host to look for.
std::string AccessSockets::absolute(const AccessCall& call, const std::string& path) const {
  if (path.starts_with('/')) return path;
  const auto here = sys::directory_of(places_.proc(), call.path.caller);
  const auto above = here ? sys::path_of(places_.proc(), here->get()) : Result<std::string>("/");
  return cat({above ? *above : "/", "/", path});
}

}  // namespace hutch::guest
