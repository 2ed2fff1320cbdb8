// What git does with protected files that its commits contain.
#include <fcntl.h>

#include <cerrno>

#include "guest/access_calls.h"
#include "plan/names.h"
#include "sys/beneath.h"

namespace hutch::guest {

// Only a name of the list denies the path, and git takes a directory above it for a work tree.
std::optional<ReplacedFiles::Wanted> AccessCalls::replaceable(const AccessCall& call, const Entry& entry) const {
  if (entry.name.empty() || entry.name.ends_with('/') || !entry.directory->copy) return std::nullopt;
  if (entry.directory->changes != Directory::Changes::kAll) return std::nullopt;
  auto rule = plan::replaceable_name(names_, entry.path);
  if (!rule || !replaced_.is_in_work_tree(places_, entry)) return std::nullopt;
  return ReplacedFiles::Wanted{entry, std::move(*rule), call.mode & 0777, call.raw.pid};
}

// git makes each file anew. What writes a file in place is refused, so that its caller knows.
Result<std::optional<CallAnswer>> AccessCalls::open_replaced(const AccessCall& call, const Entry& entry) const {
  const bool makes = (call.flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL) && (call.flags & O_ACCMODE) == O_WRONLY;
  auto wanted = makes ? replaceable(call, entry) : std::nullopt;
  if (!wanted) return std::optional<CallAnswer>();
  if (!asked_.still_waits(call)) return fail(call_error(EINTR).error());
  TRY(take_umask(call));
  wanted->mode &= ~umasks_.own();
  UniqueFd file = TRY(replaced_.open(std::move(*wanted)));
  const bool closes = (call.flags & O_CLOEXEC) != 0;
  return CallAnswer(Opened{std::move(file), closes ? sys::OnExec::kClose : sys::OnExec::kKeep});
}

Result<std::optional<CallAnswer>> AccessCalls::link_replaced(const AccessCall& call, const Entry& entry) const {
  const auto wanted = call.kind == AccessKind::kMakeSymlink ? replaceable(call, entry) : std::nullopt;
  if (!wanted) return std::optional<CallAnswer>();
  if (!asked_.still_waits(call)) return fail(call_error(EINTR).error());
  umasks_.take_none();
  TRY(replaced_.link(places_, *wanted, call.text, asked_.replaced));
  return CallAnswer(Done{});
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
