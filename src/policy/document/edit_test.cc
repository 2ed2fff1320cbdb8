// Changes of single keys, and where an error is said to be.
#include "policy/document/edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/defaults.h"
#include "policy/document/reader.h"
#include "policy/json_line.h"

namespace hutch::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string after(std::string_view policy, const Edit& edit) {
  const auto text = edited(policy, edit);
  return text ? value_at(*text, edit.key)->value_or("gone") : text.error().message;
}

TEST(Edit, SetsTextAndJson) {
  EXPECT_EQ(after("{}", {EditKind::kSet, "limits.memory", "2G"}), "\"2G\"");
  EXPECT_EQ(after("{}", {EditKind::kSet, "limits.pids", "64"}), "64");
  EXPECT_EQ(after("{}", {EditKind::kSet, "enabled", "false"}), "false");
  EXPECT_EQ(after("{}", {EditKind::kSet, "network", "outbound"}), "\"outbound\"");
  EXPECT_EQ(after("{}", {EditKind::kSet, "network", R"({"allowedDomains": []})"}), R"({"allowedDomains":[]})");
  EXPECT_EQ(after("{}", {EditKind::kSet, "filesystem.allowRead", R"(["a", "b"])"}), R"(["a","b"])");
  EXPECT_EQ(after("{}", {EditKind::kSet, "environment.CI", "true"}), "true");
  EXPECT_EQ(after("{}", {EditKind::kSet, "network.deniedDomainReasons.paste.example", "no"}), "\"no\"");
  EXPECT_THAT(after("{}", {EditKind::kSet, "limits.pids", "many"}), HasSubstr("a whole number as JSON, not \"many\""));
  EXPECT_THAT(after("{}", {EditKind::kSet, "limits.pids", std::nullopt}), HasSubstr("a value is missing"));
  EXPECT_THAT(after("{}", {EditKind::kSet, "filesystem.denyRaed", "x"}), HasSubstr("did you mean denyRead?"));
  EXPECT_THAT(after("{}", {EditKind::kSet, "backend", "\xff"}), HasSubstr("is not UTF-8"));
  EXPECT_THAT(after("[]", {EditKind::kSet, "enabled", "true"}), HasSubstr("must be an object"));
}

TEST(Edit, AddsAndRemovesItems) {
  const Edit add{EditKind::kAdd, "network.allowedDomains", "b.example"};
  EXPECT_EQ(after("{}", add), R"(["b.example"])");
  EXPECT_EQ(after(R"({"network": {"allowedDomains": ["a.example"]}})", add), R"(["a.example","b.example"])");
  EXPECT_EQ(after(R"({"network": {"allowedDomains": ["b.example"]}})", add), R"(["b.example"])") << "once";
  EXPECT_EQ(*edited(R"({"network": ["a.example"]})", add),
            "{\n  \"network\": [\n    \"a.example\",\n    \"b.example\"\n  ]\n}\n")
      << "the short form stays";
  const Edit remove{EditKind::kRemove, "network.allowedDomains", "a.example"};
  EXPECT_EQ(*edited(R"({"network": ["a.example", "c.example"]})", remove),
            "{\n  \"network\": [\n    \"c.example\"\n  ]\n}\n");
  EXPECT_EQ(after(R"({"network": ["a.example"]})", {EditKind::kRemove, "network.allowedDomains", std::nullopt}), "[]");
  EXPECT_EQ(*value_at(R"({"network": ["a.example"]})", "network.allowedDomains"), R"(["a.example"])");
  EXPECT_THAT(after(R"({"network": "none"})", add), HasSubstr("network is \"none\" here; set it to an object"));
  EXPECT_EQ(after("{}", {EditKind::kAdd, "network.hostPorts", "5432"}), "[5432]");
  EXPECT_EQ(after("{}", {EditKind::kAdd, "filesystem.allowRead", R"({"path": "a*", "literal": true})"}),
            R"([{"path":"a*","literal":true}])");
  EXPECT_THAT(after("{}", {EditKind::kAdd, "limits.memory", "2G"}), HasSubstr("not a list; use set"));
  const std::string_view two = R"({"filesystem": {"allowRead": ["a", {"path": "b"}, {"path": "a", "literal": true}]}})";
  EXPECT_EQ(after(two, {EditKind::kRemove, "filesystem.allowRead", "a"}),
            R"([{"path":"b"},{"path":"a","literal":true}])");
  EXPECT_EQ(after(two, {EditKind::kRemove, "filesystem.allowRead", "b"}), R"(["a",{"path":"a","literal":true}])");
  EXPECT_EQ(after(two, {EditKind::kRemove, "filesystem.allowRead", "c"}), "filesystem.allowRead: \"c\" is not there");
  EXPECT_EQ(after(two, {EditKind::kRemove, "filesystem.allowRead", std::nullopt}), "gone");
  EXPECT_THAT(after(two, {EditKind::kRemove, "limits.memory", std::nullopt}), HasSubstr("is not there"));
}

