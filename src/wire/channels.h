// Many streams over one that carries bytes alone: what a boundary without descriptors, that of a virtual machine,
// takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace hutch::wire {

// Each descriptor that would travel along with a message has a channel instead: one end of it is at the side that has
// the descriptor, the other at the side that is to have it. A side sends on a channel no more than it has credit for,
// so that whoever does not read stops its own channel and no other. Each direction ends once: whoever sends says so
// (ChannelEnd), also when it is told that nobody reads any more (ChannelStop). What comes about a channel of the other
// side's that has gone meanwhile, other than data, is no fault.

// What the descriptor is, at the side that opens the channel.
enum class ChannelKind : std::uint8_t {
  kGuest,     // the stream of messages with a guest, with which other descriptors travel
  kSource,    // read there
  kSink,      // written there
  kSocket,    // both
  kTerminal,  // the master of a terminal
};

inline constexpr std::uint32_t kChannelWindow = 256 << 10;  // credit at the beginning
inline constexpr std::size_t kChannelDataMax = 32 << 10;    // of one message
inline constexpr std::size_t kChannelFrameMax = kChannelDataMax + 64;
inline constexpr std::size_t kChannelsMax = 4096;

// `parent` is the guest's stream with whose next data the descriptor travels; 0 of one that is such a stream itself.
// The host's channels have even numbers from 2 on, the machine's odd ones; none is used twice.
struct ChannelOpened {
  std::uint32_t channel = 0;
  std::uint32_t parent = 0;
  ChannelKind kind = ChannelKind::kGuest;
};
struct ChannelData {
  std::uint32_t channel = 0;
  std::string bytes;
};
struct ChannelCredit {
  std::uint32_t channel = 0;
  std::uint32_t bytes = 0;
};
struct ChannelEnd {
  std::uint32_t channel = 0;
};
struct ChannelStop {
  std::uint32_t channel = 0;
};
// Of a terminal, at the side that did not open it.
struct ChannelResized {
  std::uint32_t channel = 0;
  std::uint16_t rows = 0;
  std::uint16_t columns = 0;
};

// Of no channel: what time it is out here, in nanoseconds since the epoch. The machine's clock stands still where this
// one's processors do; it is set by that, and each is answered once.
struct ChannelClock {
  std::int64_t clock_ns = 0;
};
struct ChannelClockHeard {};

using ChannelMessage = std::variant<ChannelOpened, ChannelData, ChannelCredit, ChannelEnd, ChannelStop, ChannelResized,
                                    ChannelClock, ChannelClockHeard>;

std::string encode(const ChannelMessage& message);

// Takes messages out of bytes as they come. After an error it is of no more use.
class ChannelReader {
 public:
  void add(std::string_view bytes) { buffer_.append(bytes); }
  Result<std::optional<ChannelMessage>> next();

 private:
  std::string buffer_;
  std::size_t taken_ = 0;  // of buffer_
};

}  // namespace hutch::wire
