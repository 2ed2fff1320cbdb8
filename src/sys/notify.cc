// Calls that wait for another process's word.
#include "sys/notify.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>

#include <algorithm>

#include "sys/call.h"
#include "sys/kernel_abi.h"

namespace hutch::sys {

namespace {

Status send_answer(int listener, seccomp_notif_resp answer) {
  const int sent = retry([&] { return ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer); });
  if (sent < 0 && errno == ENOENT) return {};  // its process went away
  return check(sent, {"ioctl(SECCOMP_IOCTL_NOTIF_SEND)"});
}

}  // namespace

Result<std::optional<Notification>> receive_notification(int listener) {
  seccomp_notif request{};
  const int answer = retry([&] { return ::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request); });
  if (answer < 0 && errno == ENOENT) return std::optional<Notification>();
  TRY(check(answer, {"ioctl(SECCOMP_IOCTL_NOTIF_RECV)"}));
  Notification call{request.id, request.pid, request.data.nr, {}};
  std::copy(std::begin(request.data.args), std::end(request.data.args), call.arguments.begin());
  return std::optional<Notification>(call);
}

Status refuse_notification(int listener, std::uint64_t id, int error) {
  seccomp_notif_resp answer{};
  answer.id = id;
  answer.error = -error;
  return send_answer(listener, answer);
}

Status answer_notification(int listener, std::uint64_t id, std::int64_t value) {
  seccomp_notif_resp answer{};
  answer.id = id;
  answer.val = value;
  return send_answer(listener, answer);
}

Status continue_notification(int listener, std::uint64_t id) {
  seccomp_notif_resp answer{};
  answer.id = id;
  answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  return send_answer(listener, answer);
}

Status answer_with_descriptor(int listener, std::uint64_t id, int descriptor, OnExec on_exec) {
  seccomp_notif_addfd added{};
  added.id = id;
  added.flags = SECCOMP_ADDFD_FLAG_SEND;
  added.srcfd = static_cast<std::uint32_t>(descriptor);
  added.newfd_flags = on_exec == OnExec::kClose ? O_CLOEXEC : 0;
  const int sent = retry([&] { return ::ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &added); });
  // The kernel begins the call anew where a signal, or the machine's sleep, came in between (signal(7)), and has
  // answered the caller by then: with 0, and without a descriptor.
  if (sent >= 0 || errno == ENOENT || errno == EINPROGRESS) return {};
  return refuse_notification(listener, id, errno);
}

bool still_waits(int listener, std::uint64_t id) {
  return retry([&] { return ::ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id); }) == 0;
}

void wake_in_turn(int listener) { (void)::ioctl(listener, kSeccompNotifSetFlags, kSeccompSyncWakeUp); }

}  // namespace hutch::sys
