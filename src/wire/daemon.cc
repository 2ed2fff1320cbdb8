// The messages between the daemon and its own client as bytes.
#include "wire/daemon.h"

#include "wire/frame_codec.h"

namespace hutch::wire {

namespace {

constexpr auto kWrite = [](Writer& out, const auto& message) {
  if constexpr (requires { message.error; }) {
    write_error(out, message.error);
  } else {
    out.text(message.json);
  }
};

constexpr auto kRead = [](Reader& in, auto& message) {
  if constexpr (requires { message.error; }) {
    read_error(in, message.error);
  } else {
    message.json = in.text();
  }
};

}  // namespace

std::string text_of_bytes(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xc0 | byte >> 6);
      text += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return text;
}

Result<std::string> bytes_of_text(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      bytes += text[i];
      continue;
    }
    const bool two = (lead == 0xc2 || lead == 0xc3) && i + 1 < text.size() && (text[i + 1] & 0xc0) == 0x80;
    if (!two) return fail(Error::invalid("bytes with a code point above 255"));
    bytes += static_cast<char>((lead & 3) << 6 | (text[++i] & 0x3f));
  }
  return bytes;
}

std::string encode(const ToDaemon& message) { return encode_frame(message, kWrite); }
std::string encode(const FromDaemon& message) { return encode_frame(message, kWrite); }

Result<ToDaemon> decode_to_daemon(const FrameHeader& header, std::string_view body) {
  return decode_frame<ToDaemon>(header, body, kRead);
}

Result<FromDaemon> decode_from_daemon(const FrameHeader& header, std::string_view body) {
  return decode_frame<FromDaemon>(header, body, kRead);
}

}  // namespace hutch::wire
