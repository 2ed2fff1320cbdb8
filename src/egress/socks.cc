// SOCKS requests of a sandbox.
#include "egress/socks.h"

#include "base/ip_address.h"
#include "base/text.h"

namespace hutch::egress {

namespace {

using std::string_literals::operator""s;

constexpr std::uint8_t kConnect = 1;
constexpr std::size_t kUserBytesMax = 255;

std::uint8_t byte_at(std::string_view bytes, std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); }

std::uint16_t port_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(byte_at(bytes, at) << 8 | byte_at(bytes, at + 1));
}

std::string address_text(std::string_view bytes) {
  IpAddress address;
  address.family = bytes.size() == 4 ? IpFamily::kV4 : IpFamily::kV6;
  bytes.copy(reinterpret_cast<char*>(address.bytes.data()), bytes.size());
  return to_string(address);
}

SocksRead refused(SocksVersion version, std::string reply) {
  return {.step = SocksStep::kRefused, .size = 0, .version = version, .host = {}, .port = 0, .reply = std::move(reply)};
}

SocksRead request(SocksVersion version, std::size_t size, std::string host, std::uint16_t port) {
  return {.step = SocksStep::kRequest,
          .size = size,
          .version = version,
          .host = std::move(host),
          .port = port,
          .reply = {}};
}

SocksRead read_v4(std::string_view bytes);
SocksRead read_greeting(std::string_view bytes);
SocksRead read_v5(std::string_view bytes);

}  // namespace

SocksRead read_socks(std::string_view bytes, SocksState state) {
  if (bytes.empty()) return {};
  if (byte_at(bytes, 0) == 4 && state == SocksState::kNew) return read_v4(bytes);
  if (byte_at(bytes, 0) != 5) return refused(SocksVersion::kV5, "\x05\xff"s);
  return state == SocksState::kNew ? read_greeting(bytes) : read_v5(bytes);
}

std::string socks_reply(SocksVersion version, SocksResult result) {
  if (version == SocksVersion::kV4) {
    return (result == SocksResult::kConnected ? "\0\x5a"s : "\0\x5b"s) + std::string(6, '\0');
  }
  const auto code = [&] {
    switch (result) {
      case SocksResult::kConnected: return '\0';
      case SocksResult::kNotAllowed: return '\2';
      case SocksResult::kUnreachable: return '\4';
      case SocksResult::kRefused: return '\5';
    }
    return '\1';
  }();
  return "\5"s + code + "\0\1"s + std::string(6, '\0');
}

namespace {

// Version, command, port, address, user name, 0; and with an address of 0.0.0.x a host name, 0 (SOCKS4a).
SocksRead read_v4(std::string_view bytes) {
  static constexpr std::size_t kFixed = 8;
  static constexpr std::size_t kHostBytesMax = 255;
  if (bytes.size() < kFixed) return {};
  const auto wrong = [] { return refused(SocksVersion::kV4, socks_reply(SocksVersion::kV4, SocksResult::kRefused)); };
  if (byte_at(bytes, 1) != kConnect) return wrong();
  const std::size_t user_end = bytes.find('\0', kFixed);
  // What is too long is refused before its end has come, and after.
  const std::string_view user = bytes.substr(kFixed, user_end - kFixed);
  if (user.size() > kUserBytesMax) return wrong();
  if (user_end == std::string_view::npos) return {};
  const std::uint16_t port = port_at(bytes, 2);
  const std::string_view address = bytes.substr(4, 4);
  const bool named = address.starts_with("\0\0\0"s) && address[3] != '\0';
  if (!named) return request(SocksVersion::kV4, user_end + 1, address_text(address), port);
  const std::size_t host_end = bytes.find('\0', user_end + 1);
  const std::string_view host = bytes.substr(user_end + 1, host_end - user_end - 1);
  if (host.size() > kHostBytesMax) return wrong();
  if (host_end == std::string_view::npos) return {};
  return request(SocksVersion::kV4, host_end + 1, std::string(host), port);
}

SocksRead read_greeting(std::string_view bytes) {
  if (bytes.size() < 2 || bytes.size() < 2U + byte_at(bytes, 1)) return {};
  const std::string_view methods = bytes.substr(2, byte_at(bytes, 1));
  if (!methods.contains('\0')) return refused(SocksVersion::kV5, "\x05\xff"s);
  return {.step = SocksStep::kGreeting,
          .size = 2 + methods.size(),
          .version = SocksVersion::kV5,
          .host = {},
          .port = 0,
          .reply = "\x05\x00"s};
}

// Version, command, 0, kind of address, address, port.
SocksRead read_v5(std::string_view bytes) {
  static constexpr std::size_t kAddressAt = 4;
  if (bytes.size() < kAddressAt + 1) return {};
  const auto wrong = [](char code) {
    return refused(SocksVersion::kV5, "\5"s + code + "\0\1"s + std::string(6, '\0'));
  };
  if (byte_at(bytes, 1) != kConnect) return wrong(7);
  std::size_t at = kAddressAt;
  std::size_t size = 0;
  switch (byte_at(bytes, 3)) {
    case 1: size = 4; break;
    case 4: size = 16; break;
    case 3:
      size = byte_at(bytes, kAddressAt);
      ++at;
      break;
    default: return wrong(8);
  }
  if (bytes.size() < at + size + 2) return {};
  const std::string_view address = bytes.substr(at, size);
  const std::string host = at == kAddressAt ? address_text(address) : std::string(address);
  return request(SocksVersion::kV5, at + size + 2, host, port_at(bytes, at + size));
}

}  // namespace

}  // namespace hutch::egress
