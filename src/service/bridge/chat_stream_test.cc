// The events of a chat's answer.
#include "service/bridge/chat_stream.h"

#include <gtest/gtest.h>

namespace hutch::service {
namespace {

const std::string kAnswer =
    ": comment\n"
    "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\r\n\r\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"one \"}}]}\n\n"
    "data:{\"choices\":[{\"delta\":{\"content\":\"two\"},\"finish_reason\":null}]}\n\n"
    "data: [DONE]\n\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"behind\"}}]}\n\n";

TEST(ChatStreamTest, PiecesOfEverySize) {
  for (std::size_t size = 1; size <= kAnswer.size(); ++size) {
    ChatStream stream;
    std::string text;
    for (std::size_t at = 0; at < kAnswer.size(); at += size)
      text += stream.take(std::string_view(kAnswer).substr(at, size));
    EXPECT_EQ(text, "one two") << size;
    EXPECT_TRUE(stream.is_done());
    EXPECT_EQ(stream.error(), "");
  }
}

TEST(ChatStreamTest, AnEndByItsReasonAndAWholeMessage) {
  ChatStream stream;
  EXPECT_EQ(stream.take("{\"choices\":[{\"message\":{\"content\":\"all\"},\"finish_reason\":\"stop\"}]}\n"), "all");
  EXPECT_TRUE(stream.is_done());
}

TEST(ChatStreamTest, ErrorsAndRubbish) {
  ChatStream stream;
  EXPECT_EQ(stream.take("{\"error\":{\"message\":\"no such model\\u001b[2J\"}}\n"), "");
  EXPECT_EQ(stream.error(), "no such model\x1b[2J");
  ChatStream other;
  for (const char* line : {"data: {\n", "data: []\n", "data: {\"choices\":{}}\n", "data: {\"choices\":[1]}\n",
                           "data: {\"choices\":[{\"delta\":3}]}\n", "\n", "event: x\n"}) {
    EXPECT_EQ(other.take(line), "") << line;
  }
  EXPECT_FALSE(other.is_done());
  EXPECT_EQ(other.take(std::string(2 << 20, 'x')), "");
  EXPECT_TRUE(other.is_too_long());
}

}  // namespace
}  // namespace hutch::service
