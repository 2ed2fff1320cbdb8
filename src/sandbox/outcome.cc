// Outcome: how a command ended.
#include "sandbox/outcome.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/limits.h"

namespace hutch::sandbox {

void Capture::add(std::string_view bytes) {
  total_ += bytes.size();
  const std::size_t to_head = std::min(bytes.size(), limits::kOutputHeadBytes - head_.size());
  head_ += bytes.substr(0, to_head);
  bytes.remove_prefix(to_head);
  tail_ += bytes;
  // Cut seldom, so that a long output costs no copy for each piece.
  if (tail_.size() < 2 * limits::kOutputTailBytes) return;
  const std::size_t surplus = tail_.size() - limits::kOutputTailBytes;
  tail_.erase(0, surplus);
  left_out_ += surplus;
}

std::string Capture::text() const {
  const std::size_t surplus = tail_.size() > limits::kOutputTailBytes ? tail_.size() - limits::kOutputTailBytes : 0;
  const std::uint64_t missing = left_out_ + surplus;
  if (missing == 0) return head_ + tail_;
  return fmt::format("{}\n[... {} bytes left out ...]\n{}", head_, missing, std::string_view(tail_).substr(surplus));
}

std::uint64_t Capture::bytes_left_out() const {
  return left_out_ + (tail_.size() > limits::kOutputTailBytes ? tail_.size() - limits::kOutputTailBytes : 0);
}

bool is_timeout(EndedBy reason) { return reason == EndedBy::kTimeout || reason == EndedBy::kIdleTimeout; }

bool is_killed(EndedBy reason) { return reason != EndedBy::kItself; }

std::string_view name_of(EndedBy reason) {
  switch (reason) {
    case EndedBy::kItself: return "itself";
    case EndedBy::kTimeout: return "timeout";
    case EndedBy::kIdleTimeout: return "idle timeout";
    case EndedBy::kSignal: return "signal";
    case EndedBy::kMemoryLimit: return "memory limit";
    case EndedBy::kGuestGone: return "sandbox";
  }
  return "";
}

}  // namespace hutch::sandbox
