// The turns that the access supervisors of one user take.
#include "guest/turns.h"

#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

#include "plan/git_files.h"
#include "sys/turn.h"

namespace hutch::guest {

namespace {

// A turn takes less than a millisecond, unless the file system is slow or the supervisor that has it was stopped.
constexpr std::chrono::milliseconds kTurnWait{5000};

}  // namespace

const plan::NameRule& turn_rule() {
  static const plan::NameRule kRule{"/**", std::string(plan::kLateTurn), {}, {}};
  return kRule;
}

Status Turns::take() {
  if (is_mine()) return {};
  if (!sys::take_turn(file_.get(), kTurnWait)) return fail(Error::from_errno("a turn", EBUSY));
  holds_ = true;
  return {};
}

void Turns::give_back() {
  if (!std::exchange(holds_, false)) return;
  sys::give_turn_back(file_.get());
  kept_.clear();
}

}  // namespace hutch::guest
