// What is seen of a process's children.
#include "sys/process/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace hutch::sys {
namespace {

// A child that waits until it is killed.
pid_t start_waiting() {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  return child;
}

void end(pid_t child) {
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(ChildrenThen, AreTheSameUntilOneIsMadeOrGoes) {
  const pid_t parent = start_waiting();
  const auto none = ChildrenThen::of(parent);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->are_the_same());
  end(parent);
  EXPECT_FALSE(none->are_the_same()) << "a later one may have its number";
  EXPECT_FALSE(ChildrenThen::of(parent));

  const auto before = ChildrenThen::of(::getpid());
  ASSERT_TRUE(before);
  const pid_t child = start_waiting();
  EXPECT_FALSE(before->are_the_same());
  const auto with_it = ChildrenThen::of(::getpid());
  ASSERT_TRUE(with_it);
  EXPECT_TRUE(with_it->are_the_same());
  end(child);
  EXPECT_FALSE(with_it->are_the_same());
  EXPECT_TRUE(before->are_the_same());
}

TEST(ChildrenThen, AreNotSeenOfSeveralThreads) {
  std::jthread second([](const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::yield();
  });
  EXPECT_FALSE(ChildrenThen::of(::getpid()));
}

}  // namespace
}  // namespace hutch::sys
