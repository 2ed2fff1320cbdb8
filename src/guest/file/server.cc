// The file server of a sandbox.
#include "guest/file/server.h"

#include <poll.h>

#include <utility>
#include <variant>

#include "guest/file/content.h"
#include "guest/file/file_tree.h"
#include "guest/file/incoming_tree.h"
#include "guest/file/place.h"
#include "guest/file/uploads.h"
#include "guest/file/walk.h"
#include "sys/channel.h"
#include "sys/files/identity.h"
#include "sys/io.h"
#include "sys/process/lockdown.h"
#include "sys/process/process.h"
#include "sys/process/signals.h"
#include "wire/connection.h"
#include "wire/files.h"

namespace hutch::guest {

namespace {

[[noreturn]] void be_file_server(int socket);
Status prepare_server(int socket);
Status check_host(int socket);
Status settle_when_idle(int socket, Unsettled& unsettled);

// One request; `go_on` fails once the host has gone.
class Answer {
 public:
  Answer(GoOn go_on, Unsettled& unsettled, Uploads& uploads, IncomingTree& tree)
      : go_on_(std::move(go_on)), unsettled_(unsettled), uploads_(uploads), tree_(tree) {}

  using Reply = Result<wire::FileReply>;
  Reply operator()(const wire::StatFile& request) { return of(stat_file(request.place), request.place); }
  Reply operator()(const wire::ReadFile& request) { return of(read_file(request), request.place); }
  Reply operator()(const wire::WriteFile& request) { return of(write_file(request, unsettled_), request.place); }
  Reply operator()(const wire::ListDirectory& request) { return of(list_directory(request), request.place); }
  Reply operator()(const wire::FindFiles& request) { return of(find_files(request), request.place); }
  Reply operator()(const wire::RemoveFile& request) { return of(remove_file(request, go_on_), request.place); }
  Reply operator()(const wire::MoveFile& request) { return of(move_file(request, go_on_), request.source); }
  Reply operator()(const wire::MakeDirectory& request) {
    TRY(explained(make_directory(request.place), request.place));
    return wire::FileDone{};
  }
  Reply operator()(const wire::BeginUpload& request) { return uploads_.begin(request); }
  Reply operator()(const wire::AppendUpload& request) { return uploads_.append(request); }
  Reply operator()(const wire::EndUpload& request) { return uploads_.end(request, unsettled_); }
  Reply operator()(const wire::BeginTree& request) { return tree_.begin(request); }
  Reply operator()(const wire::AddToTree& request) { return tree_.add(request); }
  Reply operator()(const wire::EndTree& request) { return tree_.end(request); }

 private:
  template <class T>
  static Reply of(Result<T> result, const wire::FilePlace& place) {
    if (!result) return fail(explained(std::move(result).error(), place));
    return wire::FileReply(std::move(*result));
  }

  GoOn go_on_;
  Unsettled& unsettled_;
  Uploads& uploads_;
  IncomingTree& tree_;
};

}  // namespace

Result<StartedFileServer> start_file_server() {
  auto [hosts, servers] = TRY(sys::socket_pair());
  const pid_t pid = TRY(sys::fork_process(sys::Parentage::kOwn));
  if (pid == 0) be_file_server(servers.get());
  return StartedFileServer{std::move(hosts), pid};
}

Status serve_files(UniqueFd socket) {
  wire::Connection host(std::move(socket));
  Unsettled unsettled;
  Uploads uploads;
  IncomingTree tree;
  for (;;) {
    TRY(settle_when_idle(host.fd(), unsettled));
    const auto frame = TRY(host.receive());
    if (!frame) return {};
    // Nothing travels along with a request.
    if (!host.take_descriptors().empty()) return fail(Error::invalid("a request with descriptors"));
    const wire::FileRequest request = TRY(wire::decode_file_request(frame->header, frame->body));
    auto reply = std::visit(Answer([&host] { return check_host(host.fd()); }, unsettled, uploads, tree), request);
    const int file = reply && std::holds_alternative<wire::AddToTree>(request) ? tree.file() : -1;
    if (!reply) reply = wire::FileReply(wire::FileFailed{std::move(reply).error()});
    TRY(host.send(*reply, {&file, file < 0 ? 0U : 1U}));
  }
}

namespace {

Status settle_when_idle(int socket, Unsettled& unsettled) {
  static constexpr std::chrono::milliseconds kIdle{20};
  if (unsettled.empty()) return {};
  pollfd wait{socket, POLLIN, 0};
  if (TRY(sys::poll({&wait, 1}, kIdle)) == 0) unsettled.settle();
  return {};
}

void be_file_server(int socket) {
  Status served = prepare_server(socket);
  // The first answer, then: the host asks and hears why nothing is answered.
  if (!served) (void)wire::Connection(UniqueFd(0)).send(wire::FileReply(wire::FileFailed{served.error()}));
  if (served) served = serve_files(UniqueFd(0));
  sys::exit_now(served ? 0 : 125);
}

Status prepare_server(int socket) {
  // The C library's last words go to 2, whatever file that is: to the host, which then knows them for no frame.
  for (int number = 0; number < 3; ++number) TRY(sys::install_fd(socket, number));
  TRY(sys::close_from(3));
  TRY(sys::die_with_parent());
  TRY(sys::new_session());
  // No handler is left, and nothing but KILL ends or stops it: what the sandbox's processes send to all is not for it.
  TRY(sys::reset_signals());
  TRY(sys::block_all_signals());
  sys::set_umask(022);
  TRY(sys::no_new_privileges());
  return sys::not_dumpable();
}

Status check_host(int socket) {
  pollfd end{socket, 0, 0};
  TRY(sys::poll({&end, 1}, std::chrono::milliseconds(0)));
  if ((end.revents & (POLLHUP | POLLERR)) == 0) return {};
  return fail({Code::kTimeout, 0, "nobody waits for the answer any more"});
}

}  // namespace

}  // namespace hutch::guest
