// SHA-256 of bytes that come in pieces (FIPS 180-4).
#include "base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace hutch {

namespace {

constexpr std::array<std::uint32_t, 64> kRounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t read_word(const unsigned char* at) {
  return static_cast<std::uint32_t>(at[0]) << 24 | static_cast<std::uint32_t>(at[1]) << 16 |
         static_cast<std::uint32_t>(at[2]) << 8 | static_cast<std::uint32_t>(at[3]);
}

}  // namespace

void Sha256::add(std::string_view bytes) {
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t size = bytes.size();
  total_ += size;
  if (pending_size_ > 0) {
    const std::size_t taken = std::min(size, pending_.size() - pending_size_);
    std::memcpy(pending_.data() + pending_size_, data, taken);
    pending_size_ += taken;
    data += taken;
    size -= taken;
    if (pending_size_ < pending_.size()) return;
    take_block(pending_.data());
    pending_size_ = 0;
  }
  for (; size >= pending_.size(); data += pending_.size(), size -= pending_.size()) take_block(data);
  if (size > 0) std::memcpy(pending_.data(), data, size);
  pending_size_ = size;
}

std::string Sha256::finish_bytes() {
  const std::uint64_t bits = total_ * 8;
  std::string padding(1, '\x80');
  padding.resize((pending_size_ < 56 ? 56 : 120) - pending_size_, '\0');
  for (int shift = 56; shift >= 0; shift -= 8) padding += static_cast<char>(bits >> shift & 0xff);
  add(padding);
  std::string bytes;
  for (const std::uint32_t word : state_) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(word >> shift & 0xff);
  }
  return bytes;
}

std::string Sha256::finish() {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : finish_bytes()) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 0xf];
  }
  return text;
}

void Sha256::take_block(const unsigned char* block) {
  std::array<std::uint32_t, 64> schedule;
  // These are pointers, because without optimisation, as in the tests, each [] of std::array is a call.
  std::uint32_t* const words = schedule.data();
  const std::uint32_t* const rounds = kRounds.data();
  for (std::size_t i = 0; i < 16; ++i) words[i] = read_word(block + 4 * i);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t early = words[i - 15];
    const std::uint32_t late = words[i - 2];
    words[i] = words[i - 16] + (std::rotr(early, 7) ^ std::rotr(early, 18) ^ early >> 3) + words[i - 7] +
               (std::rotr(late, 17) ^ std::rotr(late, 19) ^ late >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t first = h + sum1 + ((e & f) ^ (~e & g)) + rounds[i] + words[i];
    const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t second = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const std::array<std::uint32_t, 8> worked = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < worked.size(); ++i) state_[i] += worked[i];
}

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  constexpr std::size_t kBlockBytes = 64;
  std::string padded(key);
  if (padded.size() > kBlockBytes) {
    Sha256 sum;
    sum.add(key);
    padded = sum.finish_bytes();
  }
  padded.resize(kBlockBytes, '\0');
  const auto sum_behind = [&padded](char pad, std::string_view text) {
    std::string block = padded;
    for (char& c : block) c = static_cast<char>(c ^ pad);
    Sha256 sum;
    sum.add(block);
    sum.add(text);
    return sum.finish_bytes();
  };
  return sum_behind('\x5c', sum_behind('\x36', bytes));
}

}  // namespace hutch
