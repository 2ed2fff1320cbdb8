// The words of a machine by which its end is explained.
#include "backend/last_words.h"

#include <gtest/gtest.h>

#include <string>

namespace hutch::backend {
namespace {

TEST(LastWords, TheGuestsOwnComeFirst) {
  EXPECT_EQ(
      last_words_of("[    1.0] booting\r\nhutch-guest: no disk\r\n[    2.0] Kernel panic - not syncing: init\r\n"),
      "hutch-guest: no disk");
}

TEST(LastWords, ThenWhereTheKernelGaveUp) {
  EXPECT_EQ(last_words_of("[    1.0] Kernel panic - not syncing: sysrq triggered crash\r\n[    1.1] CPU: 0 PID: 1\r\n"),
            "Kernel panic - not syncing: sysrq triggered crash");
}

TEST(LastWords, ThenTheLastLine) {
  EXPECT_EQ(last_words_of("one\r\n  two \r\n\r\n"), "two ");
  EXPECT_EQ(last_words_of(""), "");
  EXPECT_EQ(last_words_of("\r\n \n"), "");
}

TEST(LastWords, NothingThatATerminalObeysIsLeft) {
  const std::string said = last_words_of("qemu: \x1b[31mred\x07\n");
  EXPECT_EQ(said.find('\x1b'), said.npos);
  EXPECT_EQ(said.find('\x07'), said.npos);
  EXPECT_LE(last_words_of(std::string(5000, 'x')).size(), 210U);
}

TEST(LastWords, AreSaidBehindAnError) {
  EXPECT_EQ(with_last_words("qemu: no memory\n"), "; its last words: qemu: no memory");
  EXPECT_EQ(with_last_words("\n"), "");
}

}  // namespace
}  // namespace hutch::backend