TEST(Edit, LeavesTheRestInItsOrder) {
  EXPECT_EQ(*edited(R"({"network": "none", "enabled": true})", {EditKind::kSet, "enabled", "false"}),
            "{\n  \"network\": \"none\",\n  \"enabled\": false\n}\n");
}

TEST(Projects, TheLongestPathCovers) {
  const std::vector<std::string> paths = {"/", "/a", "/a/b/", "/ab"};
  EXPECT_EQ(covering_path(paths, "/a/b/c"), "/a/b/");
  EXPECT_EQ(covering_path(paths, "/a/b"), "/a/b/");
  EXPECT_EQ(covering_path(paths, "/a/bc"), "/a");
  EXPECT_EQ(covering_path({"/x"}, "/y"), std::nullopt);
}

TEST(Projects, EntriesAreRead) {
  const std::string text = *with_project(R"({"/a": {"enabled": true}})", "/b", R"({"enabled": false})");
  EXPECT_THAT(*project_paths(text), ElementsAre("/a", "/b"));
  EXPECT_EQ(*value_at(*project_entry(text, "/b"), "enabled"), "false");
  EXPECT_FALSE(project_entry(text, "/c").has_value());
}

std::string policy_error(std::string_view text) {
  const Status checked = check_policy_text(text, "p");
  return checked ? "" : checked.error().message;
}

TEST(Check, NamesTheLine) {
  EXPECT_EQ(policy_error("{}"), "");
  EXPECT_EQ(policy_error("{\n\"enabled\": }"), "p: line 2, column 12: not JSON");
  EXPECT_EQ(policy_error("{\n \"filesystem\": {\n  \"denyRaed\": []}}"),
            "p: line 3: filesystem.denyRaed: unknown key; did you mean denyRead?");
  EXPECT_THAT(policy_error("{\n \"filesystem\": {\n  \"allowRead\": [\"}\\\"\",\n 7]}}"),
              HasSubstr("p: line 4: filesystem.allowRead[1]: must be"));
  EXPECT_EQ(policy_error(std::string(default_policy_text())), "");
  const Status projects = check_projects_text("{\n\"/a\": {},\n\"/b.c\": {\n\"enabled\": 1}}", "projects.json");
  EXPECT_EQ(projects.error().message, "projects.json: line 4: \"/b.c\": enabled: must be true or false, not number");
  EXPECT_THAT(check_projects_text(R"({"a": {}})", "x").error().message, HasSubstr("named by its absolute path"));
  EXPECT_THAT(check_projects_text(R"({"/a": {}, "/a/": {}})", "x").error().message, HasSubstr("is there twice"));
}

TEST(Check, TheTextOfTheDefaultIsTheDefault) {
  const auto read = read_policy(default_policy_text(), "built-in default");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  const Policy built_in = default_policy();
  EXPECT_EQ(read->filesystem.deny_read, built_in.filesystem.deny_read);
  EXPECT_EQ(read->filesystem.allow_read, built_in.filesystem.allow_read);
  EXPECT_EQ(read->filesystem.allow_write, built_in.filesystem.allow_write);
  EXPECT_EQ(read->network.mode, built_in.network.mode);
  EXPECT_TRUE(read->network.allowed_domains.empty());
}

