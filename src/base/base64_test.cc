// base64: the examples of RFC 4648, and what is no base64.
#include "base/base64.h"

#include <gtest/gtest.h>

namespace hutch {
namespace {

TEST(Base64, ExamplesOfTheStandard) {
  const std::pair<std::string, std::string> examples[] = {
      {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : examples) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, EveryByteComesBack) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
}

TEST(Base64, OtherTextIsRefused) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm 9", "====", "Zm9v\n", "Z=9v", "_-Zg"}) {
    EXPECT_FALSE(from_base64(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace hutch
