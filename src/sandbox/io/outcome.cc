// Outcome: how a command ended.
#include "sandbox/io/outcome.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/limits.h"
#include "base/text.h"
#include "base/utf8.h"

namespace hutch::sandbox {

void Capture::add(std::string_view bytes) {
  total_ += bytes.size();
  if (tail_.empty()) {
    const std::size_t to_head = std::min(bytes.size(), limits::kOutputHeadBytes - head_.size());
    head_ += bytes.substr(0, to_head);
    bytes.remove_prefix(to_head);
    if (bytes.empty()) return;
    const std::size_t whole = head_.size() - unfinished_bytes(head_);
    tail_ = head_.substr(whole);
    head_.resize(whole);
  }
  tail_ += bytes;
  // Cut seldom, so that a long output costs no copy for each piece.
  if (tail_.size() < 2 * limits::kOutputTailBytes) return;
  const std::size_t surplus = tail_.size() - limits::kOutputTailBytes;
  tail_.erase(0, surplus);
  left_out_ += surplus;
}

std::string Capture::text() const {
  const std::uint64_t missing = bytes_left_out();
  if (missing == 0) return cat({head_, tail_});
  return cat({head_, gap_line(missing), tail()});
}

std::string_view Capture::tail() const {
  std::string_view tail = tail_;
  if (tail.size() > limits::kOutputTailBytes) tail.remove_prefix(tail.size() - limits::kOutputTailBytes);
  const bool whole = left_out_ == 0 && tail.size() == tail_.size();
  return whole ? tail : tail.substr(stray_bytes(tail));
}

std::uint64_t Capture::bytes_left_out() const { return left_out_ + (tail_.size() - tail().size()); }

Capture::Piece Capture::read(std::uint64_t offset, std::size_t bytes_max) const {
  Piece piece;
  if (offset < head_.size()) {
    piece.bytes = head_.substr(static_cast<std::size_t>(offset), bytes_max);
    piece.next = offset + piece.bytes.size();
    return piece;
  }
  const std::uint64_t tail_begins = total_ - tail().size();
  const std::uint64_t from = std::min(std::max(offset, tail_begins), total_);
  piece.skipped = from > offset ? from - offset : 0;
  piece.bytes = tail().substr(static_cast<std::size_t>(from - tail_begins), bytes_max);
  piece.next = from + piece.bytes.size();
  return piece;
}

std::string_view Capture::unfinished_line() const {
  const std::string_view last = tail_.empty() ? std::string_view(head_) : tail();
  const std::size_t end = last.rfind('\n');
  return end == std::string_view::npos ? last : last.substr(end + 1);
}

std::string gap_line(std::uint64_t bytes) { return fmt::format("\n[... {} bytes left out ...]\n", bytes); }

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
