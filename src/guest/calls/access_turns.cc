// The calls of the access supervisor that it makes in a turn.
#include <fcntl.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "guest/calls/calls.h"
#include "plan/git/files.h"
#include "sys/files/beneath.h"

namespace hutch::guest {

namespace {

constexpr std::uint64_t kDirectoryBytesMax = 1 << 20;
constexpr int kTurnTries = 3;  // a turn may be over before the name leads to another file

// Whether git may find something by the call that it did not find before. Removing a name takes no turn: the next name
// is judged by what is left.
bool makes_name(const AccessCall& call) {
  using enum AccessKind;
  switch (call.kind) {
    case kOpen: return (call.flags & (O_ACCMODE | O_CREAT | O_TRUNC)) != 0 && (call.flags & O_PATH) == 0;
    case kMakeDirectory:
    case kMakeNode:
    case kMakeSymlink:
    case kRename:
    case kLink:
    case kPutContent: return true;
    default: return false;
  }
}

}  // namespace

// The turn comes before the lookup: by what a path says, if that tells; else the call is begun anew once the lookup has
// told, before anything was made.
Result<CallAnswer> AccessCalls::answer(const AccessCall& call) const {
  const TurnScope scope(asked_.turns);
  const bool names_git = plan::is_known_to_git(call.path.text) || plan::is_known_to_git(call.other.text);
  if (makes_name(call) && names_git) TRY(take_turn(call, call.path.text));
  for (int tries = 0;; ++tries) {
    auto answered = make_call(call);
    if (auto untold = std::exchange(untold_, std::nullopt)) return CallAnswer(FirstChange{std::move(*untold)});
    if (!std::exchange(wants_turn_, false) || tries == kTurnTries) return answered;
    TRY(take_turn(call, call.path.text));
  }
}

Status AccessCalls::take_turn(const AccessCall& call, const std::string& path) const {
  Status turn = asked_.turns.take();
  if (!turn) asked_.refused(call, path, turn_rule());
  return turn;
}

Status AccessCalls::want_turn(const AccessCall& call, const std::string& path) const {
  const bool changes = makes_name(call) || call.kind == AccessKind::kTruncate;
  if (changes) untold_ = worked_.to_tell(path, names_);
  if (untold_) return call_error(EAGAIN);
  if (!makes_name(call)) return {};
  if (asked_.turns.is_mine() || !plan::is_known_to_git(path)) return {};
  wants_turn_ = true;
  return call_error(EAGAIN);
}

// A run that is killed between a move and the next message would have left the host with the name before it.
Status AccessCalls::announce_move(const AccessCall& call, const Entry& from, const Entry& to) const {
  if (!worked_.moves(call.raw.id, from.path, to.path, names_)) return {};
  untold_ = wire::Repository{wire::Repository::Event::kMoves, to.path, from.path};
  return call_error(EAGAIN);
}

void AccessCalls::tell_moved(const Entry& from, const Entry& to) const {
  if (worked_.moved(from.path, to.path, names_)) asked_.moved_repository(from.path, to.path);
}

// By way of a name that nothing has.
void AccessCalls::tell_exchanged(const Entry& one, const Entry& other) const {
  const std::string between = cat({one.path, "/"});
  for (const auto& [from, to] :
       {std::pair(one.path, between), std::pair(other.path, one.path), std::pair(between, other.path)}) {
    if (worked_.moved(from, to, names_)) asked_.moved_repository(from, to);
  }
}

// The name of this file goes to another. A large file is kept until the turn is over. Of a large directory the kernel
// would look through all blocks, to find out whether it is empty.
Status AccessCalls::outlive_turn(const Entry& entry) const {
  auto old = sys::open_at(entry.at(), entry.name, O_PATH, 0);
  if (!old || !asked_.turns.holds()) return {};
  const auto what = sys::file_status(old->get(), "");
  const bool slow = what && what->kind == sys::EntryKind::kDirectory && what->size > kDirectoryBytesMax;
  if (slow) return call_error(ENOTEMPTY);
  asked_.turns.keep(std::move(*old));
  return {};
}

}  // namespace hutch::guest
