// What all connections hold together beyond what each may for itself: a bound that they share.
#pragma once

#include <atomic>
#include <cstddef>

#include "inspect/limits.h"

namespace hutch::inspect {

// Used by many threads at once.
class Budget {
 public:
  explicit Budget(std::size_t bytes) : left_(bytes) {}

  // Whether there was as much.
  bool take(std::size_t bytes);
  void give(std::size_t bytes) { left_.fetch_add(bytes); }

 private:
  std::atomic<std::size_t> left_;
};

// What one taker has of a budget; given back at its end.
class Share {
 public:
  explicit Share(Budget& budget) : budget_(budget) {}
  ~Share() { give_back(); }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  bool take(std::size_t bytes);
  void give_back();

 private:
  Budget& budget_;
  std::size_t bytes_ = 0;
};

struct Memory {
  Budget heads{limits::kHeadsBytesMax};
  Budget windows{limits::kWindowsBytesMax};
};

}  // namespace hutch::inspect
