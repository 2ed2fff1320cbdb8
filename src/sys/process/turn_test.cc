// The turns that processes take.
#include "sys/process/turn.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "sys/io.h"
#include "sys/process/process.h"

namespace hutch::sys {
namespace {

constexpr std::chrono::milliseconds kSoon{50};
constexpr std::chrono::milliseconds kPatience{30'000};

class Turn : public testing::Test {
 protected:
  Turn() {
    EXPECT_NE(::mkdtemp(root_.data()), nullptr);
    path_ = root_ + "/turns";
  }
  ~Turn() override { std::filesystem::remove_all(root_); }
  std::string root_ = testing::TempDir() + "turn-test-XXXXXX";
  std::string path_;
};

TEST_F(Turn, EachOpenIsAHolder) {
  UniqueFd one = *open_turns(path_);
  const UniqueFd two = *open_turns(path_);
  ASSERT_TRUE(take_turn(one.get(), kSoon));
  EXPECT_EQ(take_turn(two.get(), kSoon).error().sys_errno, ETIMEDOUT);
  give_turn_back(one.get());
  ASSERT_TRUE(take_turn(two.get(), kSoon));
  give_turn_back(two.get());
  ASSERT_TRUE(take_turn(one.get(), kSoon));
  one.reset();
  EXPECT_TRUE(take_turn(two.get(), kSoon));
}

TEST_F(Turn, IsForOneFileOfTheUser) {
  ASSERT_TRUE(open_turns(path_));
  EXPECT_EQ(std::filesystem::status(path_).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::create_symlink(path_, root_ + "/link");
  EXPECT_EQ(open_turns(root_ + "/link").error().sys_errno, ELOOP);
  EXPECT_FALSE(open_turns("/dev/null"));
  EXPECT_EQ(open_turns(root_ + "/absent/turns").error().sys_errno, ENOENT);
}

// A process that takes the turn again and again does not keep another one out.
TEST_F(Turn, ComesToAProcessThatWaits) {
  const Pipe held = *pipe();
  const auto child = fork_process(Parentage::kOwn);
  ASSERT_TRUE(child);
  if (*child == 0) {
    const auto busy = open_turns(path_);
    for (bool first = true; busy; first = false) {
      if (!take_turn(busy->get(), kPatience)) break;
      if (first) (void)write_all(held.write.get(), "x");
      give_turn_back(busy->get());
    }
    exit_now(1);
  }
  char begun = 0;
  ASSERT_TRUE(read_some(held.read.get(), {&begun, 1}));
  const UniqueFd own = *open_turns(path_);
  for (int times = 0; times < 100; ++times) {
    ASSERT_TRUE(take_turn(own.get(), kPatience));
    give_turn_back(own.get());
  }
  ASSERT_TRUE(send_signal(*child, 9));
  ASSERT_TRUE(reap(*child));
}

}  // namespace
}  // namespace hutch::sys
