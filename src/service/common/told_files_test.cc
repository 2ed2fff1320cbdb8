// The difference that hutch shows to a person.
#include "service/common/told_files.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hutch::service {
namespace {

TEST(ToldFiles, TheLinesThatDiffer) {
  EXPECT_EQ(short_diff("a\nb\nc\n", "a\nx\nc\n"), "    -b\n    +x\n");
  EXPECT_EQ(short_diff("", "a\n"), "    +a\n");
  EXPECT_EQ(short_diff("a\n", ""), "    -a\n");
  EXPECT_EQ(short_diff("a\na\n", "a\na\na\n"), "    +a\n");
  EXPECT_EQ(short_diff("a\nb", "b\n"), "    -a\n");
  EXPECT_EQ(short_diff("a", "a"), "");
}

TEST(ToldFiles, NothingInItMovesACursor) { EXPECT_EQ(short_diff("", "\x1b[2J\r\n"), "    +\\x1b[2J\\x0d\n"); }

TEST(ToldFiles, ItIsBounded) {
  std::string many;
  for (int i = 0; i < 10'000; ++i) many += "line\n";
  const std::string diff = short_diff(std::string(100'000, 'y'), many);
  EXPECT_LT(std::ranges::count(diff, '\n'), 30);
  EXPECT_LT(diff.size(), 8'000U);
  EXPECT_NE(diff.find("+... 9988 lines more"), std::string::npos) << diff;
}

}  // namespace
}  // namespace hutch::service
