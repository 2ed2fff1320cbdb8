// Sessions: what they are called, what is kept for them, and when it is forgotten.
#include "service/live/sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hutch::service {
namespace {

using policy::Switch;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SessionId, TheVariableThenTheTerminal) {
  const TerminalSession terminal{17, 4711};
  EXPECT_EQ(session_id("work", terminal), "name:work");
  EXPECT_EQ(session_id("", terminal), "terminal:17:4711");
  EXPECT_EQ(session_id(std::nullopt, terminal), "terminal:17:4711");
  EXPECT_EQ(session_id(std::nullopt, std::nullopt), std::nullopt);
  EXPECT_EQ(terminal_of("terminal:17:4711"), terminal);
  for (const char* other : {"name:work", "name:terminal:1:2", "terminal:", "terminal:17", "terminal:17:", "terminal::1",
                            "terminal:17:x", "terminal:1x:2"}) {
    EXPECT_EQ(terminal_of(other), std::nullopt) << other;
  }
}

class SessionsTest : public testing::Test {
 protected:
  bool alive_ = true;
  Sessions::Moment now_{std::chrono::hours(1)};
  Sessions sessions_{[this](const TerminalSession&) { return alive_; }};
};

TEST_F(SessionsTest, NothingIsKeptOfWhoAsks) {
  const Sessions::State state = sessions_.state("name:a", now_);
  EXPECT_FALSE(state.enabled);
  EXPECT_THAT(state.grants, IsEmpty());
  EXPECT_TRUE(sessions_.empty(now_));
}

TEST_F(SessionsTest, GrantsAreASessionsOwn) {
  EXPECT_TRUE(sessions_.grant("name:a", "b.example:443", now_));
  EXPECT_TRUE(sessions_.grant("name:a", "a.example:443", now_));
  EXPECT_TRUE(sessions_.grant("name:a", "a.example:443", now_));
  EXPECT_THAT(sessions_.state("name:a", now_).grants, ElementsAre("a.example:443", "b.example:443"));
  EXPECT_THAT(sessions_.state("name:b", now_).grants, IsEmpty());
}

TEST_F(SessionsTest, OffForgetsWhatWasAllowed) {
  EXPECT_TRUE(sessions_.grant("name:a", "a.example:443", now_));
  EXPECT_TRUE(sessions_.set_enabled("name:a", Switch::kDisabled, now_));
  EXPECT_EQ(sessions_.state("name:a", now_).enabled, Switch::kDisabled);
  EXPECT_TRUE(sessions_.set_enabled("name:a", Switch::kEnabled, now_));
  EXPECT_EQ(sessions_.state("name:a", now_).enabled, Switch::kEnabled);
  EXPECT_THAT(sessions_.state("name:a", now_).grants, IsEmpty());
}

TEST_F(SessionsTest, ATerminalsSessionEndsWithItsLeader) {
  EXPECT_TRUE(sessions_.grant("terminal:17:4711", "a.example:443", now_));
  EXPECT_FALSE(sessions_.empty(now_ + std::chrono::hours(100)));
  alive_ = false;
  EXPECT_TRUE(sessions_.empty(now_));
}

TEST_F(SessionsTest, ANamedOneEndsWithoutUse) {
  EXPECT_TRUE(sessions_.grant("name:a", "a.example:443", now_));
  now_ += std::chrono::hours(12);
  EXPECT_THAT(sessions_.state("name:a", now_).grants, ElementsAre("a.example:443"));
  now_ += std::chrono::hours(12);
  EXPECT_FALSE(sessions_.empty(now_));
  EXPECT_TRUE(sessions_.empty(now_ + std::chrono::seconds(1)));
}

TEST_F(SessionsTest, WhatIsRevokedGoesEverywhere) {
  for (const char* session : {"name:a", "name:b"}) {
    EXPECT_TRUE(sessions_.grant(session, "a.example:443", now_));
    EXPECT_TRUE(sessions_.grant(session, "a.example:80", now_));
  }
  EXPECT_EQ(sessions_.revoke("a.example:80"), 2U);
  EXPECT_EQ(sessions_.revoke("a.example"), 2U);
  EXPECT_EQ(sessions_.revoke("a.example"), 0U);
}

TEST_F(SessionsTest, AllIsBounded) {
  EXPECT_THAT(sessions_.grant("", "a:1", now_).error().message, HasSubstr("1 to 256 bytes"));
  EXPECT_FALSE(sessions_.grant(std::string(257, 'x'), "a:1", now_));
  EXPECT_FALSE(sessions_.grant("name:a", "", now_));
  EXPECT_FALSE(sessions_.grant("name:a", std::string(513, 'x'), now_));
  for (int i = 0; i < 1024; ++i) ASSERT_TRUE(sessions_.grant("name:a", std::to_string(i), now_));
  EXPECT_FALSE(sessions_.grant("name:a", "one more", now_));
  for (int i = 1; i < 1024; ++i) ASSERT_TRUE(sessions_.grant("name:" + std::to_string(i), "a:1", now_));
  EXPECT_FALSE(sessions_.grant("name:one more", "a:1", now_));
}

}  // namespace
}  // namespace hutch::service
