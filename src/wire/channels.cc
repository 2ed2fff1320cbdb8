// Many streams over one that carries bytes alone.
#include "wire/channels.h"

#include "base/text.h"
#include "wire/frame_codec.h"

namespace hutch::wire {

namespace {

void write_channel(Writer& out, const ChannelOpened& message) {
  out.u32(message.channel);
  out.u32(message.parent);
  out.u8(static_cast<std::uint8_t>(message.kind));
}
void write_channel(Writer& out, const ChannelData& message) {
  out.u32(message.channel);
  out.text(message.bytes);
}
void write_channel(Writer& out, const ChannelCredit& message) {
  out.u32(message.channel);
  out.u32(message.bytes);
}
void write_channel(Writer& out, const ChannelEnd& message) { out.u32(message.channel); }
void write_channel(Writer& out, const ChannelStop& message) { out.u32(message.channel); }
void write_channel(Writer& out, const ChannelResized& message) {
  out.u32(message.channel);
  out.u16(message.rows);
  out.u16(message.columns);
}

void write_channel(Writer& out, const ChannelClock& message) { out.u64(static_cast<std::uint64_t>(message.clock_ns)); }
void write_channel(Writer&, const ChannelClockHeard&) {}

void read_channel(Reader& in, ChannelOpened& message) {
  message.channel = in.u32();
  message.parent = in.u32();
  message.kind = in.choice(ChannelKind::kTerminal);
}
void read_channel(Reader& in, ChannelData& message) {
  message.channel = in.u32();
  message.bytes = in.text();
}
void read_channel(Reader& in, ChannelCredit& message) {
  message.channel = in.u32();
  message.bytes = in.u32();
}
void read_channel(Reader& in, ChannelEnd& message) { message.channel = in.u32(); }
void read_channel(Reader& in, ChannelStop& message) { message.channel = in.u32(); }
void read_channel(Reader& in, ChannelResized& message) {
  message.channel = in.u32();
  message.rows = in.u16();
  message.columns = in.u16();
}
void read_channel(Reader& in, ChannelClock& message) { message.clock_ns = static_cast<std::int64_t>(in.u64()); }
void read_channel(Reader&, ChannelClockHeard&) {}

}  // namespace

std::string encode(const ChannelMessage& message) {
  return encode_frame(message, [](Writer& out, const auto& one) { write_channel(out, one); });
}

Result<std::optional<ChannelMessage>> ChannelReader::next() {
  const std::string_view rest = std::string_view(buffer_).substr(taken_);
  if (rest.size() < kFrameHeaderBytes) {
    buffer_.erase(0, std::exchange(taken_, 0));
    return std::optional<ChannelMessage>();
  }
  const FrameHeader header = TRY(decode_header(rest.substr(0, kFrameHeaderBytes)));
  if (header.size > kChannelFrameMax) return fail(Error::invalid("a channel's message is too long"));
  if (rest.size() - kFrameHeaderBytes < header.size) {
    buffer_.erase(0, std::exchange(taken_, 0));
    return std::optional<ChannelMessage>();
  }
  auto message = TRY(decode_frame<ChannelMessage>(header, rest.substr(kFrameHeaderBytes, header.size),
                                                  [](Reader& in, auto& one) { read_channel(in, one); }));
  taken_ += kFrameHeaderBytes + header.size;
  return std::optional(std::move(message));
}

}  // namespace hutch::wire
