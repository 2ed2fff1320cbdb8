// Netlink messages as bytes: headers, attributes, nested attributes, padded to four bytes each.
#pragma once

#include <linux/netlink.h>

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace hutch::sys {

// Messages one after another, as they are written to a netlink socket in one call.
class NetlinkMessages {
 public:
  // Begins a message; `extra` is the family's own header.
  template <class Extra>
  void begin(std::uint16_t type, std::uint16_t flags, const Extra& extra) {
    end();
    start_ = bytes_.size();
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
    header.nlmsg_seq = ++sequence_;
    put(&header, sizeof header);
    put(&extra, sizeof extra);
    pad();
  }

  void attribute(std::uint16_t type, const void* data, std::size_t size) {
    const nlattr header{static_cast<std::uint16_t>(sizeof(nlattr) + size), type};
    put(&header, sizeof header);
    put(data, size);
    pad();
  }
  void text(std::uint16_t type, const char* value) { attribute(type, value, std::strlen(value) + 1); }
  // nftables writes its numbers in network byte order.
  void be32(std::uint16_t type, std::uint32_t value) {
    const std::uint32_t swapped = __builtin_bswap32(value);
    attribute(type, &swapped, sizeof swapped);
  }

  std::size_t open_nested(std::uint16_t type) {
    const std::size_t at = bytes_.size();
    const nlattr header{0, static_cast<std::uint16_t>(type | NLA_F_NESTED)};
    put(&header, sizeof header);
    return at;
  }
  void close_nested(std::size_t at) {
    const auto size = static_cast<std::uint16_t>(bytes_.size() - at);
    std::memcpy(bytes_.data() + at, &size, sizeof size);
  }

  // Completes the last message.
  std::string_view finish() {
    end();
    return {bytes_.data(), bytes_.size()};
  }
  std::uint32_t last_sequence() const { return sequence_; }

 private:
  void put(const void* data, std::size_t size) {
    const char* from = static_cast<const char*>(data);
    bytes_.insert(bytes_.end(), from, from + size);
  }
  void pad() { bytes_.resize((bytes_.size() + 3) & ~std::size_t{3}); }
  void end() {
    if (sequence_ == 0) return;
    const auto size = static_cast<std::uint32_t>(bytes_.size() - start_);
    std::memcpy(bytes_.data() + start_, &size, sizeof size);
  }

  std::vector<char> bytes_;
  std::size_t start_ = 0;
  std::uint32_t sequence_ = 0;
};

}  // namespace hutch::sys
