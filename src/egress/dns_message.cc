// DNS queries of a sandbox, and the answers to them.
#include "egress/dns_message.h"

#include <vector>

#include "base/text.h"

namespace hutch::egress {

namespace {

constexpr std::size_t kHeaderBytes = 12;
constexpr std::size_t kNameBytesMax = 255;  // RFC 1035 2.3.4
constexpr std::uint16_t kTypeOpt = 41;
constexpr std::uint16_t kEdnsPayload = 1232;

constexpr std::uint16_t kFlagResponse = 0x8000;
constexpr std::uint16_t kFlagRecursionDesired = 0x0100;
constexpr std::uint16_t kFlagRecursionAvailable = 0x0080;
constexpr unsigned kOpcodeShift = 11;

std::uint16_t u16_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[at]) << 8 |
                                    static_cast<unsigned char>(bytes[at + 1]));
}

void put_u16(std::string& out, std::uint16_t value) {
  out += static_cast<char>(value >> 8);
  out += static_cast<char>(value);
}

void put_u32(std::string& out, std::uint32_t value) {
  put_u16(out, static_cast<std::uint16_t>(value >> 16));
  put_u16(out, static_cast<std::uint16_t>(value));
}

bool is_plain(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '-' || character == '_';
}

// The end of the name that begins at `at`, its text in `query`. A question never needs compression (RFC 1035 4.1.4).
std::optional<std::size_t> read_name(std::string_view bytes, std::size_t at, DnsQuery& query) {
  const std::size_t start = at;
  while (at < bytes.size()) {
    const auto size = static_cast<unsigned char>(bytes[at]);
    ++at;
    if (size == 0) return at;
    if (size > 63 || at + size > bytes.size() || at + size + 1 - start > kNameBytesMax) return std::nullopt;
    if (!query.name.empty()) query.name += '.';
    for (const char character : bytes.substr(at, size)) {
      query.name_is_plain = query.name_is_plain && is_plain(character);
      query.name += character;
    }
    at += size;
  }
  return std::nullopt;
}

std::string header_and_question(const DnsQuery& query, DnsStatus status, std::uint16_t answers) {
  std::string out;
  put_u16(out, query.id);
  const unsigned flags = kFlagResponse | kFlagRecursionAvailable |
                         (query.recursion_desired ? kFlagRecursionDesired : 0) | static_cast<unsigned>(status);
  put_u16(out, static_cast<std::uint16_t>(flags));
  put_u16(out, query.question.empty() ? 0 : 1);
  put_u16(out, answers);
  put_u16(out, 0);
  put_u16(out, query.has_edns ? 1 : 0);
  return out + query.question;
}

std::string with_edns(std::string out, const DnsQuery& query) {
  if (!query.has_edns) return out;
  out += '\0';
  put_u16(out, kTypeOpt);
  put_u16(out, kEdnsPayload);
  put_u32(out, 0);
  put_u16(out, 0);
  return out;
}

std::string answer_with(const DnsQuery& query, std::string_view data, std::uint32_t seconds) {
  std::string out = header_and_question(query, DnsStatus::kNoError, 1);
  put_u16(out, 0xc000 | kHeaderBytes);  // the name of the question
  put_u16(out, query.type);
  put_u16(out, kDnsClassInternet);
  put_u32(out, seconds);
  put_u16(out, static_cast<std::uint16_t>(data.size()));
  out += data;
  return with_edns(std::move(out), query);
}

std::optional<unsigned> number(std::string_view text, unsigned base, unsigned max) {
  if (text.empty() || text.size() > 3) return std::nullopt;
  unsigned value = 0;
  for (const char character : text) {
    unsigned digit = 16;
    if (character >= '0' && character <= '9') digit = static_cast<unsigned>(character - '0');
    if (character >= 'a' && character <= 'f') digit = static_cast<unsigned>(character - 'a' + 10);
    if (character >= 'A' && character <= 'F') digit = static_cast<unsigned>(character - 'A' + 10);
    if (digit >= base) return std::nullopt;
    value = value * base + digit;
  }
  return value <= max ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<DnsRead> read_dns_query(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) return std::nullopt;
  const std::uint16_t flags = u16_at(bytes, 2);
  if ((flags & kFlagResponse) != 0) return std::nullopt;
  DnsRead read;
  DnsQuery& query = read.query;
  query.id = u16_at(bytes, 0);
  query.recursion_desired = (flags & kFlagRecursionDesired) != 0;
  const auto failed = [&](DnsStatus status) {
    read.status = status;
    return read;
  };
  if ((flags >> kOpcodeShift & 0xf) != 0) return failed(DnsStatus::kNotImplemented);
  if (u16_at(bytes, 4) != 1 || u16_at(bytes, 6) != 0) return failed(DnsStatus::kFormatError);
  const auto name_end = read_name(bytes, kHeaderBytes, query);
  if (!name_end || *name_end + 4 > bytes.size()) return failed(DnsStatus::kFormatError);
  query.type = u16_at(bytes, *name_end);
  query.klass = u16_at(bytes, *name_end + 2);
  query.question = bytes.substr(kHeaderBytes, *name_end + 4 - kHeaderBytes);
  // An EDNS record stands directly after the question of every client known; anything else there is ignored.
  const std::size_t extra = *name_end + 4;
  query.has_edns = u16_at(bytes, 8) == 0 && u16_at(bytes, 10) != 0 && extra + 11 <= bytes.size() &&
                   bytes[extra] == '\0' && u16_at(bytes, extra + 1) == kTypeOpt;
  return read;
}

std::string dns_answer(const DnsQuery& query, DnsStatus status) {
  return with_edns(header_and_question(query, status, 0), query);
}

std::string dns_address_answer(const DnsQuery& query, const IpAddress& address, std::uint32_t seconds) {
  const std::size_t size = address.family == IpFamily::kV4 ? 4 : 16;
  return answer_with(query, {reinterpret_cast<const char*>(address.bytes.data()), size}, seconds);
}

std::string dns_name_answer(const DnsQuery& query, std::string_view name, std::uint32_t seconds) {
  std::string data;
  for (const std::string_view label : split(name, '.')) {
    data += static_cast<char>(label.size());
    data += label;
  }
  data += '\0';
  return answer_with(query, data, seconds);
}

std::optional<IpAddress> reverse_address(std::string_view name) {
  const std::vector<std::string_view> labels = split(name, '.');
  if (labels.size() == 6 && name.ends_with(".in-addr.arpa")) {
    IpAddress address;
    for (std::size_t i = 0; i < 4; ++i) {
      const auto byte = number(labels[3 - i], 10, 255);
      if (!byte) return std::nullopt;
      address.bytes[i] = static_cast<std::uint8_t>(*byte);
    }
    return address;
  }
  if (labels.size() != 34 || !name.ends_with(".ip6.arpa")) return std::nullopt;
  IpAddress address;
  address.family = IpFamily::kV6;
  for (std::size_t i = 0; i < 32; ++i) {
    const auto nibble = labels[31 - i].size() == 1 ? number(labels[31 - i], 16, 15) : std::nullopt;
    if (!nibble) return std::nullopt;
    address.bytes[i / 2] = static_cast<std::uint8_t>(unsigned{address.bytes[i / 2]} << 4 | *nibble);
  }
  return address;
}

}  // namespace hutch::egress
