// The first bytes of a stream by which the host reaches a port of a virtual machine's loopback: no socket crosses to
// the host that could be connected there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hutch::wire {

// What the host says: the port, its higher byte first.
inline constexpr std::size_t kDialBytes = 2;
using DialBytes = std::array<char, kDialBytes>;

inline DialBytes encode_dial(std::uint16_t port) {
  return {static_cast<char>(static_cast<unsigned char>(port >> 8)),
          static_cast<char>(static_cast<unsigned char>(port & 0xff))};
}
inline std::uint16_t decode_dial(const DialBytes& bytes) {
  return static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[0]) << 8 | static_cast<unsigned char>(bytes[1]));
}

// What the machine answers, before the bytes of the connection follow; an end, or anything else: nobody listens there.
inline constexpr char kDialled = 'c';

}  // namespace hutch::wire
