// The numbers of agents' processes.
#include "service/common/process_numbers.h"

namespace hutch::service {

namespace {

constexpr std::uint32_t kNumbersBlock = 1000;

}  // namespace

ProcessNumbers::~ProcessNumbers() {
  if (last_ < until_) (void)agents_.set_last_process(last_);
}

std::uint32_t ProcessNumbers::next() {
  const std::scoped_lock lock(mutex_);
  if (last_ == until_) {
    const auto stored = agents_.last_process();
    if (stored && *stored > last_) last_ = *stored;
    until_ = last_ + kNumbersBlock;
    (void)agents_.set_last_process(until_);
  }
  return ++last_;
}

}  // namespace hutch::service