TEST(JsonLine, FindsAsMuchOfThePathAsThereIs) {
  constexpr std::string_view kText = "{\n\"a\": [1,\n {\"b\": \"x]\\\"\"},\n [2,\n3]],\n\"c\": null}";
  const auto line = [&](std::vector<std::string> path) { return line_of(kText, path); };
  EXPECT_EQ(line({}), 1U);
  EXPECT_EQ(line({"a"}), 2U);
  EXPECT_EQ(line({"a", "1", "b"}), 3U);
  EXPECT_EQ(line({"a", "2", "1"}), 5U);
  EXPECT_EQ(line({"c", "d"}), 6U);
  EXPECT_EQ(line({"none"}), 1U);
}

constexpr std::string_view kFirst =
    R"({"filesystem": {"allowRead": [".", "~/.pi"], "denyWrite": [".pi"]},
        "network": {"allowedDomains": ["own.example"]}})";

std::string answered(const std::string& key, const std::string& value,
                     std::string_view policy = default_policy_text()) {
  return edited(policy, {EditKind::kAdd, key, value}).value_or("");
}

TEST(Added, IsWhatAnswersHaveAdded) {
  EXPECT_EQ(added_to(default_policy_text(), default_policy_text()), "{}");
  EXPECT_EQ(added_to(default_policy_text(), answered("filesystem.allowRead", "/a")),
            R"({"filesystem":{"allowRead":["/a"]}})");
  EXPECT_EQ(added_to(default_policy_text(), answered("network.allowUnixSockets", "/run/x")),
            R"({"network":{"allowUnixSockets":["/run/x"]}})");
}

TEST(Added, IsNothingInAPolicyOfSomebodysOwn) {
  const auto is_own = [](const std::string& text) { return !added_to(default_policy_text(), text); };
  EXPECT_TRUE(is_own("{}"));
  EXPECT_TRUE(is_own("[]"));
  EXPECT_TRUE(is_own("broken"));
  EXPECT_TRUE(is_own(*edited(default_policy_text(), {EditKind::kSet, "enabled", "false"})));
  EXPECT_TRUE(is_own(*edited(default_policy_text(), {EditKind::kSet, "backend", "bwrap"})));
  EXPECT_TRUE(is_own(*edited(default_policy_text(), {EditKind::kSet, "network", "none"})));
  EXPECT_TRUE(is_own(*edited(default_policy_text(), {EditKind::kRemove, "filesystem.denyRead", "~"})));
}

TEST(Added, GoesToTheFirstPolicyToo) {
  const std::string once = answered("filesystem.allowWrite", "/a");
  const std::string both = *default_with_first(kFirst, answered("network.allowedDomains", "b.example", once));
  EXPECT_EQ(value_at(both, "filesystem.allowRead")->value(), R"([".","~/.pi"])");
  EXPECT_EQ(value_at(both, "filesystem.allowWrite")->value(), R"(["/a"])");
  EXPECT_EQ(value_at(both, "filesystem.denyWrite")->value(), R"([".pi"])");
  EXPECT_EQ(value_at(both, "network.allowedDomains")->value(), R"(["own.example","b.example"])");
}

TEST(Added, LeavesAPersonsOwnDefaultAsItIs) {
  const std::string own = R"({"filesystem": {"denyRead": ["~"]}})";
  EXPECT_EQ(*default_with_first(kFirst, own), own);
  const std::string stricter = answered("filesystem.denyRead", "/srv/own");
  EXPECT_EQ(*default_with_first(kFirst, stricter), stricter);
}

TEST(Added, IsAnErrorWhereTheFirstHasNoSuchList) {
  const auto done = default_with_first(R"({"network": "none"})", answered("network.allowedDomains", "b.example"));
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("network is no list"));
}

}  // namespace
}  // namespace hutch::policy
