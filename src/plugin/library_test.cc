// The library and the records of installations: versions, undoing, what a killed process leaves.
#include "plugin/library.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/directory_testing.h"
#include "base/text.h"
#include "plugin/installs.h"

namespace hutch::plugin {
namespace {

Recipe recipe_of(std::string_view description) {
  return *parse_recipe(cat({R"({"name": "My Tool", "description": ")", description, R"(", "kept": [1]})"}));
}

TEST(LibraryTest, VersionsAreAddedOnceForEachContent) {
  const TestDirectory directory("library");
  Library library(directory.path() + "/plugins");
  EXPECT_TRUE(library.list()->empty());
  EXPECT_EQ(library.add(recipe_of("one"), {"a", "t", false})->version, 1);
  EXPECT_EQ(library.add(recipe_of("one"), {"b", "t", false})->version, 1);
  const auto added = library.add(recipe_of("two"), {"c", "t", true});
  EXPECT_EQ(added->version, 2);
  EXPECT_EQ(added->before, 1);
  const auto entry = library.find("my-tool");
  ASSERT_TRUE(entry && *entry);
  EXPECT_EQ((*entry)->current, 2);
  EXPECT_EQ((*entry)->versions, (std::vector<int>{1, 2}));
  EXPECT_EQ((*entry)->origin.from, "c");
  EXPECT_TRUE((*entry)->origin.is_new);
  EXPECT_EQ((*entry)->recipe.description, "two");
  EXPECT_NE((*entry)->recipe.json.find("kept"), std::string::npos);
  ASSERT_TRUE(library.mark_seen());
  EXPECT_FALSE((*library.find("my-tool"))->origin.is_new);
}

TEST(LibraryTest, RollbackAndUndo) {
  const TestDirectory directory("library");
  Library library(directory.path() + "/plugins");
  ASSERT_TRUE(library.add(recipe_of("one"), {}));
  const auto added = library.add(recipe_of("two"), {});
  ASSERT_TRUE(library.take_back("my-tool", *added));
  EXPECT_EQ((*library.find("my-tool"))->recipe.description, "one");
  EXPECT_EQ((*library.find("my-tool"))->versions, std::vector<int>{1});
  ASSERT_TRUE(library.add(recipe_of("three"), {}));
  ASSERT_TRUE(library.roll_back("my-tool", 1));
  EXPECT_EQ((*library.find("my-tool"))->recipe.description, "one");
  EXPECT_FALSE(library.roll_back("my-tool", 7));
  ASSERT_TRUE(library.remove("my-tool"));
  EXPECT_FALSE(*library.find("my-tool"));
  const auto first = library.add(recipe_of("one"), {});
  ASSERT_TRUE(library.take_back("my-tool", *first));
  EXPECT_FALSE(std::filesystem::exists(directory.path() + "/plugins/my-tool"));
}

TEST(LibraryTest, OldVersionsGo) {
  const TestDirectory directory("library");
  Library library(directory.path() + "/plugins");
  for (int i = 0; i < 25; ++i) ASSERT_TRUE(library.add(recipe_of(std::to_string(i)), {}));
  const auto entry = library.find("my-tool");
  EXPECT_EQ((*entry)->versions.size(), kVersionsMax);
  EXPECT_EQ((*entry)->current, 25);
}

TEST(LibraryTest, WhatWasHalfWrittenIsNoPlugin) {
  const TestDirectory directory("library");
  Library library(directory.path() + "/plugins");
  ASSERT_TRUE(library.add(recipe_of("one"), {}));
  std::filesystem::create_directories(directory.path() + "/plugins/half");
  std::ofstream(directory.path() + "/plugins/half/1.json") << "{";
  EXPECT_EQ(library.list()->size(), 1U);
  ASSERT_TRUE(library.repair());
  EXPECT_FALSE(std::filesystem::exists(directory.path() + "/plugins/half"));
  EXPECT_EQ(library.list()->size(), 1U);
}

TEST(LibraryTest, OneThatIsDamagedHidesNoOther) {
  const TestDirectory directory("library");
  Library library(directory.path() + "/plugins");
  ASSERT_TRUE(library.add(recipe_of("one"), {.from = "x", .time = {}, .is_new = true}));
  for (const char* id : {"head", "version"}) std::filesystem::create_directories(directory.path() + "/plugins/" + id);
  std::ofstream(directory.path() + "/plugins/head/entry.json") << "{\"curr";
  std::ofstream(directory.path() + "/plugins/version/entry.json") << R"({"current": 1})";
  std::ofstream(directory.path() + "/plugins/version/1.json") << R"({"name": "Ver)";
  ASSERT_TRUE(library.list());
  EXPECT_EQ(library.list()->size(), 1U);
  ASSERT_EQ(library.damaged()->size(), 2U);
  EXPECT_EQ(library.damaged()->front().id, "head");
  EXPECT_TRUE(library.mark_seen());
  EXPECT_TRUE(*library.remove("head"));
  EXPECT_EQ(library.damaged()->size(), 1U);
}

TEST(LibraryTest, TheVersionBeforeStaysWhenOldOnesGo) {
  const TestDirectory directory("library");
  Library library(directory.path() + "/plugins");
  for (std::size_t i = 0; i < kVersionsMax; ++i) ASSERT_TRUE(library.add(recipe_of(std::to_string(i)), {}));
  ASSERT_TRUE(library.roll_back("my-tool", 1));
  ASSERT_TRUE(library.keep_rollback("my-tool"));
  const auto added = library.add(recipe_of("new"), {});
  ASSERT_TRUE(added);
  ASSERT_TRUE(library.take_back("my-tool", *added));
  const auto entry = library.find("my-tool");
  ASSERT_TRUE(entry && *entry) << (entry ? "" : entry.error().message);
  EXPECT_EQ((*entry)->recipe.description, "0");
}

TEST(LibraryTest, ARollbackIsOverWhenItIsKeptOrUndone) {
  const TestDirectory directory("library");
  Library library(directory.path() + "/plugins");
  ASSERT_TRUE(library.add(recipe_of("one"), {"a", "t", false}));
  ASSERT_TRUE(library.add(recipe_of("two"), {"b", "t", false}));
  ASSERT_TRUE(library.roll_back("my-tool", 1));
  EXPECT_EQ(*Library(directory.path() + "/plugins").rollbacks(), std::vector<std::string>{"my-tool"});
  ASSERT_TRUE(library.undo_rollback("my-tool"));
  EXPECT_EQ((*library.find("my-tool"))->current, 2);
  EXPECT_EQ((*library.find("my-tool"))->origin.from, "b");
  EXPECT_TRUE(library.rollbacks()->empty());
  ASSERT_TRUE(library.roll_back("my-tool", 1));
  ASSERT_TRUE(library.keep_rollback("my-tool"));
  ASSERT_TRUE(library.undo_rollback("my-tool"));
  EXPECT_EQ((*library.find("my-tool"))->current, 1);
}

TEST(LibraryTest, IdsThatLeadElsewhereAreRefused) {
  const TestDirectory directory("library");
  Library library(directory.path() + "/plugins");
  for (const char* id : {"..", "../x", "a/b", ""}) {
    EXPECT_FALSE(library.find(id)) << id;
    EXPECT_FALSE(library.remove(id)) << id;
  }
}

TEST(InstallsTest, RecordsComeBackAsTheyWere) {
  const TestDirectory directory("installs");
  Install install{.agent = "alice", .recipe = recipe_of("one"), .state = State::kUpdating, .steps = 4};
  install.log = {{"validate", "fine"}, {"packages", "none"}};
  install.previous = recipe_of("zero");
  install.library_before = 0;
  install.library_added = 1;
  install.is_in_place = true;
  {
    Installs installs(directory.path() + "/agents");
    ASSERT_TRUE(installs.write(install));
  }
  Installs installs(directory.path() + "/agents");
  EXPECT_EQ(*installs.agents(), std::vector<std::string>{"alice"});
  const auto found = installs.find("alice", "my-tool");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->state, State::kUpdating);
  EXPECT_EQ((*found)->steps, 4U);
  EXPECT_EQ((*found)->log.at(1).log, "none");
  EXPECT_EQ((*found)->previous->description, "zero");
  EXPECT_EQ((*found)->library_before, 0);
  EXPECT_EQ((*found)->library_added, 1);
  EXPECT_TRUE((*found)->is_in_place);
  ASSERT_TRUE(installs.erase(**found));
  EXPECT_TRUE(installs.of("alice")->empty());
  EXPECT_FALSE(*installs.find("bob", "my-tool"));
  ASSERT_TRUE(installs.forget("alice"));
  EXPECT_TRUE(installs.agents()->empty());
}

