// The keys that leave a process's terminal, in pieces of any size.
#include "client/detach_keys.h"

#include <gtest/gtest.h>

namespace hutch::client {
namespace {

TEST(DetachKeys, CtrlPCtrlQLeaves) {
  DetachKeys keys;
  EXPECT_EQ(keys.take("ls\r\x10\x11never"), "ls\r");
  EXPECT_TRUE(keys.were_pressed());
}

TEST(DetachKeys, InTwoPieces) {
  DetachKeys keys;
  EXPECT_EQ(keys.take("\x10"), "");
  EXPECT_FALSE(keys.were_pressed());
  EXPECT_EQ(keys.take("\x11"), "");
  EXPECT_TRUE(keys.were_pressed());
}

TEST(DetachKeys, ACtrlPThatIsNotFollowedByItGoesOn) {
  DetachKeys keys;
  EXPECT_EQ(keys.take("\x10"), "");
  EXPECT_EQ(keys.take("a"),
            "\x10"
            "a");
  EXPECT_EQ(keys.take("\x10\x10"), "\x10") << "the second is held in its place";
  EXPECT_EQ(keys.take("b\x11"),
            "\x10"
            "b\x11");
  EXPECT_FALSE(keys.were_pressed());
}

}  // namespace
}  // namespace hutch::client
