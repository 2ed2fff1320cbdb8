// What git does with protected files that its commits contain.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "guest/calls/calls.h"
#include "plan/paths/names.h"
#include "sys/files/beneath.h"

namespace hutch::guest {

// Only a name of the list denies the path, and git takes a directory above it for a work tree.
std::optional<ReplacedFiles::Wanted> AccessCalls::replaceable(const AccessCall& call, const Entry& entry) const {
  if (entry.name.empty() || entry.name.ends_with('/') || !entry.directory->copy) return std::nullopt;
  if (entry.directory->changes != Directory::Changes::kAll) return std::nullopt;
  auto rule = plan::replaceable_name(names_, entry.path);
  if (!rule || !replaced_.is_in_work_tree(places_, entry)) return std::nullopt;
  using enum ReplacedFiles::Wanted::Kind;
  return ReplacedFiles::Wanted{entry, std::move(*rule), (call.mode & S_IXUSR) != 0 ? kProgram : kPlain, call.raw.pid};
}

// git makes each file anew. What writes a file in place is refused, so that its caller knows.
Result<std::optional<CallAnswer>> AccessCalls::open_replaced(const AccessCall& call, const Entry& entry) const {
  const bool makes = (call.flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL) && (call.flags & O_ACCMODE) == O_WRONLY;
  auto wanted = makes ? replaceable(call, entry) : std::nullopt;
  if (!wanted) return std::optional<CallAnswer>();
  if (!asked_.still_waits(call)) return fail(call_error(EINTR).error());
  UniqueFd file = TRY(replaced_.open(std::move(*wanted)));
  const bool closes = (call.flags & O_CLOEXEC) != 0;
  return CallAnswer(Opened{std::move(file), closes ? sys::OnExec::kClose : sys::OnExec::kKeep});
}

Result<std::optional<CallAnswer>> AccessCalls::link_replaced(const AccessCall& call, const Entry& entry) const {
  const auto wanted = call.kind == AccessKind::kMakeSymlink ? replaceable(call, entry) : std::nullopt;
  if (!wanted) return std::optional<CallAnswer>();
  if (!asked_.still_waits(call)) return fail(call_error(EINTR).error());
  umasks_.take_none();
  using enum ReplacedFiles::Event;
  const auto target = protected_target(*wanted, call.text);
  if (!target && replaced_.is_taken(entry)) return fail(call_error(EEXIST).error());
  if (!target) {
    asked_.replaced(kHeldBack, wanted->caller, entry.path, wanted->rule);
    return CallAnswer(Done{});
  }
  TRY(replaced_.link(places_, *wanted, {call.text, *target}, asked_.replaced));
  return CallAnswer(Done{});
}

// The target of a link, if it needs protection from now on. Empty: it is protected, or the sandbox cannot write it.
// Absent: the sandbox could have written it.
std::optional<std::string> AccessCalls::protected_target(const ReplacedFiles::Wanted& wanted,
                                                         std::string_view text) const {
  const std::string above = wanted.entry.path.substr(0, std::max<std::size_t>(wanted.entry.path.rfind('/'), 1));
  // A directory on the way may be a link: then ".." does not lead back.
  bool is_below = false;
  for (const std::string_view part : split(text, '/')) {
    if (part == ".." && is_below) return std::nullopt;
    is_below = is_below || (!part.empty() && part != "." && part != "..");
  }
  std::string target = path_from(above, text);
  const auto there = places_.in_copy_at(target);
  if (!there && there.error().sys_errno != ENOENT) return std::nullopt;
  const auto what = there ? sys::look_at(there->get()) : Result<sys::Resolved>(sys::Resolved());
  if (!what || (there && S_ISLNK(what->mode))) return std::nullopt;
  const bool is_safe = plan::denied_name(names_, target) || !places_.is_writable(target);
  if (there && !is_safe) return std::nullopt;
  return is_safe && there ? std::string() : target;
}

Result<std::optional<CallAnswer>> AccessCalls::remove_replaced(const AccessCall& call, const Entry& entry) const {
  const auto wanted = replaceable(call, entry);
  if (!wanted) return std::optional<CallAnswer>();
  if (!asked_.still_waits(call)) return fail(call_error(EINTR).error());
  // The kernel removes only an empty directory.
  const auto removal = (call.flags & AT_REMOVEDIR) != 0 ? ReplacedFiles::Removal::kMayGo
                                                        : replaced_.remove(places_, *wanted, asked_.replaced);
  if (removal == ReplacedFiles::Removal::kRefused) return std::optional<CallAnswer>();
  if (removal == ReplacedFiles::Removal::kMayGo) TRY(sys::unlink_with(entry.at(), entry.name, call.flags));
  return CallAnswer(Done{});
}

}  // namespace hutch::guest
