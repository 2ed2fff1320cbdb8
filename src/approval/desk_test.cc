// Open questions: one for each subject, bounded, with an end, answered once.
#include "approval/desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hutch::approval {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Standing = Desk::Standing;

const Moment kStart = Moment() + std::chrono::hours(1);

Question connect(std::string target) {
  return {.kind = Kind::kConnect, .target = std::move(target), .rule = "default"};
}

TEST(Desk, TheSameIsAskedOnce) {
  Desk desk({});
  const auto first = desk.ask(connect("a:443"), kStart);
  EXPECT_EQ(first.standing, Standing::kNew);
  Question other = connect("a:443");
  other.process.pid = 7;
  const auto second = desk.ask(other, kStart);
  EXPECT_EQ(second.standing, Standing::kJoined);
  EXPECT_EQ(second.id, first.id);
  Question file = connect("a:443");
  file.kind = Kind::kRead;
  EXPECT_EQ(desk.ask(file, kStart).standing, Standing::kNew) << "another kind is another question";
  EXPECT_EQ(desk.ask(connect("a:80"), kStart).standing, Standing::kNew);
  EXPECT_THAT(desk.open(), ElementsAre(1U, 2U, 3U));
  EXPECT_EQ(desk.find(1)->target, "a:443");
  EXPECT_EQ(desk.find(9), nullptr);
}

TEST(Desk, TheFirstAnswerWinsAndLateOnesAreTold) {
  Desk desk({});
  desk.ask(connect("a:443"), kStart);
  const auto closed = desk.answer(1, Answer::kProject, "the terminal");
  ASSERT_TRUE(closed.has_value());
  EXPECT_EQ(closed->question.target, "a:443");
  EXPECT_EQ(closed->answer, Answer::kProject);
  EXPECT_EQ(desk.answer(1, Answer::kAbort, "x").error().message,
            "question 1 was answered before: project, by the terminal");
  EXPECT_EQ(desk.answer(2, Answer::kOnce, "x").error().message, "no question 2 is open");
  EXPECT_EQ(desk.ask(connect("a:443"), kStart).id, 2U) << "once it is closed it is another question";
}

TEST(Desk, OnlySoManyAreOpen) {
  Desk desk({.open_max = 2});
  desk.ask(connect("a:1"), kStart);
  desk.ask(connect("a:2"), kStart);
  const auto third = desk.ask(connect("a:3"), kStart);
  EXPECT_EQ(third.standing, Standing::kRefused);
  EXPECT_EQ(third.why, "too many questions are open");
  EXPECT_EQ(desk.ask(connect("a:1"), kStart).standing, Standing::kJoined);
  ASSERT_TRUE(desk.answer(1, Answer::kAbort, "x").has_value());
  EXPECT_EQ(desk.ask(connect("a:3"), kStart).standing, Standing::kNew);
}

TEST(Desk, OnlySoManyInATime) {
  Desk desk({.burst = 2, .each_second = 1});
  const auto ask = [&](const char* target, Moment now) {
    const auto asked = desk.ask(connect(target), now);
    if (asked.standing == Standing::kNew) {
      EXPECT_TRUE(desk.answer(asked.id, Answer::kOnce, "x").has_value());
    }
    return asked;
  };
  EXPECT_EQ(ask("a:1", kStart).standing, Standing::kNew);
  EXPECT_EQ(ask("a:2", kStart).standing, Standing::kNew);
  EXPECT_EQ(ask("a:3", kStart).why, "too many questions in a short time");
  EXPECT_EQ(ask("a:3", kStart + milliseconds(500)).standing, Standing::kRefused);
  EXPECT_EQ(ask("a:3", kStart + milliseconds(1100)).standing, Standing::kNew);
  EXPECT_EQ(ask("a:4", kStart + milliseconds(1200)).standing, Standing::kRefused);
  EXPECT_EQ(ask("a:4", kStart + seconds(100)).standing, Standing::kNew);
  EXPECT_EQ(ask("a:5", kStart + seconds(100)).standing, Standing::kNew);
  EXPECT_EQ(ask("a:6", kStart + seconds(100)).standing, Standing::kRefused) << "no more is saved up than the burst";
}

TEST(Desk, WithoutAnAnswerItIsNo) {
  Desk desk({.wait = seconds(10)});
  EXPECT_EQ(desk.next_end(), std::nullopt);
  desk.ask(connect("a:1"), kStart);
  desk.ask(connect("a:2"), kStart + seconds(5));
  EXPECT_EQ(desk.next_end(), kStart + seconds(10));
  EXPECT_TRUE(desk.expire(kStart + seconds(9)).empty());
  const auto over = desk.expire(kStart + seconds(10));
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].answer, Answer::kAbort);
  EXPECT_EQ(over[0].by, "no answer in time");
  EXPECT_THAT(desk.answer(1, Answer::kOnce, "x").error().message,
              HasSubstr("answered before: no, by no answer in time"));
  EXPECT_EQ(desk.next_end(), kStart + seconds(15));
  EXPECT_EQ(desk.close_all("nobody is attached").size(), 1U);
  EXPECT_TRUE(desk.open().empty());
}

TEST(Desk, RemembersOnlyTheLast) {
  Desk desk({.burst = 1000});
  for (int at = 0; at < 300; ++at) {
    const auto asked = desk.ask(connect("a:" + std::to_string(at)), kStart);
    ASSERT_TRUE(desk.answer(asked.id, Answer::kOnce, "x").has_value());
  }
  EXPECT_EQ(desk.answer(1, Answer::kOnce, "x").error().code, Code::kNotFound);
  EXPECT_EQ(desk.answer(300, Answer::kOnce, "x").error().code, Code::kConflict);
}

}  // namespace
}  // namespace hutch::approval
