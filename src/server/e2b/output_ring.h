// The output of a process for any number of readers. No reader delays the others for longer than kPatience. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace hutch::server {

enum class OutputKind { kOutput, kError, kTerminal };

// As fast as the fastest reader is the process read. One that has fallen behind it by all that is kept is waited for:
// a busy machine lets no reader run at times. One that does not catch up within kPatience loses what was between. Of
// what nobody reads the end is kept for the next who comes.
class OutputRing {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kAheadMax = 256 << 10;  // of the fastest reader
  static constexpr std::uint64_t kKeptMax = 2 << 20;
  static constexpr std::chrono::seconds kPatience{2};

  using Reader = std::uint64_t;
  // Begins with what nobody has read; where somebody reads, with what comes from now on.
  Reader join();
  void leave(Reader reader);

  // Whether the process is to be read: always where nobody listens.
  bool wants_more(Clock::time_point now);
  // If wants_more() was false because of a reader that has fallen behind: until when the process waits for it.
  std::optional<Clock::time_point> patience_end() const { return patience_end_; }
  void add(OutputKind kind, std::string_view bytes);

  struct Piece {
    OutputKind kind = OutputKind::kOutput;
    std::string bytes{};
    std::uint64_t lost = 0;  // bytes before these that this reader will not have
  };
  std::optional<Piece> take(Reader reader, std::size_t bytes_max);

  bool has_more(Reader reader) const;
  std::uint64_t bytes_kept() const { return kept_; }  // of memory: little pieces cost more than their bytes
  // Of these, what the fastest reader has had, or all of them where there is none: nobody waits for them.
  std::uint64_t bytes_droppable() const;
  void drop(std::uint64_t bytes);  // the oldest chunks of them, until so many are gone

 private:
  struct Chunk {
    std::uint64_t begin;
    OutputKind kind;
    std::string bytes;
    std::uint64_t end() const { return begin + bytes.size(); }
  };
  static std::uint64_t cost(const Chunk& chunk) { return sizeof(Chunk) + chunk.bytes.size(); }
  struct Place {
    std::uint64_t at;
    std::optional<Clock::time_point> behind_since{};  // by all that is kept, and not caught up since
  };
  void pop();
  void drop_read();
  bool waits_for(Place& reader, Clock::time_point now);
  std::uint64_t unwanted() const;  // up to here

  std::deque<Chunk> chunks_;
  std::uint64_t kept_ = 0;  // the costs of all
  std::uint64_t end_ = 0;
  std::uint64_t read_ = 0;  // up to here somebody has had it
  std::map<Reader, Place> readers_;
  std::optional<Clock::time_point> patience_end_;
  Reader last_ = 0;
};

}  // namespace hutch::server
