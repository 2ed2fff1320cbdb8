// What agents remember, and how it is found again.
#include "store/memories.h"

#include <gtest/gtest.h>

#include "base/directory_testing.h"
#include "store/host_data.h"

namespace hutch::store {
namespace {

constexpr std::int64_t kDay = 24LL * 3600 * 1000;
constexpr std::int64_t kNow = 20'000 * kDay;

class MemoriesTest : public ::testing::Test {
 protected:
  void add(const std::string& agent, std::string content, double salience = kUsualSalience, std::int64_t age = 0) {
    ASSERT_TRUE(memories_.add(
        agent,
        {.id = 0, .content = std::move(content), .salience = salience, .created = kNow - age, .source = "sandbox"}));
  }
  std::vector<std::string> find(const std::string& agent, std::string_view words) {
    std::vector<std::string> contents;
    const auto found = memories_.find(agent, words, 10, kNow);
    EXPECT_TRUE(found) << (found ? "" : found.error().message);
    if (found) {
      for (const Memory& memory : *found) contents.push_back(memory.content);
    }
    return contents;
  }
  TestDirectory directory_{"memories"};
  Memories memories_{directory_.path() + "/memory"};
};

TEST_F(MemoriesTest, AnyWordFindsAndTheBetterFitComesFirst) {
  add("alice", "the build needs clang");
  add("alice", "the database is slow, the build of the database too");
  add("alice", "nothing of that kind");
  EXPECT_EQ(find("alice", "database build").front(), "the database is slow, the build of the database too");
  EXPECT_EQ(find("alice", "database build").size(), 2U);
  EXPECT_TRUE(find("alice", "absent").empty());
}

TEST_F(MemoriesTest, NobodyFindsAnothers) {
  add("alice", "alice's own");
  EXPECT_TRUE(find("bob", "alice").empty());
  EXPECT_TRUE(find("bob", "").empty());
}

TEST_F(MemoriesTest, ThereIsAnEndToWhatTheyTake) {
  add("a", "the first");
  add("b", "another's");
  auto database = Database::open(directory_.path() + "/memory/a.db");
  ASSERT_TRUE(database);
  ASSERT_TRUE(
      database->execute("INSERT INTO memory (content, salience, created, source)"
                        " VALUES (hex(zeroblob(140000000)), 0, 0, 'sandbox')"));
  const auto refused =
      memories_.add("a", {.id = 0, .content = "one more", .salience = 0.5, .created = kNow, .source = ""});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kConflict);
  add("b", "more of another's");
  ASSERT_TRUE(database->execute("DELETE FROM memory WHERE id = 2"));
  add("a", "once there is room");
  EXPECT_EQ(find("a", "room").size(), 1U);
}

TEST_F(MemoriesTest, SalienceAndRecencyDecideBetweenEqualFits) {
  add("a", "token one", 0.1);
  add("a", "token two", 0.9);
  EXPECT_EQ(find("a", "token").front(), "token two");
  add("b", "token new");
  add("b", "token old", kUsualSalience, 300 * kDay);
  EXPECT_EQ(find("b", "token").front(), "token new");
}

TEST_F(MemoriesTest, TheRarestWordsChooseWhoeverCameLater) {
  add("a", "the needle lies here");
  for (int i = 0; i < 5100; ++i) add("a", "hay " + std::to_string(i));
  add("a", "needle and hay");
  EXPECT_EQ(find("a", "hay needle"), (std::vector<std::string>{"needle and hay", "the needle lies here"}));
  EXPECT_EQ(find("a", "hay hay 17").front(), "hay 17");
  EXPECT_EQ(find("a", "hay").size(), 10U);
}

TEST_F(MemoriesTest, SyntaxIsOnlyWords) {
  add("a", "weird query");
  for (const char* words : {"\"", "weird\"", "weird OR", "NEAR(weird", "content:weird", "weird*", "-weird", "^weird",
                            "weird AND NOT query", "{weird}", "'; DROP TABLE memory; --"}) {
    EXPECT_TRUE(memories_.find("a", words, 10, kNow)) << words;
  }
  EXPECT_EQ(find("a", "(weird").size(), 1U);
  EXPECT_FALSE(memories_.find("a", "\xff", 10, kNow));
}

Memory memory_of(std::string content, double salience = kUsualSalience) {
  return {.id = 0, .content = std::move(content), .salience = salience, .created = kNow, .source = "sandbox"};
}

TEST_F(MemoriesTest, BoundsHold) {
  EXPECT_FALSE(memories_.add("a", memory_of("")));
  EXPECT_FALSE(memories_.add("a", memory_of(std::string(kMemoryBytesMax + 1, 'x'))));
  EXPECT_FALSE(memories_.add("a", memory_of("x", 1.1)));
  EXPECT_FALSE(memories_.add("a", memory_of(std::string("a\0b", 3))));
  EXPECT_TRUE(memories_.add("a", memory_of("x", 1)));
}

TEST_F(MemoriesTest, RemovingTakesItOutOfTheIndex) {
  add("a", "gone soon");
  const auto found = memories_.find("a", "gone", 10, kNow);
  ASSERT_TRUE(found);
  EXPECT_TRUE(*memories_.remove("a", found->front().id));
  EXPECT_FALSE(*memories_.remove("a", found->front().id));
  EXPECT_TRUE(find("a", "gone").empty());
}

TEST_F(MemoriesTest, ForgettingRemovesTheDatabase) {
  add("a", "kept");
  ASSERT_TRUE(memories_.forget("a"));
  EXPECT_TRUE(find("a", "kept").empty());
}

TEST(MemoryScoreTest, EachPartCounts) {
  EXPECT_GT(memory_score(1, 0.5, 0), memory_score(0.5, 0.5, 0));
  EXPECT_GT(memory_score(1, 0.6, 0), memory_score(1, 0.5, 0));
  EXPECT_GT(memory_score(1, 0.5, 0), memory_score(1, 0.5, kDay));
  EXPECT_LE(memory_score(1, 1, -5), 1.0);
}

TEST(HostDataTest, ValuesAreOfOneAgentAndBounded) {
  TestDirectory directory("host-data");
  const auto data = HostData::open(directory.path());
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_TRUE((*data)->set_config("a", "k", "1"));
  ASSERT_TRUE((*data)->set_config("a", "k", "2"));
  EXPECT_EQ((*data)->config("a", "k")->value_or(""), "2");
  EXPECT_FALSE((*data)->config("b", "k")->has_value());
  EXPECT_FALSE((*data)->set_config("a", "", "x"));
  EXPECT_FALSE((*data)->set_config("a", std::string(kConfigKeyBytesMax + 1, 'k'), "x"));
  EXPECT_FALSE((*data)->set_config("a", "k", std::string(kConfigValueBytesMax + 1, 'v')));
  ASSERT_TRUE((*data)->forget("a"));
  EXPECT_FALSE((*data)->config("a", "k")->has_value());
}

}  // namespace
}  // namespace hutch::store
