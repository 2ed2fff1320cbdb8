// Values in texts, as they are and as programs write them otherwise.
#include "secret/scrubber.h"

#include <gtest/gtest.h>

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
