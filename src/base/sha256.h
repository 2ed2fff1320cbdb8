// SHA-256 (FIPS 180-4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hutch {

class Sha256 {
 public:
  void add(std::string_view bytes);
  // Of all that was added, in hexadecimal or as its 32 bytes. The end of this object's use.
  std::string finish();
  std::string finish_bytes();

 private:
  void take_block(const unsigned char* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> pending_{};
  std::size_t pending_size_ = 0;
  std::uint64_t total_ = 0;
};

// The bytes of HMAC (RFC 2104) with it.
std::string hmac_sha256(std::string_view key, std::string_view bytes);

}  // namespace hutch
