// A policy while it is changed: what every kind of key shows and takes, and that it never becomes wrong.
#include "tui/draft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/defaults.h"

namespace hutch::tui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const policy::Key& key(std::string_view name) { return *policy::find_key(name); }
std::string shown(const Draft& draft, std::string_view name) { return value_text(draft.text(), key(name)); }
std::string why(const Status& status) { return status ? "done" : status.error().message; }

std::vector<std::string> values(const Draft& draft, std::string_view name) {
  std::vector<std::string> values;
  for (const Item& item : items_of(draft.text(), key(name))) values.push_back(item.value);
  return values;
}

TEST(Draft, AFlag) {
  Draft draft("{}");
  EXPECT_EQ(shown(draft, "enabled"), "");
  ASSERT_TRUE(draft.turn(key("enabled")));
  EXPECT_EQ(shown(draft, "enabled"), "false") << "what is not set is on";
  ASSERT_TRUE(draft.turn(key("enabled")));
  EXPECT_EQ(shown(draft, "enabled"), "true");
  ASSERT_TRUE(draft.turn(key("filesystem.allowGitConfig")));
  EXPECT_EQ(shown(draft, "filesystem.allowGitConfig"), "true") << "what is not set is off";
  EXPECT_THAT(draft.edits(), SizeIs(3));
}

TEST(Draft, TheMachinesOwnNetworkIsShownAndLeftByTheNextTurn) {
  Draft draft(R"({"network": "host"})");
  EXPECT_EQ(shown(draft, "network"), "host");
  EXPECT_FALSE(draft.add(key("network.allowedDomains"), "b.example"));
  ASSERT_TRUE(draft.turn(key("network")));
  EXPECT_EQ(shown(draft, "network"), "none");
}

TEST(Draft, TheFormsOfNetwork) {
  Draft draft(R"({"network": {"allowedDomains": ["a.example"]}})");
  EXPECT_EQ(shown(draft, "network"), "rules");
  ASSERT_TRUE(draft.turn(key("network")));
  EXPECT_EQ(shown(draft, "network"), "none");
  EXPECT_EQ(shown(draft, "network.allowedDomains"), "");
  EXPECT_THAT(why(draft.add(key("network.allowedDomains"), "b.example")), HasSubstr("network is \"none\" here"));
  ASSERT_TRUE(draft.turn(key("network")));
  EXPECT_EQ(shown(draft, "network"), "outbound");
  ASSERT_TRUE(draft.turn(key("network")));
  EXPECT_EQ(shown(draft, "network.allowedDomains"), "1: a.example") << "the rules are there again";
  EXPECT_FALSE(draft.is_changed()) << "and nothing has to be done";
}

TEST(Draft, ANetworkThatIsAListOrAWord) {
  Draft list(R"({"network": ["a.example", "b.example"]})");
  EXPECT_EQ(shown(list, "network.allowedDomains"), "2: a.example, b.example");
  ASSERT_TRUE(list.remove(key("network.allowedDomains"), "a.example"));
  EXPECT_EQ(shown(list, "network.allowedDomains"), "1: b.example");
  for (int turns = 0; turns < 3; ++turns) ASSERT_TRUE(list.turn(key("network")));
  EXPECT_EQ(shown(list, "network.allowedDomains"), "1: b.example");
  Draft word(R"({"network": "outbound"})");
  ASSERT_TRUE(word.turn(key("network")));
  EXPECT_EQ(shown(word, "network"), "rules") << "there were none to go back to";
  EXPECT_EQ(word.text(), "{}\n");
}

TEST(Draft, Questions) {
  Draft draft(R"({"ask": {"connect": "deny"}})");
  EXPECT_EQ(shown(draft, "ask"), "questions");
  ASSERT_TRUE(draft.turn(key("ask")));
  EXPECT_EQ(shown(draft, "ask"), "false: no questions");
  ASSERT_TRUE(draft.turn(key("ask")));
  EXPECT_EQ(shown(draft, "ask.connect"), "deny");
}

TEST(Draft, ALineOfText) {
  Draft draft("{}");
  ASSERT_TRUE(draft.set(key("limits.memory"), "2G"));
  EXPECT_EQ(shown(draft, "limits.memory"), "2G");
  EXPECT_EQ(scalar_text(draft.text(), key("limits.memory")), "2G");
  ASSERT_TRUE(draft.set(key("limits.pids"), "64"));
  EXPECT_EQ(scalar_text(draft.text(), key("limits.pids")), "64");
  EXPECT_EQ(scalar_text(draft.text(), key("limits.cpus")), "");
  ASSERT_TRUE(draft.unset(key("limits.memory")));
  EXPECT_EQ(shown(draft, "limits.memory"), "");
}

