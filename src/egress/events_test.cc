// What a person names, and what is meant by it.
#include "egress/events.h"

#include <gtest/gtest.h>

namespace hutch::egress {
namespace {

TEST(IsNamed, APortOrAll) {
  EXPECT_TRUE(is_named("a.example:443", "a.example:443"));
  EXPECT_TRUE(is_named("a.example:443", "a.example"));
  EXPECT_TRUE(is_named("[::1]:22", "[::1]"));
  EXPECT_FALSE(is_named("a.example:443", "a.example:80"));
  EXPECT_FALSE(is_named("a.example:443", "a.exampl"));
  EXPECT_FALSE(is_named("a.example:443", "a.example:"));
  EXPECT_FALSE(is_named("[::1]:22", "["));
  EXPECT_FALSE(is_named("[::1]:22", "[:"));
}

}  // namespace
}  // namespace hutch::egress
