// Values in texts, as they are and as programs write them otherwise.
#include "secret/scrubber.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/base64.h"

namespace hutch::secret {
namespace {

const std::string kValue = "sk-3c/R+t \"q\" =ü~";

Scrubber scrubber() {
  return Scrubber({{.name = "KEY", .giving = Giving::kBridge, .hosts = {}, .value = kValue, .set_at = 0},
                   {.name = "TINY", .giving = Giving::kBridge, .hosts = {}, .value = "abc", .set_at = 0}});
}

TEST(ScrubberTest, AsItIs) {
  EXPECT_EQ(scrubber().scrub("a " + kValue + kValue + " z"), "a [REDACTED:KEY][REDACTED:KEY] z");
  EXPECT_EQ(scrubber().scrub("nothing of it: abc, sk-3c"), "nothing of it: abc, sk-3c");
  EXPECT_EQ(scrubber().scrub(""), "");
}

TEST(ScrubberTest, InBase64AtEveryPlace) {
  for (const std::string before : {"", "a", "ab", "abc", "user:"}) {
    for (const std::string after : {"", "x", "xy", "xyz"}) {
      std::string encoded = to_base64(before + kValue + after);
      EXPECT_NE(scrubber().scrub(encoded).find("[REDACTED:KEY]"), std::string::npos) << before << "|" << after;
      for (char& c : encoded) c = c == '+' ? '-' : c == '/' ? '_' : c;
      EXPECT_NE(scrubber().scrub(encoded).find("[REDACTED:KEY]"), std::string::npos) << before << "|" << after;
    }
  }
}

TEST(ScrubberTest, InHexUrlsAndJson) {
  EXPECT_EQ(scrubber().scrub("736b2d33632f522b74202271222 73d"), "736b2d33632f522b74202271222 73d");
  EXPECT_EQ(scrubber().scrub("x736b2d33632f522b7420227122203dc3bc7ey"), "x[REDACTED:KEY]y");
  EXPECT_EQ(scrubber().scrub("736B2D33632F522B7420227122203DC3BC7E"), "[REDACTED:KEY]");
  EXPECT_EQ(scrubber().scrub("?k=sk-3c%2FR%2Bt%20%22q%22%20%3D%C3%BC~&"), "?k=[REDACTED:KEY]&");
  EXPECT_EQ(scrubber().scrub("?k=sk-3c%2fR%2bt%20%22q%22%20%3d%c3%bc~&"), "?k=[REDACTED:KEY]&");
  EXPECT_EQ(scrubber().scrub(R"({"k":"sk-3c/R+t \"q\" =ü~"})"), R"({"k":"[REDACTED:KEY]"})");
}

TEST(ScrubberTest, InFormsJsonOfAsciiHtmlAndShells) {
  EXPECT_EQ(scrubber().scrub("k=sk-3c%2FR%2Bt+%22q%22+%3D%C3%BC~&"), "k=[REDACTED:KEY]&");
  EXPECT_EQ(scrubber().scrub(R"(["sk-3c/R+t \"q\" =\u00fc~"])"), R"(["[REDACTED:KEY]"])");
  EXPECT_EQ(scrubber().scrub("<b>sk-3c/R+t &quot;q&quot; =ü~</b>"), "<b>[REDACTED:KEY]</b>");
  const Scrubber other(
      {{.name = "WORD", .giving = Giving::kBridge, .hosts = {}, .value = "it's\t<\U0001F511>", .set_at = 0}});
  EXPECT_EQ(other.scrub("+ echo 'it'\\''s\t<🔑>'"), "+ echo '[REDACTED:WORD]'");
  EXPECT_EQ(other.scrub(R"("it's\t<\ud83d\udd11>")"), R"("[REDACTED:WORD]")");
}

std::string wrapped(std::string_view text, std::size_t columns, std::string_view end) {
  std::string made;
  for (std::size_t at = 0; at < text.size(); at += columns) made += std::string(text.substr(at, columns)).append(end);
  return made;
}

TEST(ScrubberTest, WhereLinesAreWrapped) {
  const std::string token = "ghp_" + std::string(96, 'x') + "0123456789";
  const Scrubber one({{.name = "T", .giving = Giving::kBridge, .hosts = {}, .value = token, .set_at = 0}});
  for (const std::string end : {"\n", "\r\n"}) {
    for (const std::size_t columns : {1U, 60U, 64U, 76U}) {
      const std::string encoded = wrapped(to_base64("user:" + token + "\n"), columns, end);
      const std::string left = one.scrub(encoded);
      EXPECT_NE(left.find("[REDACTED:T]"), std::string::npos) << columns << left;
      EXPECT_LT(left.size(), 60U) << left;
      EXPECT_EQ(one.scrub("a\n" + wrapped(token, columns, end) + "b\n"), "a\n[REDACTED:T]" + end + "b\n");
    }
  }
  const std::string key = "-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQ\n-----END KEY-----";
  const Scrubber lines({{.name = "PEM", .giving = Giving::kBridge, .hosts = {}, .value = key, .set_at = 0}});
  EXPECT_EQ(lines.scrub("x " + key + "\n"), "x [REDACTED:PEM]\n");
  std::string on_terminal = key;
  for (std::size_t at = 0; (at = on_terminal.find('\n', at)) != std::string::npos; at += 2)
    on_terminal.insert(at, "\r");
  EXPECT_EQ(lines.scrub("x " + on_terminal + "\r\n"), "x [REDACTED:PEM]\r\n");
}

// Each form is looked for once, however often another is found.
TEST(ScrubberTest, ATextFullOfOneValue) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += kValue;
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(scrubber().scrub(text).size(), 50'000 * std::string("[REDACTED:KEY]").size());
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
}

TEST(ScrubbedStreamTest, AcrossLines) {
  const std::string token = "ghp_" + std::string(96, 'x') + "0123456789";
  const Scrubber one({{.name = "T", .giving = Giving::kBridge, .hosts = {}, .value = token, .set_at = 0}});
  const std::string text = "a\n" + wrapped(to_base64("user name:" + token), 76, "\n") + "z\n";
  ScrubbedStream stream(one);
  std::string made;
  for (const std::string& line : {text.substr(0, 79), text.substr(79, 77), text.substr(156)}) made += stream.take(line);
  EXPECT_EQ(made + stream.finish(), one.scrub(text));
  // A line is not held back for the few bytes with which a value might begin.
  EXPECT_EQ(stream.take("port 8000 gh\n"), "port 8000 gh\n");
  EXPECT_EQ(stream.take("port 8000 ghp_\n"), "port 8000 ");
  EXPECT_EQ(stream.take("nothing\n"), "ghp_\nnothing\n");
}

TEST(ScrubbedStreamTest, AcrossPiecesOfEverySize) {
  const Scrubber all = scrubber();
  const std::string text = "one " + kValue + " two sk-3c/R " + kValue.substr(0, 10) + kValue + " " + to_base64(kValue);
  for (std::size_t size = 1; size < text.size(); ++size) {
    ScrubbedStream stream(all);
    std::string made;
    for (std::size_t at = 0; at < text.size(); at += size) made += stream.take(text.substr(at, size));
    made += stream.finish();
    EXPECT_EQ(made, all.scrub(text)) << size;
  }
}

TEST(ScrubbedStreamTest, HoldsBackWhatMayBeABeginning) {
  const Scrubber all = scrubber();
  ScrubbedStream stream(all);
  EXPECT_EQ(stream.take("a sk-"), "a ");
  EXPECT_EQ(stream.take("x"), "sk-x");
}

}  // namespace
}  // namespace hutch::secret
