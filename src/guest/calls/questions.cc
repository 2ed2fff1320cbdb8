// Calls about files that no rule allows.
#include "guest/calls/questions.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "guest/places/kept_places.h"
#include "sys/notify.h"

namespace hutch::guest {

namespace {

// Of those that wait: each holds a thread of the sandbox.
constexpr std::size_t kWaitingMax = 256;
constexpr int kQuestionRoundsMax = 3;
constexpr std::chrono::milliseconds kCallerCheck{250};
constexpr mode_t kOwnerMayWrite = 0200;

using Wanted = wire::FileAsked::Wanted;

bool opens(const AccessCall& call) { return call.kind == AccessKind::kOpen; }

bool runs(const AccessCall& call) { return call.raw.syscall == SYS_execve || call.raw.syscall == SYS_execveat; }

// Whether the call is about a name that may not be there yet.
bool makes(const AccessCall& call) {
  switch (call.kind) {
    case AccessKind::kOpen: return (call.flags & O_CREAT) != 0;
    case AccessKind::kMakeDirectory:
    case AccessKind::kMakeNode:
    case AccessKind::kMakeSymlink:
    case AccessKind::kPutContent: return true;
    default: return false;
  }
}

// Fails with EEXIST where the name is there.
bool makes_only_new(const AccessCall& call) {
  using enum AccessKind;
  return call.kind == kMakeDirectory || call.kind == kMakeNode || call.kind == kMakeSymlink;
}

sys::LastLink last_link_of(const AccessCall& call) {
  using enum AccessKind;
  const bool keeps = makes_only_new(call) || call.kind == kRemove || call.kind == kRename || call.kind == kPutContent;
  if (keeps || (opens(call) && (call.flags & O_NOFOLLOW) != 0)) return sys::LastLink::kKeep;
  return call.last;
}

}  // namespace

void AccessQuestions::hide(std::vector<std::string> places) {
  hidden_ = std::move(places);
  std::ranges::sort(hidden_);
}

bool AccessQuestions::is_look(const AccessCall& call) {
  if (call.kind == AccessKind::kLook) return true;
  return opens(call) && (call.flags & (O_ACCMODE | O_CREAT | O_TRUNC)) == 0;
}

std::optional<wire::FileAsked> AccessQuestions::about(const AccessCall& call) const {
  if (call.descriptor || call.resolve != 0) return std::nullopt;
  const bool look = is_look(call);
  if (look && settings_.questions != plan::FileQuestions::kAll) return std::nullopt;
  auto path = look ? looked_at(call) : changed(call);
  if (!path || is_of_kernel(*path)) return std::nullopt;
  return wire::FileAsked{call.raw.id, call.raw.pid, look ? Wanted::kLook : Wanted::kChange, std::move(*path)};
}

// What is hidden is not there, or it is a directory that cannot be listed, or a device that cannot be opened: whether
// those are there nobody has to be asked. A file without any mode is one on which a mount is about to lie.
std::optional<std::string> AccessQuestions::looked_at(const AccessCall& call) const {
  const auto sight = places_.sight(call.path, last_link_of(call));
  if (sight && sight->is_bare) return std::nullopt;
  const bool seen = sight && sight->there;
  const auto what = seen ? sys::look_at(sight->there.get()) : Result<sys::Resolved>(sys::Resolved());
  if (!what) return std::nullopt;
  const bool is_mount_point = seen && S_ISREG(what->mode) && (what->mode & 0777) == 0;
  if (seen && !is_mount_point) {
    const bool may_be_cover = S_ISDIR(what->mode) || S_ISCHR(what->mode);
    const bool uses = (opens(call) && (call.flags & O_PATH) == 0) || runs(call);
    if (!may_be_cover || !uses) return std::nullopt;
  }
  // hutch's own are in memory; anybody makes one of such a mode.
  if (seen && !S_ISCHR(what->mode) && !sys::is_on_tmpfs(sight->there.get()).value_or(false)) return std::nullopt;
  const auto where = places_.whereabouts(call.path, last_link_of(call));
  if (!where) return std::nullopt;
  if (!is_hidden(where->path)) return std::nullopt;
  // What is only passed through, to something that is shown, is hidden itself.
  const bool passed = S_ISDIR(what->mode) && (what->mode & 0777 & ~kOwnerMayWrite) == kPassedThroughMode;
  const bool hidden = !where->is_there || passed || is_mount_point || std::ranges::binary_search(hidden_, where->path);
  return hidden ? std::optional(where->path) : std::nullopt;
}

std::optional<std::string> AccessQuestions::changed(const AccessCall& call) const {
  using enum AccessKind;
  if (call.kind == kAskAccess || call.kind == kCreationMask) return std::nullopt;
  if (auto path = changed(call, call.path, last_link_of(call))) return path;
  if (call.kind != kRename && call.kind != kLink) return std::nullopt;
  return changed(call, call.other, sys::LastLink::kKeep);
}

std::optional<std::string> AccessQuestions::changed(const AccessCall& call, const CallerPath& path,
                                                    sys::LastLink last) const {
  const auto where = places_.whereabouts(path, last);
  if (!where) return std::nullopt;
  const bool is_new = makes(call) || &path == &call.other;
  if (makes_only_new(call) && where->is_there && !is_hidden(where->path)) return std::nullopt;
  const bool may_be_hidden = !where->is_there && is_hidden(where->path);
  // In a private home, only a call that fails anyway may be about a hidden host file.
  const bool fails = !is_new || !where->has_parent;
  const bool is_own = where->is_writable || places_.is_writable(where->path);
  if (is_own && !(may_be_hidden && fails)) return std::nullopt;
  if (!where->is_there && !is_new && !may_be_hidden) return std::nullopt;
  return where->path;
}

bool AccessQuestions::is_hidden(const std::string& path) const {
  return std::ranges::any_of(hidden_, [&](const std::string& root) { return is_within(path, root); });
}

Result<bool> AccessQuestions::ask(const Waiting& waiting, const wire::FileAsked& asked) {
  if (waiting.rounds >= kQuestionRoundsMax || waiting_.size() >= kWaitingMax) return false;
  TRY(settings_.ask(asked));
  waiting_.insert_or_assign(asked.id, Waiting{waiting.call, waiting.rounds + 1});
  return true;
}

std::optional<AccessQuestions::Waiting> AccessQuestions::take(std::uint64_t id) {
  auto found = waiting_.extract(id);
  if (found.empty() || !sys::still_waits(settings_.listener, id)) return std::nullopt;
  return std::move(found.mapped());
}

std::optional<std::chrono::milliseconds> AccessQuestions::time_left() const {
  return waiting_.empty() ? std::nullopt : std::optional(kCallerCheck);
}

void AccessQuestions::forget_gone() {
  std::erase_if(waiting_, [&](const auto& one) { return !sys::still_waits(settings_.listener, one.first); });
}

}  // namespace hutch::guest
