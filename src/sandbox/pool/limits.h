// How much a pool of sandboxes may have, and what it has.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace hutch::sandbox {

struct PoolLimits {
  std::size_t max = 3;     // sandboxes at once, whatever they are at; 0: nobody gets one
  std::size_t warm = 1;    // idle ones of each key that somebody has asked for lately
  std::size_t queue = 64;  // who may wait until somebody else's sandbox goes
  std::chrono::milliseconds patience{30'000};  // of who waits and names no time
  std::chrono::milliseconds idle{600'000};     // of a key that nobody asks for: then its idle ones go
  // Between two that are made in advance, and after one was taken: whoever took it has the processor first.
  std::chrono::milliseconds fill_gap{50};
  std::chrono::milliseconds retry{10'000};  // after a start in advance, or an end, that failed
};

struct PoolStats {
  std::size_t idle = 0;
  std::size_t busy = 0;
  std::size_t starting = 0;
  std::size_t ending = 0;  // those that could not be ended yet, too
  std::size_t total = 0;   // of all four: never more than max
  std::size_t max = 0;
  std::size_t queued = 0;   // who waits now
  std::uint64_t hits = 0;   // who got an idle one at once
  std::uint64_t waits = 0;  // who found no room
  std::string last_error;   // of a start in advance or of an end; empty: there was none
};

}  // namespace hutch::sandbox
