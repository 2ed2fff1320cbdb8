// The numbers of agents' OS users.
#include "plan/setup/os_user_numbers.h"

#include <gtest/gtest.h>

namespace hutch::plan {
namespace {

TEST(OsUserNumbers, TheHighestThatNobodyHasOrHad) {
  const NumberRange range = system_numbers("UID_MIN 1000\n#SYS_UID_MIN 100\nSYS_UID_MIN\t 300\n SYS_UID_MAX 304\n");
  const auto given = read_given_numbers("303 agent-one\n302 agent-two\n301 agent-one\n");
  ASSERT_TRUE(given);
  const auto taken = numbers_of("root:x:0:0::/:/bin/sh\na:x:304:7::/:/bin/sh\n\nmalformed\n");
  EXPECT_EQ(free_number(range, taken, *given), 300U);
  EXPECT_EQ(free_number(range, numbers_of("a:x:304:\nb:x:300:"), *given), std::nullopt);
  EXPECT_EQ(number_given_to(*given, "agent-one"), 301U);
  EXPECT_EQ(number_given_to(*given, "agent"), std::nullopt);
}

TEST(OsUserNumbers, WithoutARangeThatOfUseradd) {
  const NumberRange range = system_numbers("#SYS_UID_MAX 500\n");
  EXPECT_EQ(range.first, 101U);
  EXPECT_EQ(range.last, 999U);
}

TEST(OsUserNumbers, PeopleHaveOthers) {
  EXPECT_EQ(people_numbers("").first, 1000U);
  EXPECT_EQ(people_numbers("").last, 60000U);
  const NumberRange range = people_numbers("UID_MIN 500\nSYS_UID_MIN 1\nSYS_UID_MAX 2\nUID_MAX 600\n");
  EXPECT_EQ(range.first, 500U);
  EXPECT_EQ(range.last, 600U);
}

TEST(OsUserNumbers, ALineThatIsNoneIsAnError) {
  for (const char* text : {"agent-one\n", "x agent-one", "303", "303 a b"}) {
    EXPECT_FALSE(read_given_numbers(text)) << text;
  }
}

TEST(OsUserNumbers, ThoseThatAreLeftAreNobodys) {
  const auto given = read_given_numbers("303 agent-one\n302 agent-two\n301 agent-one\n303 agent-one\n");
  const std::vector<std::uint32_t> left = {301, 303};
  EXPECT_EQ(numbers_left(*given, "agent-two:x:302:302::/:/bin/sh\n"), left);
}

}  // namespace
}  // namespace hutch::plan
