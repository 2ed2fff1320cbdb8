// A variant of messages as a frame and back: the header's type is the index of the alternative.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/result.h"
#include "base/text.h"
#include "wire/codec.h"
#include "wire/message.h"

namespace hutch::wire {

// `write(Writer&, const Alternative&)` for each alternative.
template <class Variant, class Write>
std::string encode_frame(const Variant& message, Write write) {
  Writer body;
  std::visit([&](const auto& one) { write(body, one); }, message);
  const FrameHeader header{static_cast<std::uint32_t>(body.bytes().size()), static_cast<std::uint16_t>(message.index()),
                           0};
  return encode_header(header) + body.bytes();
}

// `read(Reader&, Alternative&)` for each alternative; tries one after another for the one that the header names.
template <class Variant, class Read, std::size_t I = 0>
Result<Variant> decode_frame(const FrameHeader& header, std::string_view body, Read read) {
  if constexpr (I == std::variant_size_v<Variant>) {
    return fail(Error::invalid(cat({"unknown message type ", std::to_string(header.type)})));
  } else {
    if (header.type != I) return decode_frame<Variant, Read, I + 1>(header, body, read);
    Reader in(body);
    std::variant_alternative_t<I, Variant> message;
    read(in, message);
    TRY(in.finish(cat({"message type ", std::to_string(header.type)})));
    return Variant(std::in_place_index<I>, std::move(message));
  }
}

inline void write_error(Writer& out, const Error& error) {
  out.u8(static_cast<std::uint8_t>(error.code));
  out.u32(static_cast<std::uint32_t>(error.sys_errno));
  out.text(error.message);
}

inline void read_error(Reader& in, Error& error) {
  error.code = in.choice(Code::kSystem);
  error.sys_errno = static_cast<int>(in.u32());
  error.message = in.text();
}

}  // namespace hutch::wire
