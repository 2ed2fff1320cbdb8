// What a client's first bytes say: TLS (RFC 8446 4.1.2, 5.1), HTTP/1 (RFC 9112 3), HTTP/2 (RFC 9113 3.4).
#include "egress/sniff.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace hutch::egress {

namespace {

// The kinds of a record (RFC 8446 5.1, RFC 6520).
constexpr std::uint8_t kFirstRecord = 20;
constexpr std::uint8_t kHandshakeRecord = 22;
constexpr std::uint8_t kLastRecord = 24;
constexpr std::uint8_t kClientHello = 1;
constexpr std::uint16_t kServerNameExtension = 0;
constexpr std::uint8_t kHostName = 0;
constexpr std::size_t kRecordBytesMax = 1 << 14;
// Of text without the end of a line. No server reads a request line that is longer.
constexpr std::size_t kTextBytesMax = kSniffBytesMax / 2;
constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// Takes numbers and blocks from the front; once something is not there, all that follows is absent.
class Bytes {
 public:
  explicit Bytes(std::string_view rest) : rest_(rest) {}
  std::optional<std::size_t> number(std::size_t size) {
    if (rest_.size() < size) return std::nullopt;
    std::size_t value = 0;
    for (const char byte : rest_.substr(0, size)) value = value << 8 | static_cast<unsigned char>(byte);
    rest_.remove_prefix(size);
    return value;
  }
  // A block that is written after its size, which takes `size_bytes`.
  std::optional<std::string_view> block(std::size_t size_bytes) {
    const auto size = number(size_bytes);
    return size ? take(*size) : std::nullopt;
  }
  std::optional<std::string_view> take(std::size_t size) {
    if (rest_.size() < size) return std::nullopt;
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

enum class Hello { kMore, kWhole, kMalformed };
Hello join_records(std::string_view bytes, std::string& message);
std::optional<std::string> server_name_of(std::string_view hello);
std::optional<std::string> read_server_names(std::string_view list);
Sniffed sniff_text(std::string_view bytes);

}  // namespace

Sniffed sniff(std::string_view bytes) {
  if (bytes.empty()) return {};
  const auto type = static_cast<std::uint8_t>(bytes[0]);
  if (type < kFirstRecord || type > kLastRecord) return sniff_text(bytes);
  // The version of a record begins with 3 in every TLS (RFC 8446 5.1).
  if (bytes.size() >= 2 && bytes[1] != 3) return {.kind = FirstBytes::kOther};
  // Some servers pass over others, as warnings, and read the hello that comes after.
  if (type != kHandshakeRecord) return {.kind = bytes.size() < 2 ? FirstBytes::kMore : FirstBytes::kMalformed};
  std::string message;
  switch (join_records(bytes, message)) {
    case Hello::kMore: return {.kind = bytes.size() < kSniffBytesMax ? FirstBytes::kMore : FirstBytes::kMalformed};
    case Hello::kMalformed: return {.kind = FirstBytes::kMalformed};
    case Hello::kWhole: break;
  }
  auto name = server_name_of(message);
  if (!name) return {.kind = FirstBytes::kMalformed};
  return {.kind = FirstBytes::kTls, .is_text = false, .server_name = std::move(*name)};
}

namespace {

// A hello may be cut into several records, of any size but 0.
Hello join_records(std::string_view bytes, std::string& message) {
  static constexpr std::size_t kMessageHeader = 4;
  Bytes in(bytes);
  for (;;) {
    const auto type = in.number(1);
    const auto version = in.number(2);
    const auto size = in.number(2);
    if (!type || !version || !size) return Hello::kMore;
    if (*type != kHandshakeRecord || *version >> 8 != 3 || *size == 0 || *size > kRecordBytesMax) {
      return Hello::kMalformed;
    }
    const auto part = in.take(*size);
    if (!part) return Hello::kMore;
    message += *part;
    if (static_cast<std::uint8_t>(message[0]) != kClientHello) return Hello::kMalformed;
    if (message.size() < kMessageHeader) continue;
    const std::size_t wanted = *Bytes(std::string_view(message).substr(1)).number(3) + kMessageHeader;
    if (wanted > kSniffBytesMax) return Hello::kMalformed;
    if (message.size() < wanted) continue;
    // What follows in the same record could be read by a server as another message.
    return message.size() == wanted ? Hello::kWhole : Hello::kMalformed;
  }
}

std::optional<std::string> server_name_of(std::string_view hello) {
  Bytes in(hello.substr(4));
  const auto version = in.number(2);
  const auto random = in.take(32);
  const auto session = in.block(1);
  const auto ciphers = in.block(2);
  const auto compressions = in.block(1);
  if (!version || !random || !session || !ciphers || !compressions) return std::nullopt;
  if (in.empty()) return std::string();  // before TLS 1.2 there need not be extensions
  const auto extensions = in.block(2);
  if (!extensions || !in.empty()) return std::nullopt;
  std::optional<std::string> name;
  Bytes list(*extensions);
  while (!list.empty()) {
    const auto type = list.number(2);
    const auto body = list.block(2);
    if (!type || !body) return std::nullopt;
    if (*type != kServerNameExtension) continue;
    if (name) return std::nullopt;  // twice is forbidden (RFC 8446 4.2), and who reads which is open
    name = read_server_names(*body);
    if (!name) return std::nullopt;
  }
  return name.value_or("");
}

std::optional<std::string> read_server_names(std::string_view body) {
  Bytes in(body);
  const auto names = in.block(2);
  if (!names || !in.empty()) return std::nullopt;
  Bytes list(*names);
  const auto type = list.number(1);
  const auto name = list.block(2);
  if (!type || *type != kHostName || !name || name->empty() || !list.empty()) return std::nullopt;
  return std::string(*name);
}

// What lenient servers pass over before a request and take for the end of a word in its line, in ASCII and Latin-1.
bool is_blank(char character) { return std::string_view(" \t\v\f\r\x1c\x1d\x1e\x1f\x85\xa0").contains(character); }

bool is_printable(char character) { return character > ' ' && character < '\x7f'; }

// With a version, or, of HTTP/0.9, with a whole URL: what could name another host.
bool is_request_line(std::string_view line) {
  std::string lowered(line);
  for (char& letter : lowered) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter + ('a' - 'A'));
  }
  return lowered.contains("http/") || lowered.contains("http://");
}

// HTTP is whatever some server could take for a request: which of those it is, is for the strict reader to say.
Sniffed sniff_text(std::string_view bytes) {
  const auto kind = [](FirstBytes what) { return Sniffed{.kind = what, .is_text = what == FirstBytes::kMore}; };
  if (bytes.starts_with(kHttp2Preface)) return kind(FirstBytes::kHttp2);
  if (kHttp2Preface.starts_with(bytes)) return kind(FirstBytes::kMore);
  const bool enough = bytes.size() >= kTextBytesMax;
  const auto unended = [&] { return kind(enough ? FirstBytes::kMalformed : FirstBytes::kMore); };
  // Empty lines before a request are to be passed over (RFC 9112 2.2).
  while (!bytes.empty() && (is_blank(bytes[0]) || bytes[0] == '\n')) bytes.remove_prefix(1);
  if (bytes.empty()) return unended();
  const std::size_t line_end = bytes.find('\n');
  const std::string_view line = bytes.substr(0, line_end);
  const auto method_end = std::ranges::find_if(line, is_blank);
  if (!std::all_of(line.begin(), method_end, is_printable)) return kind(FirstBytes::kOther);
  // No method begins with a digit, as the lines of git do (gitprotocol-common(5)). The same is said before the end of
  // the line has come and after.
  if (line[0] >= '0' && line[0] <= '9' && line.contains('\0')) return kind(FirstBytes::kOther);
  if (line_end != std::string_view::npos) {
    return kind(is_request_line(line) ? FirstBytes::kHttp : FirstBytes::kOther);
  }
  const bool is_one_word = method_end == line.end() && line.size() >= kTextBytesMax;
  return is_one_word ? kind(FirstBytes::kOther) : unended();
}

}  // namespace

}  // namespace hutch::egress
