// What all connections hold together beyond what each may for itself.
#include "inspect/budget.h"

#include <utility>

namespace hutch::inspect {

bool Budget::take(std::size_t bytes) {
  std::size_t left = left_.load();
  while (left >= bytes) {
    if (left_.compare_exchange_weak(left, left - bytes)) return true;
  }
  return false;
}

bool Share::take(std::size_t bytes) {
  if (!budget_.take(bytes)) return false;
  bytes_ += bytes;
  return true;
}

void Share::give_back() { budget_.give(std::exchange(bytes_, 0)); }

}  // namespace hutch::inspect
