// The turns that the access supervisors of one user take.
#include "guest/calls/turns.h"

#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

#include "plan/git/files.h"
#include "sys/process/turn.h"

namespace hutch::guest {

namespace {

// A turn takes less than a millisecond, unless the file system is slow or the supervisor that has it was stopped. hutch
// itself waits for a supervisor only a little longer (limits::kWidenWait).
constexpr std::chrono::milliseconds kTurnWait{3000};
// After a turn that did not come, until one does: each call of the sandbox waits for its supervisor.
constexpr std::chrono::milliseconds kLateTurnWait{20};

}  // namespace

const plan::NameRule& turn_rule() {
  static const plan::NameRule kRule{"/**", std::string(plan::kLateTurn), {}, {}};
  return kRule;
}

Status Turns::take() {
  if (is_mine()) return {};
  const Status turn = sys::take_turn(file_.get(), is_late_ ? kLateTurnWait : kTurnWait);
  is_late_ = !turn;
  holds_ = turn.has_value();
  return turn ? Status() : fail(Error::from_errno("a turn", EBUSY));
}

void Turns::give_back() {
  if (!std::exchange(holds_, false)) return;
  sys::give_turn_back(file_.get());
  kept_.clear();
}

}  // namespace hutch::guest
