// How names look in questions.
#include "base/printable_name.h"

#include <gtest/gtest.h>

#include <string>

namespace hutch {
namespace {

TEST(PrintableName, OfBlanksOneThatStandsAloneStays) {
  EXPECT_EQ(printable_name("/a/My Files/x"), "/a/My Files/x");
  EXPECT_EQ(printable_name("/a/x  asked by git"), "/a/x\\x20\\x20asked by git");
  EXPECT_EQ(printable_name("/a/x "), "/a/x\\x20");
  EXPECT_EQ(printable_name(" /a/ b /c"), "\\x20/a/\\x20b\\x20/c");
  EXPECT_EQ(printable_name(std::string("/a/") + std::string(3, ' '), 8), "/a/\\x20\\x20...");
}

}  // namespace
}  // namespace hutch
