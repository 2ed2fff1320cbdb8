// The tests of answers that are no streams.
#include "server/e2b/reply.h"

#include <gtest/gtest.h>

namespace hutch::server::e2b {
namespace {

TEST(E2bReply, AListIsWhatItWouldBeAsAValue) {
  ListReply list("entries");
  EXPECT_TRUE(list.add({{"a", 1}}));
  EXPECT_TRUE(list.add({{"b", "x"}}));
  const Value::List same = {Value::Object{{"a", 1}}, Value::Object{{"b", "x"}}};
  EXPECT_EQ(std::move(list).finish().json, Reply(Value::Object{{"entries", same}}).json);
  EXPECT_EQ(ListReply("entries").finish().json, R"({"entries":[]})");
}

TEST(E2bReply, ItSaysThatItWouldBeTooLong) {
  ListReply list("entries");
  const std::string text(1 << 20, 'x');
  for (int i = 0; i < 15; ++i) ASSERT_TRUE(list.add({{"a", text}}));
  const Status last = list.add({{"a", text}});
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().message, "the answer would have more than 16777216 bytes");
}

}  // namespace
}  // namespace hutch::server::e2b