TEST(Draft, WhatIsWrongIsNotTaken) {
  Draft draft("{}");
  EXPECT_THAT(why(draft.set(key("limits.pids"), "0")), testing::StartsWith("limits.pids: "));
  EXPECT_THAT(why(draft.set(key("limits.pids"), "many")), HasSubstr("a whole number"));
  EXPECT_THAT(why(draft.add(key("network.allowedDomains"), "*.com")), testing::StartsWith("network.allowedDomains"));
  EXPECT_THAT(why(draft.turn(key("enableWeakerNestedSandbox"))), HasSubstr("enableWeakerNestedSandbox"));
  EXPECT_THAT(why(draft.set(key("backend"), "\xff")), HasSubstr("UTF-8"));
  EXPECT_EQ(draft.text(), "{}");
  EXPECT_THAT(draft.edits(), IsEmpty());
}

TEST(Draft, AList) {
  Draft draft("{}");
  EXPECT_EQ(shown(draft, "filesystem.denyRead"), "");
  ASSERT_TRUE(draft.add(key("filesystem.denyRead"), "/a"));
  ASSERT_TRUE(draft.add(key("filesystem.denyRead"), R"({"path": "/b*", "literal": true})"));
  ASSERT_TRUE(draft.add(key("filesystem.denyRead"), "/a"));
  EXPECT_THAT(draft.edits(), SizeIs(2)) << "what is there already is no change";
  EXPECT_EQ(shown(draft, "filesystem.denyRead"), R"(2: /a, {"path":"/b*","literal":true})");
  for (const std::string& item : values(draft, "filesystem.denyRead")) {
    ASSERT_TRUE(draft.remove(key("filesystem.denyRead"), item));
  }
  EXPECT_EQ(shown(draft, "filesystem.denyRead"), "empty");
  EXPECT_FALSE(draft.remove(key("filesystem.denyRead"), "/a"));
}

TEST(Draft, EachKindOfItemCanBeRemoved) {
  const struct {
    const char* name;
    const char* json;
  } kLists[] = {
      {"filesystem.denyRead", R"({"filesystem": {"denyRead": ["{a,b}", {"path": "/x"}, "/y"]}})"},
      {"network.hostPorts", R"({"network": {"hostPorts": [8080, 9090]}})"},
      {"network.rules", R"({"network": {"rules": [{"host": "a.example", "methods": ["GET"]}]}})"},
      {"network.allowedUdp", R"({"network": {"allowedUdp": ["a.example:123"]}})"},
      {"network.parentProxy.noProxy", R"({"network": {"parentProxy": {"noProxy": "a.example b.example"}}})"},
  };
  for (const auto& list : kLists) {
    Draft draft(list.json);
    const std::vector<std::string> all = values(draft, list.name);
    ASSERT_FALSE(all.empty()) << list.name;
    for (const std::string& item : all) {
      EXPECT_EQ(why(draft.remove(key(list.name), item)), "done") << list.name << " " << item;
    }
    EXPECT_THAT(values(draft, list.name), IsEmpty()) << list.name;
  }
}

TEST(Draft, Names) {
  Draft draft("{}");
  ASSERT_TRUE(draft.add(key("environment"), "CI=1"));
  ASSERT_TRUE(draft.add(key("environment"), "EDITOR"));
  ASSERT_TRUE(draft.add(key("environment"), "A=b=c"));
  EXPECT_EQ(shown(draft, "environment"), "3: CI=1, EDITOR, A=b=c");
  ASSERT_TRUE(draft.add(key("environment"), "CI=2"));
  EXPECT_EQ(shown(draft, "environment"), "3: CI=2, EDITOR, A=b=c");
  ASSERT_TRUE(draft.remove(key("environment"), "CI"));
  EXPECT_THAT(values(draft, "environment"), ElementsAre("EDITOR", "A"));
  EXPECT_EQ(why(draft.add(key("environment"), "=x")), "a name is missing: NAME=VALUE");
  EXPECT_EQ(why(draft.add(key("network.deniedDomainReasons"), "a.example")), "a value is missing: NAME=VALUE");
}

TEST(Draft, TheEditsMakeTheTextAgain) {
  const std::string start(policy::default_policy_text());
  Draft draft(start);
  ASSERT_TRUE(draft.turn(key("enabled")));
  ASSERT_TRUE(draft.add(key("network.allowedDomains"), "a.example"));
  ASSERT_TRUE(draft.set(key("limits.timeout"), "30s"));
  std::string text = start;
  for (const policy::Edit& edit : draft.edits()) text = *policy::edited(text, edit);
  EXPECT_EQ(text, draft.text());
  EXPECT_TRUE(policy::check_policy_text(text, "p"));
}

TEST(Fields, EveryKeyHasItsEditor) {
  EXPECT_THAT(fields(FieldSet::kBasic), SizeIs(8));
  const std::vector<const policy::Key*> all = fields(FieldSet::kAll);
  std::size_t count = 0;
  for (const policy::Key& one : policy::all_keys()) count += one.type == policy::KeyType::kObject ? 0 : 1;
  EXPECT_THAT(all, SizeIs(count)) << "all but those that only hold others";
  for (const char* const name : {"enableWeakerNestedSandbox", "allowPty", "mandatoryDenySearchDepth"}) {
    EXPECT_THAT(all, testing::Contains(&key(name)));
    EXPECT_THAT(fields(FieldSet::kBasic), testing::Not(testing::Contains(&key(name)))) << "advanced";
  }
}

}  // namespace
}  // namespace hutch::tui
