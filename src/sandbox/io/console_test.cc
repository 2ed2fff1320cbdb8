// How much of a console is kept.
#include "sandbox/io/console.h"

#include <gtest/gtest.h>

#include <string>

namespace hutch::sandbox {
namespace {

TEST(Console, IsReadFromAnywhere) {
  Console console;
  console.add("one ");
  console.add("two");
  EXPECT_EQ(console.read(0).bytes, "one two");
  EXPECT_EQ(console.read(4).bytes, "two");
  EXPECT_EQ(console.read(7).bytes, "");
  EXPECT_EQ(console.read(7).next, 7U);
  EXPECT_EQ(console.read(700).next, 7U);
  EXPECT_EQ(console.read(700).skipped, 0U);
}

TEST(Console, KeepsTheLastOfALotAndSaysHowMuchIsGone) {
  Console console;
  console.add(std::string(Console::kKeptBytes, 'a'));
  console.add("end");
  const Console::Read read = console.read(1);
  EXPECT_EQ(read.bytes.size(), Console::kKeptBytes);
  EXPECT_TRUE(read.bytes.ends_with("aend"));
  EXPECT_EQ(read.skipped, 2U);
  EXPECT_EQ(read.next, Console::kKeptBytes + 3);
}

TEST(Console, IsThereAfterTheMachine) {
  Console console;
  console.add("bye");
  EXPECT_FALSE(console.read(0).ended);
  console.end();
  EXPECT_TRUE(console.read(0).ended);
  EXPECT_EQ(console.read(0).bytes, "bye");
}

}  // namespace
}  // namespace hutch::sandbox
