// The files that a configuration includes, and which of them are trusted.
#include "plan/paths/checked_files.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace hutch::plan {
namespace {

std::string includes_in(const std::string& text) { return join(includes_of(kCheckedConfigs[0], text), "|"); }

TEST(CheckedFilesTest, IncludesAreAbsoluteOrOfTheDirectory) {
  EXPECT_EQ(includes_in("Host *\nInclude /etc/ssh/ssh_config.d/*.conf\n  include=other.conf\nINCLUDE\ta b # c\n"),
            "/etc/ssh/ssh_config.d/*.conf|/etc/ssh/other.conf|/etc/ssh/a|/etc/ssh/b");
}

TEST(CheckedFilesTest, QuotesAndBackslashesKeepBlanks) {
  EXPECT_EQ(includes_in("Include \"/etc/a b\" '/etc/c d' /etc/e\\ f \"/etc/\\\"g\""),
            "/etc/a b|/etc/c d|/etc/e f|/etc/\"g");
  EXPECT_EQ(includes_in("Include \"/etc/open"), "/etc/open");
}

TEST(CheckedFilesTest, OtherLinesAndHomesArePassedOver) {
  EXPECT_EQ(includes_in("#Include /etc/a\nIncluded /etc/b\nInclude\nInclude ~/c \"\"\nHost include\n"), "");
  EXPECT_EQ(includes_in(std::string("Include /etc/a\0b\n", 17)), "");
}

TEST(CheckedFilesTest, IncludesAreBounded) {
  std::string line = "Include";
  for (int number = 0; number < 1000; ++number) line += " /etc/x";
  EXPECT_EQ(includes_of(kCheckedConfigs[0], line).size(), kIncludesMax);
  EXPECT_EQ(includes_in(std::string(kCheckedBytesMax, '\n') + "Include /etc/late\n"), "");
}

TEST(CheckedFilesTest, RootsFilesAreTrustedWhereOthersCannotWriteThem) {
  EXPECT_TRUE(is_roots_alone(0, 0644));
  EXPECT_FALSE(is_roots_alone(0, 0664));
  EXPECT_FALSE(is_roots_alone(0, 0646));
  EXPECT_FALSE(is_roots_alone(1000, 0644));
}

}  // namespace
}  // namespace hutch::plan
