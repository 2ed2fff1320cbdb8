// Agents' records: names, settings, and what the database keeps.
#include "store/agents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/directory_testing.h"

namespace hutch::store {
namespace {

using ::testing::HasSubstr;

class AgentsTest : public ::testing::Test {
 protected:
  std::unique_ptr<Agents> open() { return std::move(Agents::open(directory_ + "/data")).value(); }
  static AgentRecord named(const std::string& name) {
    AgentRecord record;
    record.name = name;
    return record;
  }

  const TestDirectory made_{"agents"};
  const std::string directory_ = made_.path();
  std::unique_ptr<Agents> agents_ = open();
};

TEST_F(AgentsTest, ADaemonThatDidNotEndIsRemembered) {
  using Before = Agents::Before;
  EXPECT_EQ(*agents_->begin_serving(), Before::kEnded);
  EXPECT_EQ(*open()->begin_serving(), Before::kKilled);
  EXPECT_TRUE(agents_->end_serving());
  EXPECT_EQ(*open()->begin_serving(), Before::kEnded);
}

TEST(AgentName, IsPlain) {
  for (const char* good : {"a", "alice", "a-1", "a234567890-234567890-2345"}) {
    EXPECT_EQ(check_agent_name(good).has_value(), std::string_view(good).size() <= kAgentNameBytesMax) << good;
  }
  for (const char* bad : {"", "-a", "1a", "Alice", "a b", "a/b", "..", "a.b", "a_b", "\xc3\xa4", "a\n"}) {
    EXPECT_FALSE(check_agent_name(bad)) << bad;
  }
}

TEST_F(AgentsTest, ACreatedOneIsFoundAfterOpeningAgain) {
  const auto created = agents_->create(named("alice"));
  ASSERT_TRUE(created) << created.error().message;
  EXPECT_EQ(created->id.size(), 36u);
  agents_.reset();
  agents_ = open();
  const auto found = agents_->find("alice");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, *created);
}

TEST_F(AgentsTest, TwoNamesThatLookAlikeAreAConflict) {
  ASSERT_TRUE(agents_->create(named("ab-c")));
  for (const char* other : {"ab-c", "a-bc", "abc"}) {
    const auto second = agents_->create(named(other));
    ASSERT_FALSE(second) << other;
    EXPECT_EQ(second.error().code, Code::kConflict);
  }
  EXPECT_TRUE(agents_->create(named("abd")));
}

TEST_F(AgentsTest, RemovingTellsWhetherItWasThere) {
  ASSERT_TRUE(agents_->create(named("alice")));
  EXPECT_EQ(agents_->remove("alice").value(), true);
  EXPECT_EQ(agents_->remove("alice").value(), false);
  EXPECT_EQ(agents_->find("alice").error().code, Code::kNotFound);
}

TEST(AgentSetting, SetsWhatTheRecordKnows) {
  AgentRecord record;
  record.name = "alice";
  for (const char* setting :
       {"autonomousExec.enabled=true", "autonomousExec.commandTimeout=45", "limits.memory=512M", "dispatchTo=[\"bob\"]",
        "codeAgent.command=claude", "codeAgent.env={\"K\":\"V\"}", "dir=/srv/x", "policy="}) {
    auto changed = with_setting(record, setting);
    ASSERT_TRUE(changed) << setting << ": " << changed.error().message;
    record = *changed;
  }
  EXPECT_TRUE(record.autonomous_exec.enabled);
  EXPECT_EQ(record.autonomous_exec.command_timeout, 45);
  EXPECT_EQ(record.limits.memory, "512M");
  EXPECT_EQ(record.dispatch_to, std::vector<std::string>{"bob"});
  EXPECT_EQ(record.code_agent.environment.at(0).second, "V");
  record = with_setting(record, "codeAgent.env.K=W").value();
  record = with_setting(record, "codeAgent.env.X.Y=Z").value();
  EXPECT_EQ(record.code_agent.environment.at(0).second, "W");
  EXPECT_EQ(record.code_agent.environment.at(1).first, "X.Y");
  record = with_setting(record, R"(codeAgent.env={"K":"V"})").value();
  EXPECT_EQ(record.code_agent.environment.size(), 1U);
  EXPECT_EQ(parse_agent(format_agent(record)).value(), record);
}

TEST(AgentSetting, RefusesTheRestWithAReason) {
  AgentRecord record;
  record.name = "alice";
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"name=bob", "cannot be set"},
      {"autonomousExec.enable=true", "did you mean autonomousExec.enabled"},
      {"autonomousExec.enabled=yes", "true or false"},
      {"autonomousExec.commandTimeout=0", "from 1 to"},
      {"autonomousExec=true", "has no"},
      {"limits.memory=lots", "limits.memory"},
      {"dir=relative", "absolute"},
      {"dispatchTo=bob", "list of texts"},
      {"nonsense", "KEY=VALUE"},
  };
  for (const auto& [setting, expected] : cases) {
    const auto changed = with_setting(record, setting);
    ASSERT_FALSE(changed) << setting;
    EXPECT_THAT(changed.error().message, HasSubstr(expected)) << setting;
  }
}

TEST(AgentRecord, RefusesWhatItDoesNotKnow) {
  EXPECT_FALSE(parse_agent("{"));
  EXPECT_FALSE(parse_agent("[]"));
  EXPECT_FALSE(parse_agent(R"({"name":"a","extra":1})"));
  EXPECT_FALSE(parse_agent(R"({"name":"a","autonomousExec":{"enabled":1}})"));
  EXPECT_TRUE(parse_agent(R"({"name":"a"})"));
}

}  // namespace
}  // namespace hutch::store
