// The file of further API keys.
#include "server/e2b/keys.h"

#include <gtest/gtest.h>

namespace hutch::server::e2b {
namespace {

TEST(E2bKeys, ALineIsANameAndAKey) {
  const auto keys = keys_in(
      "ann 0123456789abcdef\r\n# bob 0123456789abcdef\nbob  0123456789abcdeg \nshort 0123456789abcde\n"
      " 0123456789abcdef\n0123456789abcdef\ncarl 0123456789 abcdef");
  ASSERT_EQ(keys.size(), 3U);
  EXPECT_EQ(keys[0], (NamedKey{"ann", "0123456789abcdef"}));
  EXPECT_EQ(keys[1], (NamedKey{"bob", "0123456789abcdeg"}));
  EXPECT_EQ(keys[2], (NamedKey{"carl", "0123456789 abcdef"}));
  EXPECT_TRUE(keys_in("").empty());
}

}  // namespace
}  // namespace hutch::server::e2b
