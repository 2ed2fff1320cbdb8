// What a process writes, for any number of readers.
#include "server/e2b/output_ring.h"

#include <algorithm>
#include <utility>

namespace hutch::server {

namespace {

constexpr std::size_t kChunkBytes = 64 << 10;

}  // namespace

OutputRing::Reader OutputRing::join() {
  const std::uint64_t from = readers_.empty() ? read_ : end_;
  readers_.emplace(++last_, Place{std::max(from, chunks_.empty() ? end_ : chunks_.front().begin)});
  return last_;
}

void OutputRing::leave(Reader reader) {
  readers_.erase(reader);
  drop_read();
}

bool OutputRing::wants_more(Clock::time_point now) {
  patience_end_.reset();
  if (readers_.empty()) return true;
  if (end_ - unwanted() >= kAheadMax) return false;
  if (kept_ + kChunkBytes + sizeof(Chunk) <= kKeptMax) return true;
  // Each of them, since each has a time of its own.
  for (auto& [reader, place] : readers_) {
    if (!waits_for(place, now)) continue;
    const Clock::time_point end = *place.behind_since + kPatience;
    patience_end_ = std::max(patience_end_.value_or(end), end);
  }
  return !patience_end_;
}

bool OutputRing::waits_for(Place& reader, Clock::time_point now) {
  if (chunks_.empty() || reader.at >= chunks_.front().end()) return false;
  if (!reader.behind_since) reader.behind_since = now;
  return now < *reader.behind_since + kPatience;
}

std::uint64_t OutputRing::unwanted() const {
  if (readers_.empty()) return end_;
  std::uint64_t fastest = 0;
  for (const auto& [reader, place] : readers_) fastest = std::max(fastest, place.at);
  return fastest;
}

std::uint64_t OutputRing::bytes_droppable() const {
  const std::uint64_t until = unwanted();
  if (until == end_) return kept_;
  std::uint64_t bytes = 0;
  for (const Chunk& chunk : chunks_) {
    if (chunk.end() > until) break;
    bytes += cost(chunk);
  }
  return bytes;
}

void OutputRing::drop(std::uint64_t bytes) {
  const std::uint64_t until = unwanted();
  const std::uint64_t left = kept_ - std::min(kept_, bytes);
  while (kept_ > left && chunks_.front().end() <= until) pop();
}

void OutputRing::pop() {
  kept_ -= cost(chunks_.front());
  chunks_.pop_front();
}

// Small pieces are put together, so that a process that writes byte by byte costs no more than its bytes.
void OutputRing::add(OutputKind kind, std::string_view bytes) {
  if (bytes.empty()) return;
  if (!chunks_.empty() && chunks_.back().kind == kind && chunks_.back().bytes.size() + bytes.size() <= kChunkBytes) {
    chunks_.back().bytes += bytes;
    kept_ += bytes.size();
  } else {
    chunks_.push_back({end_, kind, std::string(bytes)});
    kept_ += cost(chunks_.back());
  }
  end_ += bytes.size();
  while (kept_ > kKeptMax && chunks_.size() > 1) pop();
}

std::optional<OutputRing::Piece> OutputRing::take(Reader reader, std::size_t bytes_max) {
  const auto found = readers_.find(reader);
  if (found == readers_.end() || found->second.at == end_) return std::nullopt;
  std::uint64_t& at = found->second.at;
  const auto chunk = std::ranges::lower_bound(chunks_, at, std::ranges::less_equal(), &Chunk::end);
  if (chunk == chunks_.end()) return Piece{.lost = end_ - std::exchange(at, end_)};
  Piece piece{.kind = chunk->kind};
  if (at < chunk->begin) {
    piece.lost = chunk->begin - at;
    at = chunk->begin;
  }
  piece.bytes = chunk->bytes.substr(at - chunk->begin, bytes_max);
  at += piece.bytes.size();
  if (end_ - at <= kKeptMax / 2) found->second.behind_since.reset();
  read_ = std::max(read_, at);
  drop_read();
  return piece;
}

bool OutputRing::has_more(Reader reader) const {
  const auto found = readers_.find(reader);
  return found != readers_.end() && found->second.at < end_;
}

void OutputRing::drop_read() {
  std::uint64_t needed = readers_.empty() ? read_ : end_;
  for (const auto& [reader, place] : readers_) needed = std::min(needed, place.at);
  while (!chunks_.empty() && chunks_.front().end() <= needed) pop();
}

}  // namespace hutch::server
