// The spool in a real directory: appended to, turned over, torn, followed, and put there by somebody else.
#include "store/spool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/directory_testing.h"

namespace hutch::store {
namespace {

namespace fs = std::filesystem;

class Spool : public testing::Test {
 protected:
  std::string file() const { return directory_ + "/spool.jsonl"; }

  SpoolWriter writer(std::uint64_t bytes_max = kSpoolBytesMax) {
    Result<SpoolWriter> opened = SpoolWriter::open(directory_, bytes_max);
    if (!opened) ADD_FAILURE() << opened.error().message;
    return std::move(*opened);
  }

  SpoolContents contents() {
    Result<SpoolContents> read = read_spool(directory_);
    if (!read) ADD_FAILURE() << read.error().message;
    return read ? std::move(*read) : SpoolContents();
  }

  void scribble(const std::string& bytes) { std::ofstream(file(), std::ios::app) << bytes; }

  static Record refusal(const std::string& what) { return {Time(), "ab", Refusal{what, ""}}; }

  static std::vector<std::string> whats(const SpoolContents& contents) {
    std::vector<std::string> list;
    for (const Record& record : contents.records) list.push_back(std::get<Refusal>(record.body).what);
    return list;
  }

  const TestDirectory made_{"hutch-spool"};
  const std::string root_ = made_.path();
  const std::string directory_ = root_ + "/data/hutch";
};

TEST_F(Spool, AbsentIsEmpty) {
  EXPECT_TRUE(contents().records.empty());
  EXPECT_EQ(contents().damaged_lines, 0u);
}

TEST_F(Spool, KeepsWhatWasAppended) {
  ASSERT_TRUE(writer().append(refusal("one")));
  ASSERT_TRUE(writer().append(refusal("two")));
  EXPECT_THAT(whats(contents()), testing::ElementsAre("one", "two"));
  struct stat status = {};
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  ASSERT_EQ(::stat(directory_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
}

TEST_F(Spool, LosesOnlyTheTornLine) {
  ASSERT_TRUE(writer().append(refusal("one")));
  scribble("{\"v\":1,\"time\":\"20");
  EXPECT_EQ(contents().damaged_lines, 1u);
  ASSERT_TRUE(writer().append(refusal("two")));
  EXPECT_THAT(whats(contents()), testing::ElementsAre("one", "two"));
  EXPECT_EQ(contents().damaged_lines, 1u);
}

TEST_F(Spool, PassesOverRubbish) {
  ASSERT_TRUE(writer().append(refusal("one")));
  scribble("\n\nnull\n" + std::string(1 << 20, 'x'));
  scribble(std::string("\n\0\0\n", 4) + std::string(300'000, '[') + "\n");
  ASSERT_TRUE(writer().append(refusal("two")));
  EXPECT_THAT(whats(contents()), testing::ElementsAre("one", "two"));
  EXPECT_GE(contents().damaged_lines, 5u);
}

TEST_F(Spool, TurnsOverAndStaysBounded) {
  constexpr std::uint64_t kBytesMax = 4096;
  SpoolWriter appending = writer(kBytesMax);
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(appending.append(refusal(std::to_string(i))));
  EXPECT_LE(fs::file_size(file()), kBytesMax);
  EXPECT_LE(fs::file_size(directory_ + "/spool.1.jsonl"), kBytesMax);
  const std::vector<std::string> kept = whats(contents());
  ASSERT_GE(kept.size(), 30u);
  for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(kept[i], std::to_string(500 - kept.size() + i));
}

TEST_F(Spool, ManyWritersLoseNothing) {
  constexpr int kWriters = 4;
  constexpr int kEach = 200;
  std::vector<std::thread> threads;
  for (int i = 0; i < kWriters; ++i) {
    threads.emplace_back([&] {
      // Large enough that the file is turned over just once or twice while all of them write.
      SpoolWriter mine = writer(60'000);
      for (int j = 0; j < kEach; ++j) EXPECT_TRUE(mine.append(refusal("x")));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(contents().damaged_lines, 0u);
  EXPECT_EQ(contents().records.size(), static_cast<std::size_t>(kWriters * kEach));
}

TEST_F(Spool, IsNeverASymlinkOrAPipe) {
  fs::create_directories(directory_);
  const std::string target = root_ + "/target";
  std::ofstream(target) << "mine";
  fs::create_symlink(target, file());
  EXPECT_FALSE(SpoolWriter::open(directory_));
  EXPECT_FALSE(read_spool(directory_));
  fs::remove(file());
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  EXPECT_FALSE(SpoolWriter::open(directory_));
  EXPECT_FALSE(read_spool(directory_));
  EXPECT_EQ(fs::file_size(target), 4u);
}

TEST_F(Spool, IsFollowed) {
  SpoolWriter appending = writer(2048);
  ASSERT_TRUE(appending.append(refusal("old")));
  SpoolFollower follower(directory_);
  EXPECT_TRUE(follower.next()->records.empty());
  ASSERT_TRUE(appending.append(refusal("one")));
  EXPECT_THAT(whats(*follower.next()), testing::ElementsAre("one"));
  EXPECT_TRUE(follower.next()->records.empty());

  // Half a line is not there yet.
  const std::string line = format_record(refusal("two")) + "\n";
  scribble(line.substr(0, 20));
  EXPECT_TRUE(follower.next()->records.empty());
  scribble(line.substr(20));
  EXPECT_THAT(whats(*follower.next()), testing::ElementsAre("two"));

  // Over the end of the file into the next one.
  std::vector<std::string> expected;
  for (int i = 0; i < 20; ++i) {
    expected.push_back(std::to_string(i));
    ASSERT_TRUE(appending.append(refusal(expected.back())));
  }
  ASSERT_TRUE(fs::exists(directory_ + "/spool.1.jsonl"));
  EXPECT_THAT(whats(*follower.next()), testing::ElementsAreArray(expected));
}

TEST_F(Spool, IsFollowedBeforeItExists) {
  SpoolFollower follower(directory_);
  EXPECT_TRUE(follower.next()->records.empty());
  ASSERT_TRUE(writer().append(refusal("first")));
  EXPECT_THAT(whats(*follower.next()), testing::ElementsAre("first"));
}

TEST(RunId, IsNewEachTime) {
  const Result<std::string> one = new_run_id();
  const Result<std::string> two = new_run_id();
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->size(), 12u);
  EXPECT_EQ(one->find_first_not_of("0123456789abcdef"), one->npos);
  EXPECT_NE(*one, *two);
}

}  // namespace
}  // namespace hutch::store
