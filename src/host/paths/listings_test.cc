// Listings of real directories: which are kept, and when they are read again.
#include "host/paths/listings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/text.h"
#include "sys/files/files.h"

namespace hutch::host {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class ListingsTest : public testing::Test {
 protected:
  ListingsTest() : top_(fs::path(testing::TempDir()) / cat({"listings-", info()})) {
    fs::remove_all(top_);
    fs::create_directories(top_);
  }
  ~ListingsTest() override { fs::remove_all(top_); }

  static std::string info() { return testing::UnitTest::GetInstance()->current_test_info()->name(); }
  // Waits until the next change gets a later time than all earlier changes.
  static void let_time_pass() {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
  }
  void write(const std::string& name) const { std::ofstream(top_ / name) << "x"; }
  std::vector<std::string> names() {
    const UniqueFd directory = sys::open_listing(top_.string()).value();
    std::vector<std::string> all;
    for (const sys::TreeEntry& entry : listings_.of_repositories(directory.get(), top_.string()).value()) {
      all.push_back(entry.name);
    }
    return all;
  }

  fs::path top_;
  Listings listings_;
};

TEST_F(ListingsTest, DirectoriesAndWhatTellsARepository) {
  fs::create_directory(top_ / "sub");
  for (const char* name : {"plain", "HEAD", "config", ".git", "HEAD.x"}) write(name);
  fs::create_symlink("sub", top_ / "refs");
  fs::create_symlink("sub", top_ / "link");
  EXPECT_THAT(names(), UnorderedElementsAre("sub", "HEAD", "config", ".git", "refs"));
}

TEST_F(ListingsTest, EachChangeIsSeen) {
  EXPECT_THAT(names(), IsEmpty());
  for (int round = 0; round < 200; ++round) {
    if (round % 20 == 0) let_time_pass();
    write("HEAD");
    ASSERT_THAT(names(), ElementsAre("HEAD")) << round;
    fs::remove(top_ / "HEAD");
    ASSERT_THAT(names(), IsEmpty()) << round;
  }
}

TEST_F(ListingsTest, AnotherDirectoryOfThatName) {
  let_time_pass();
  EXPECT_THAT(names(), IsEmpty());
  let_time_pass();
  EXPECT_THAT(names(), IsEmpty());
  fs::create_directories(top_.string() + "-other/objects");
  fs::remove_all(top_);
  fs::rename(top_.string() + "-other", top_);
  EXPECT_THAT(names(), ElementsAre("objects"));
}

TEST_F(ListingsTest, ATimeThatIsSetBackHidesNothing) {
  let_time_pass();
  const auto before = fs::last_write_time(top_);
  EXPECT_THAT(names(), IsEmpty());
  let_time_pass();
  write("HEAD");
  fs::last_write_time(top_, before);
  EXPECT_THAT(names(), ElementsAre("HEAD"));
}

// A directory that is only a path cannot be listed.
TEST_F(ListingsTest, WhatWasReadWholeIsKnown) {
  fs::create_directory(top_ / "sub");
  for (const char* name : {"plain", "HEAD"}) write(name);
  const UniqueFd path = sys::open_exact(top_.string()).value();
  EXPECT_FALSE(listings_.of_repositories(path.get(), top_.string()));
  let_time_pass();
  const UniqueFd directory = sys::open_listing(top_.string()).value();
  EXPECT_EQ(listings_.read(directory.get(), top_.string()).value().size(), 3);
  EXPECT_EQ(listings_.of_repositories(path.get(), top_.string()).value().size(), 2);
  let_time_pass();
  write("objects");
  EXPECT_FALSE(listings_.of_repositories(path.get(), top_.string()));
  EXPECT_THAT(names(), UnorderedElementsAre("sub", "HEAD", "objects"));
}

}  // namespace
}  // namespace hutch::host
