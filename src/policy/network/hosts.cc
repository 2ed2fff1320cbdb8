// The canonical form of host names and addresses.
#include "policy/network/hosts.h"

#include <idn2.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/text.h"

namespace hutch::policy {

namespace {

constexpr std::size_t kNameBytesMax = 253;  // RFC 1035 3.1, as text without the root's dot
constexpr std::size_t kLabelBytesMax = 63;
constexpr std::size_t kTypedBytesMax = 1024;  // before it is made shorter or longer by IDNA

Result<Host> address_host(std::string_view text, std::string_view typed);
Result<std::string> ascii_form(std::string name, std::string_view typed);
Result<Host> ascii_host(std::string name, std::string_view typed);
std::optional<std::uint32_t> inet_aton_address(const std::vector<std::string_view>& parts);
std::optional<std::uint64_t> inet_aton_number(std::string_view part);
bool ends_in_number(std::string_view label);
bool valid_labels(std::string_view name);
char lower(char character);
std::unexpected<Error> wrong_host(std::string_view typed, std::string_view reason);

}  // namespace

Result<Host> canonical_host(std::string_view text) {
  if (text.empty()) return fail(Error::invalid("a host name is empty"));
  if (text.size() > kTypedBytesMax) return wrong_host(text, "is longer than a host name can be");
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte <= ' ' || byte == 0x7f) return wrong_host(text, "a host name holds no blanks and no control characters");
    if (byte == '%')
      return wrong_host(text, "a host name holds no % (an address with a zone is of this machine alone)");
  }
  if (text.front() == '[') {
    if (text.size() < 2 || text.back() != ']') return wrong_host(text, "has no bracket at its end");
    return address_host(text.substr(1, text.size() - 2), text);
  }
  if (text.find(':') != std::string_view::npos) return address_host(text, text);
  std::string name(text);
  std::ranges::transform(name, name.begin(), lower);
  return ascii_host(TRY(ascii_form(std::move(name), text)), text);
}

IpAddress unmapped(const IpAddress& address) {
  static const IpRange kMapped = {*parse_ip("::ffff:0.0.0.0"), 96};
  return kMapped.contains(address) ? *embedded_v4(address) : address;
}

Result<HostPort> parse_host_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const bool bracketed = text.starts_with('[');
  const bool in_brackets = bracketed && text.ends_with(']');
  const bool bare_v6 = !bracketed && text.find(':') != colon;
  if (colon == std::string_view::npos || in_brackets || bare_v6) return HostPort{TRY(canonical_host(text)), {}};
  const std::optional<int> port = parse_port(text.substr(colon + 1));
  if (!port) return wrong_host(text, "a port is a number from 1 to 65535");
  return HostPort{TRY(canonical_host(text.substr(0, colon))), port};
}

std::optional<int> parse_port(std::string_view digits) {
  if (digits.empty() || digits.size() > 5 || digits.front() == '0') return std::nullopt;
  int port = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return std::nullopt;
    port = port * 10 + (digit - '0');
  }
  if (port > 65535) return std::nullopt;
  return port;
}

