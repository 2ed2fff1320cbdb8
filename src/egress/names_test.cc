// Names and addresses: a name keeps its own, a forgotten one's is not soon another's.
#include "egress/names.h"

#include <gtest/gtest.h>

#include <set>

namespace hutch::egress {
namespace {

TEST(Names, OneOfEachKindForAName) {
  Names names;
  const auto first = names.addresses_of("a.example");
  const auto second = names.addresses_of("b.example");
  EXPECT_NE(first.v4, second.v4);
  EXPECT_NE(first.v6, second.v6);
  EXPECT_EQ(names.addresses_of("a.example").v4, first.v4);
  EXPECT_EQ(names.name_of(first.v4), "a.example");
  EXPECT_EQ(names.name_of(first.v6), "a.example");
  EXPECT_EQ(names.name_of(second.v6), "b.example");
  EXPECT_TRUE(plan::is_name_address(first.v4));
  EXPECT_TRUE(plan::is_name_address(first.v6));
}

TEST(Names, NobodyHasAnAddressThatWasNotGiven) {
  Names names;
  names.addresses_of("a.example");
  EXPECT_FALSE(names.name_of(*parse_ip("198.18.0.0")));
  EXPECT_FALSE(names.name_of(*parse_ip("198.18.77.1")));
  EXPECT_FALSE(names.name_of(*parse_ip("198.19.0.1")));
  EXPECT_FALSE(names.name_of(*parse_ip("192.0.2.1")));
  EXPECT_FALSE(plan::is_name_address(*parse_ip("198.19.255.254")));
  EXPECT_FALSE(plan::is_name_address(*parse_ip("fd68:7574:6368::1")));
}

TEST(Names, ForgetsTheOneAskedForLongestAgo) {
  Names names(3);
  const auto a = names.addresses_of("a");
  const auto b = names.addresses_of("b");
  names.addresses_of("c");
  names.addresses_of("a");
  const auto d = names.addresses_of("d");
  EXPECT_FALSE(names.name_of(b.v4));
  EXPECT_EQ(names.name_of(a.v4), "a");
  EXPECT_NE(d.v4, b.v4);
}

TEST(Names, GoesRoundTheRangeWithoutTakingWhatIsInUse) {
  Names names(60'000);
  const auto kept = names.addresses_of("kept");
  for (int i = 0; i < 200'000; ++i) {
    const auto given = names.addresses_of("n" + std::to_string(i));
    ASSERT_TRUE(plan::is_name_address(given.v4));
    if (i % 1000 == 0) {
      ASSERT_EQ(names.addresses_of("kept").v4, kept.v4);
    }
    ASSERT_NE(given.v4, kept.v4);
  }
}

TEST(Names, OneThatIsKeptIsNeverForgotten) {
  Names names(2);
  const auto kept = plan::name_addresses(1);
  names.keep("kept.example", kept.v4);
  for (int i = 0; i < 10; ++i) {
    const auto given = names.addresses_of("x" + std::to_string(i) + ".example");
    EXPECT_NE(given.v4, kept.v4);
  }
  EXPECT_EQ(names.addresses_of("kept.example").v4, kept.v4);
  EXPECT_EQ(names.addresses_of("kept.example").v6, kept.v6);
  EXPECT_EQ(names.name_of(kept.v6), "kept.example");
}

}  // namespace
}  // namespace hutch::egress