TEST(InstallsTest, WhatIsRemovedIsWrittenByNothingElse) {
  const TestDirectory directory("installs");
  Installs installs(directory.path() + "/agents");
  Install install{.agent = "alice", .recipe = recipe_of("one"), .state = State::kRemoving};
  ASSERT_TRUE(installs.write(install));
  install.state = State::kReady;
  EXPECT_EQ(installs.write(install).error().code, Code::kConflict);
  ASSERT_TRUE(installs.erase(install));
  EXPECT_TRUE(installs.write(install));
}

TEST(InstallsTest, WhatBeganBeforeTheAgentWasForgottenIsNobodys) {
  const TestDirectory directory("installs");
  Installs installs(directory.path() + "/agents");
  Install install{.agent = "alice", .recipe = recipe_of("one")};
  install.era = installs.era("alice");
  ASSERT_TRUE(installs.write(install));
  ASSERT_TRUE(installs.forget("alice"));
  EXPECT_FALSE(installs.write(install));
  EXPECT_FALSE(installs.erase(install));
  EXPECT_FALSE(std::filesystem::exists(directory.path() + "/agents/alice"));
}

TEST(InstallsTest, ADamagedRecordHidesNoOther) {
  const TestDirectory directory("installs");
  const std::string place = directory.path() + "/agents/alice/plugins";
  std::filesystem::create_directories(place);
  std::ofstream(place + "/half.json") << R"({"agent": "alice", "sta)";
  Installs installs(directory.path() + "/agents");
  ASSERT_TRUE(installs.write({.agent = "alice", .recipe = recipe_of("one"), .state = State::kReady}));
  EXPECT_EQ(installs.of("alice")->size(), 1U);
  ASSERT_EQ(installs.damaged("alice").size(), 1U);
  EXPECT_EQ(installs.damaged("alice").front().id, "half");
}

}  // namespace
}  // namespace hutch::plugin