namespace {

Result<Host> address_host(std::string_view text, std::string_view typed) {
  const std::optional<IpAddress> address = parse_ip(text);
  if (!address || address->family != IpFamily::kV6) return wrong_host(typed, "is not an IPv6 address");
  const IpAddress plain = unmapped(*address);
  return Host{to_string(plain), plain};
}

// UTS 46 maps more than letters: full-width digits and the ideographic full stop become ASCII, so that what comes out
// may be an address. A name of plain ASCII needs none of this.
Result<std::string> ascii_form(std::string name, std::string_view typed) {
  const bool ascii = std::ranges::all_of(name, [](char character) { return (character & 0x80) == 0; });
  const bool encoded = name.starts_with("xn--") || name.find(".xn--") != std::string::npos;
  if (ascii && !encoded) return name;
  char* out = nullptr;
  const int code = ::idn2_to_ascii_8z(name.c_str(), &out, IDN2_NONTRANSITIONAL | IDN2_NFC_INPUT);
  const std::unique_ptr<char, void (*)(void*)> owner(out, ::idn2_free);
  if (code != IDN2_OK || out == nullptr) {
    return wrong_host(typed, cat({"is not an international host name (", ::idn2_strerror(code), ")"}));
  }
  std::string result(out);
  std::ranges::transform(result, result.begin(), lower);
  return result;
}

Result<Host> ascii_host(std::string name, std::string_view typed) {
  if (name.ends_with('.')) name.pop_back();
  if (name.size() > kNameBytesMax) return wrong_host(typed, "is longer than a host name can be");
  if (!valid_labels(name)) {
    return wrong_host(typed, "is not a host name: labels of letters, digits and -, without a scheme or a path");
  }
  if (!ends_in_number(std::string_view(name).substr(name.rfind('.') + 1))) return Host{std::move(name), std::nullopt};
  // Programs disagree on what "1.2.3.4.5" or "256.1" is; no name ends so (RFC 3696 2).
  const auto number = inet_aton_address(split(name, '.'));
  if (!number) return wrong_host(typed, "is neither an IPv4 address nor a host name");
  const IpAddress address = IpAddress::v4(*number);
  return Host{to_string(address), address};
}

// Up to four numbers; the last one fills the bytes that are left (inet_aton(3)).
std::optional<std::uint32_t> inet_aton_address(const std::vector<std::string_view>& parts) {
  if (parts.size() > 4) return std::nullopt;
  std::uint64_t address = 0;
  for (std::size_t index = 0; index < parts.size(); ++index) {
    const std::optional<std::uint64_t> number = inet_aton_number(parts[index]);
    const bool last = index + 1 == parts.size();
    const std::uint64_t max = last ? 0xffff'ffffULL >> (8 * index) : 0xff;
    if (!number || *number > max) return std::nullopt;
    address |= last ? *number : *number << (24 - 8 * index);
  }
  return static_cast<std::uint32_t>(address);
}

// Decimal, octal after 0, hexadecimal after 0x.
std::optional<std::uint64_t> inet_aton_number(std::string_view part) {
  std::uint64_t base = 10;
  if (part.starts_with("0x")) {
    base = 16;
    part.remove_prefix(2);
  } else if (part.size() > 1 && part.front() == '0') {
    base = 8;
    part.remove_prefix(1);
  }
  if (part.empty()) return std::nullopt;
  std::uint64_t number = 0;
  for (const char character : part) {
    std::uint64_t digit = 16;
    if (character >= '0' && character <= '9') digit = static_cast<std::uint64_t>(character - '0');
    if (character >= 'a' && character <= 'f') digit = static_cast<std::uint64_t>(character - 'a') + 10;
    if (digit >= base) return std::nullopt;
    number = number * base + digit;
    if (number > 0xffff'ffffULL) return std::nullopt;
  }
  return number;
}

bool ends_in_number(std::string_view label) {
  const bool hex = label.starts_with("0x");
  if (hex) label.remove_prefix(2);
  return label.find_first_not_of(hex ? "0123456789abcdef" : "0123456789") == std::string_view::npos;
}

// In one pass and without a copy: the gateway does this for each entry of a policy with each connection.
bool valid_labels(std::string_view name) {
  std::size_t start = 0;
  for (std::size_t at = 0; at <= name.size(); ++at) {
    if (at == name.size() || name[at] == '.') {
      const std::size_t size = at - start;
      if (size == 0 || size > kLabelBytesMax || name[start] == '-' || name[at - 1] == '-') return false;
      start = at + 1;
      continue;
    }
    const char character = name[at];
    const bool known = (character >= 'a' && character <= 'z') || (character >= '0' && character <= '9') ||
                       character == '-' || character == '_';
    if (!known) return false;
  }
  return true;
}

char lower(char character) {
  return character >= 'A' && character <= 'Z' ? static_cast<char>(character + ('a' - 'A')) : character;
}

std::unexpected<Error> wrong_host(std::string_view typed, std::string_view reason) {
  return fail(Error::invalid(cat({"\"", printable(typed, 64), "\": ", reason})));
}

}  // namespace

}  // namespace hutch::policy
