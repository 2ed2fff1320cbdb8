// Placeholders in requests.
#include "inspect/swap.h"

#include <gtest/gtest.h>

#include "base/base64.h"

namespace hutch::inspect {
namespace {

const Placeholders kTwo = {{"hutch-0123456789", "sk-a/b+c=d&e f\"g"}, {"hutch-abcdefabcd", "other-value-1234"}};

TEST(SwapTest, HeadersAndBasicAuthentication) {
  Headers headers = {{"X-Key", "a hutch-0123456789 hutch-0123456789"},
                     {"authorization", "Bearer hutch-abcdefabcd"},
                     {"Authorization", "basic " + to_base64("me:hutch-0123456789")},
                     {"X-Other", "Basic " + to_base64("me:hutch-0123456789")},
                     {"Accept", "*/*"}};
  swap_headers(kTwo, headers);
  EXPECT_EQ(headers[0].value, "a sk-a/b+c=d&e f\"g sk-a/b+c=d&e f\"g");
  EXPECT_EQ(headers[1].value, "Bearer other-value-1234");
  EXPECT_EQ(headers[2].value, "basic " + to_base64("me:sk-a/b+c=d&e f\"g"));
  EXPECT_EQ(headers[3].value, "Basic " + to_base64("me:hutch-0123456789")) << "of that field alone";
  EXPECT_EQ(headers[4].value, "*/*");
}

TEST(SwapTest, WhatIsNoBase64StaysAsItIs) {
  for (const char* value : {"Basic", "Basic ", "Basic !!", "Basic   ", "Digest x"}) {
    Headers headers = {{"Authorization", value}};
    swap_headers(kTwo, headers);
    EXPECT_EQ(headers[0].value, value);
  }
}

TEST(SwapTest, TheTargetIsEscaped) {
  EXPECT_EQ(swap_target(kTwo, "/v1?key=hutch-0123456789&x=1"), "/v1?key=sk-a%2Fb%2Bc%3Dd%26e%20f%22g&x=1");
}

TEST(SwapTest, AnAnswersFieldsShowTheStandIn) {
  Headers headers = {{"Location", "https://other.example/?k=sk-a%2Fb%2Bc%3Dd%26e%20f%22g&x=other-value-1234"},
                     {"Set-Cookie", "last=sk-a/b+c=d&e f\"g"},
                     {"X", "other-value-123"}};
  hide_values(kTwo, headers);
  EXPECT_EQ(headers[0].value, "https://other.example/?k=hutch-0123456789&x=hutch-abcdefabcd");
  EXPECT_EQ(headers[1].value, "last=hutch-0123456789");
  EXPECT_EQ(headers[2].value, "other-value-123");
}

TEST(SwapTest, WhatIsSentBackIsNotPutInto) {
  EXPECT_TRUE(is_echoed("TRACE") && is_echoed("trace") && is_echoed("TRACK"));
  EXPECT_FALSE(is_echoed("GET") || is_echoed("") || is_echoed("TRACES"));
}

TEST(SwapTest, BodiesKeepTheirLength) {
  std::string body = R"({"key":"hutch-0123456789"})";
  const std::size_t size = body.size();
  swap_in_place(kTwo, body);
  EXPECT_EQ(body.size(), size);
  EXPECT_NE(body.find("sk-a/b+c"), std::string::npos);
  std::string other = "hutch-0";
  swap_in_place({{"hutch-0", "longer-than-that"}}, other);
  EXPECT_EQ(other, "hutch-0");
}

TEST(SwapTest, WhatMayBeginOneWaits) {
  EXPECT_EQ(begun_at_end(kTwo, "abc"), 0U);
  EXPECT_EQ(begun_at_end(kTwo, "abch"), 1U);
  EXPECT_EQ(begun_at_end(kTwo, "abc hutch-abcdefabc"), 15U);
  EXPECT_EQ(begun_at_end(kTwo, "hutch-abcdefabcd"), 0U);
  EXPECT_EQ(begun_at_end({}, "hutch-"), 0U);
}

}  // namespace
}  // namespace hutch::inspect
