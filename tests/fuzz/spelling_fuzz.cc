// Values in texts, each character spelled in one of the ways of programs, one spelling within another, whole and in
// pieces: none is left. What holds none is as it was, and nothing grows without bound.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/base64.h"
#include "base/check.h"
#include "secret/scrubber.h"

namespace {

using namespace hutch;
using namespace hutch::secret;

class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}
  unsigned next() {
    if (bytes_.empty()) return 0;
    const auto byte = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    return byte;
  }
  std::string_view rest() const { return bytes_; }

 private:
  std::string_view bytes_;
};

constexpr std::string_view kDigits = "0123456789abcdefABCDEF";

std::string hex(unsigned char byte, bool capitals) {
  const auto digit = [&](unsigned four) { return kDigits[capitals && four > 9 ? four + 6 : four]; };
  return {digit(byte >> 4U), digit(byte & 15U)};
}

std::string octal(unsigned char byte) {
  return {static_cast<char>('0' + (byte >> 6U)), static_cast<char>('0' + ((byte >> 3U) & 7U)),
          static_cast<char>('0' + (byte & 7U))};
}

// Without what begins an escape: what a mixture of spellings of those means depends on who reads it.
std::string value_of(Input& input) {
  static constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/+=._- '\"<>:,!@#^*()[]{}|~?";
  std::string value = "v";
  const std::size_t size = 8 + input.next() % 80;
  while (value.size() < size) value += kLetters[input.next() % kLetters.size()];
  return value + "end";
}

std::string spelled(char c, unsigned how) {
  const auto byte = static_cast<unsigned char>(c);
  switch (how % 10) {
    case 1: return "%" + hex(byte, (how & 64U) != 0);
    case 2: return "&#" + std::string(how / 64, '0') + std::to_string(byte) + ";";
    case 3: return "&#x" + hex(byte, (how & 64U) != 0) + ";";
    case 4: return "\\u00" + hex(byte, (how & 64U) != 0);
    case 5: return "\\x" + hex(byte, (how & 64U) != 0);
    case 6: return "\\" + octal(byte);
    case 7: return c == '\'' ? R"('\'')" : std::string("''") + c;
    case 8: return c == ' ' ? "+" : c == '"' || c == '/' ? std::string("\\") + c : std::string(1, c);
    default: return c == '<' ? "&lt;" : c == '"' ? "&quot;" : std::string(1, c);
  }
}

std::string in_json(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    made += c;
  }
  return made + "\"";
}

std::string whole(std::string_view text, unsigned how) {
  std::string made;
  switch (how % 5) {
    case 1: return to_base64(std::string(how / 64, 'x') + std::string(text));
    case 2:
      for (const char c : text) made += hex(static_cast<unsigned char>(c), (how & 64U) != 0);
      return made;
    case 3: return in_json(text);
    case 4:
      for (const char c : text) made += "%" + hex(static_cast<unsigned char>(c), (how & 64U) != 0);
      return made;
    default: return std::string(text);
  }
}

Scrubber scrubber_of(const std::string& value) {
  Secret secret;
  secret.name = "T";
  secret.value = value;
  return Scrubber({secret});
}

std::string in_pieces(const Scrubber& scrubber, std::string_view text, std::size_t size) {
  ScrubbedStream stream(scrubber);
  std::string made;
  for (; !text.empty(); text.remove_prefix(std::min(size, text.size()))) made += stream.take(text.substr(0, size));
  return made + stream.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input({reinterpret_cast<const char*>(data), size});
  const std::string value = value_of(input);
  const Scrubber scrubber = scrubber_of(value);
  std::string text;
  for (const char c : value) text += spelled(c, input.next());
  for (int depth = 0; depth < 2; ++depth) text = whole("<" + text + ">", input.next());
  text = "( " + text + " )";
  const std::size_t pieces = 1 + input.next() % 40;
  for (const std::string& left : {scrubber.scrub(text), in_pieces(scrubber, text, pieces)}) {
    CHECK(left.contains("[REDACTED:T]"));
    CHECK(!left.contains(value));
    CHECK(left.size() <= text.size() * 3 + 16);
  }
  // And whatever comes.
  for (const std::string& left : {scrubber.scrub(input.rest()), in_pieces(scrubber, input.rest(), pieces)}) {
    CHECK(!left.contains(value));
    CHECK(left.contains("[REDACTED:T]") || left == input.rest());
    CHECK(left.size() <= input.rest().size() * 3 + 16);
  }
  return 0;
}
