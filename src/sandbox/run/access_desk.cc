// What the supervisor of a sandbox's files and sockets asks, brought to those who say, and back.
#include "sandbox/run/access_desk.h"

#include <cerrno>
#include <utility>

#include "base/text.h"

namespace hutch::sandbox {

Status AccessDesk::start(std::vector<UniqueFd> descriptors) {
  auto awaited = TRY_CTX(AccessSupervisor::await(std::move(settings_.rules), std::move(descriptors),
                                                 settings_.tell_guest, settings_.before_change),
                         "start the access supervisor");
  supervisor_ = std::make_shared<AccessSupervisor>(std::move(awaited));
  if (!settings_.files.begins) return {};
  const std::weak_ptr<AccessSupervisor> kept = supervisor_;
  FileHold hold;
  hold.narrow = [kept](const std::string& path) {
    const auto supervisor = kept.lock();
    return supervisor ? supervisor->narrow(path) : Status();
  };
  hold.refuse = [kept](const wire::Names& names) {
    const auto supervisor = kept.lock();
    return supervisor ? supervisor->refuse(names) : Status();
  };
  hold.cover = [kept](const std::vector<plan::Hiding>& hidings) -> Result<wire::Covered> {
    const auto supervisor = kept.lock();
    if (!supervisor) return fail(Error{Code::kConflict, 0, "the sandbox has ended"});
    return supervisor->cover(hidings);
  };
  hold.uncover = [kept](const std::vector<std::uint64_t>& mounts) {
    const auto supervisor = kept.lock();
    return supervisor ? supervisor->uncover(mounts) : Status();
  };
  hold.tell = settings_.tell;
  settings_.files.begins(std::move(hold));
  return {};
}

void AccessDesk::hear() {
  if (!supervisor_) return;
  const AccessSupervisor::Heard heard = supervisor_->hear();
  for (const Refusal& refusal : heard.refusals) settings_.tell(refusal);
  for (const SocketRequest& request : heard.requests) judge(request);
  for (const FileRequest& request : heard.files) judge(request);
}

void AccessDesk::settle() {
  if (!supervisor_) return;
  if (supervisor_->is_parked()) return step();
  const Status settled = supervisor_->settle();
  hear();
  if (!settled) settings_.tell({.what = settled.error().message, .rule = ""});
}

void AccessDesk::park() {
  if (!supervisor_ || supervisor_->is_parked()) return;
  const Status parked = supervisor_->park();
  hear();
  if (!parked) settings_.tell({.what = parked.error().message, .rule = ""});
}

Result<UniqueFd> AccessDesk::hand_root() {
  if (!supervisor_) return fail(Error::unsupported("the sandbox has no supervisor"));
  return supervisor_->hand_root();
}

Result<JoinedNamespaces> AccessDesk::hand_namespaces() const {
  if (!supervisor_) return fail(Error::unsupported("the sandbox has no supervisor"));
  return supervisor_->hand_namespaces();
}

void AccessDesk::judge(const SocketRequest& request) {
  if (!settings_.judge_socket) {
    return supervisor_->answer(request.id,
                               {.file = {}, .error = request.error != 0 ? request.error : EACCES, .refusal = {}});
  }
  settings_.judge_socket(
      request, [tell = settings_.tell, kept = std::weak_ptr(supervisor_), id = request.id](const SocketAnswer& answer) {
        const auto supervisor = kept.lock();
        if (!supervisor) return;
        if (answer.refusal) tell(*answer.refusal);
        supervisor->answer(id, answer);
      });
}

void AccessDesk::judge(const FileRequest& request) {
  if (!settings_.files.judge) return (void)supervisor_->answer(request.id, FileAnswer());
  settings_.files.judge(request, [tell = settings_.tell, kept = std::weak_ptr(supervisor_),
                                  request](const FileAnswer& answer) {
    const auto supervisor = kept.lock();
    if (!supervisor) return;
    if (answer.refusal) tell(*answer.refusal);
    const Status answered = supervisor->answer(request.id, answer);
    if (answered) return;
    tell({.what =
              cat({printable(request.path, 256), " was allowed, but could not be opened: ", answered.error().message}),
          .rule = "",
          .pid = request.pid});
  });
}

std::optional<std::chrono::milliseconds> AccessDesk::time_left() const {
  if (supervisor_ && supervisor_->has_heard()) return std::chrono::milliseconds(0);
  return supervisor_ ? supervisor_->time_left() : std::nullopt;
}

// A failure is told, and the rest goes on.
void AccessDesk::step() {
  if (!supervisor_) return;
  if (supervisor_->has_heard()) hear();
  while (const auto over = supervisor_->over()) {
    const Status ended = supervisor_->narrow(*over);
    if (!ended) settings_.tell({.what = cat({"a permission did not end: ", ended.error().message}), .rule = ""});
  }
}

}  // namespace hutch::sandbox
