// What a process writes, for any number of readers.
#include "server/output_ring.h"

#include <algorithm>

namespace hutch::server {

namespace {

constexpr std::size_t kChunkBytes = 64 << 10;

}  // namespace

OutputRing::Reader OutputRing::join() {
  const std::uint64_t from = readers_.empty() ? read_ : end_;
  readers_.emplace(++last_, std::max(from, chunks_.empty() ? end_ : chunks_.front().begin));
  return last_;
}

void OutputRing::leave(Reader reader) {
  readers_.erase(reader);
  drop_read();
}

bool OutputRing::wants_more() const {
  if (readers_.empty()) return true;
  std::uint64_t fastest = 0;
  for (const auto& [reader, at] : readers_) fastest = std::max(fastest, at);
  return end_ - fastest < kAheadMax;
}

// Small pieces are put together, so that a process that writes byte by byte costs no more than its bytes.
void OutputRing::add(OutputKind kind, std::string_view bytes) {
  if (bytes.empty()) return;
  if (!chunks_.empty() && chunks_.back().kind == kind && chunks_.back().bytes.size() + bytes.size() <= kChunkBytes) {
    chunks_.back().bytes += bytes;
  } else {
    chunks_.push_back({end_, kind, std::string(bytes)});
  }
  end_ += bytes.size();
  while (end_ - chunks_.front().begin > kKeptMax && chunks_.size() > 1) chunks_.pop_front();
}

std::optional<OutputRing::Piece> OutputRing::take(Reader reader, std::size_t bytes_max) {
  const auto found = readers_.find(reader);
  if (found == readers_.end() || found->second == end_) return std::nullopt;
  std::uint64_t& at = found->second;
  auto chunk = std::ranges::lower_bound(chunks_, at, std::ranges::less_equal(), &Chunk::end);
  Piece piece{.kind = chunk->kind};
  if (at < chunk->begin) {
    piece.lost = chunk->begin - at;
    at = chunk->begin;
  }
  piece.bytes = chunk->bytes.substr(at - chunk->begin, bytes_max);
  at += piece.bytes.size();
  read_ = std::max(read_, at);
  drop_read();
  return piece;
}

bool OutputRing::has_more(Reader reader) const {
  const auto found = readers_.find(reader);
  return found != readers_.end() && found->second < end_;
}

void OutputRing::drop_read() {
  std::uint64_t needed = readers_.empty() ? read_ : end_;
  for (const auto& [reader, at] : readers_) needed = std::min(needed, at);
  while (!chunks_.empty() && chunks_.front().end() <= needed) chunks_.pop_front();
}

}  // namespace hutch::server
