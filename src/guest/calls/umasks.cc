// The file-creation masks of callers.
#include "guest/calls/umasks.h"

#include <algorithm>
#include <utility>

#include "sys/files/delegate.h"
#include "sys/process/process.h"

namespace hutch::guest {

Status Umasks::take(int proc, pid_t caller) {
  set(TRY(of(proc, caller)));
  return {};
}

void Umasks::set(mode_t mask) {
  if (own_ == mask) return;
  sys::set_umask(mask);
  own_ = mask;
}

void Umasks::add_to(std::vector<pollfd>& wait) const {
  for (const Known& known : known_) wait.push_back({known.pidfd.get(), POLLIN, 0});
}

void Umasks::forget_ended(std::span<const pollfd> ended) {
  for (const pollfd& one : ended) {
    if (one.revents != 0) std::erase_if(known_, [&](const Known& known) { return known.pidfd.get() == one.fd; });
  }
}

Result<mode_t> Umasks::of(int proc, pid_t caller) {
  const auto found = std::ranges::find(known_, caller, &Known::process);
  if (found != known_.end()) return found->mask;
  auto pidfd = sys::pidfd_of(caller);
  const sys::CreationMask mask = TRY(sys::umask_of(proc, caller));
  if (pidfd && mask.sharers == sys::Sharers::kNone) {
    if (known_.size() == kKept) known_.erase(known_.begin());
    known_.push_back({caller, std::move(*pidfd), mask.mask});
  }
  return mask.mask;
}

}  // namespace hutch::guest
