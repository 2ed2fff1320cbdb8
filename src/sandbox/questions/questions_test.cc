// The questions of a sandbox: who is asked, whose answer holds, what is saved before it is told.
#include "sandbox/questions/questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/text.h"

namespace hutch::sandbox {
namespace {

using approval::Answer;
using testing::ElementsAre;
using testing::HasSubstr;

class FakeAudience : public Audience {
 public:
  bool attached = true;
  std::vector<wire::ControlQuestion> heard;
  std::vector<std::string> answers;

  bool is_attached() const override { return attached; }
  void asked(const wire::ControlQuestion& question) override { heard.push_back(question); }
  void answered(const approval::Desk::Closed& closed) override {
    answers.push_back(cat({std::to_string(closed.id), " ", approval::name_of(closed.answer), " ", closed.by}));
  }
};

class QuestionsTest : public testing::Test {
 protected:
  QuestionsTest() {
    questions_.add(audience_);
    questions_.wake_by([this] { ++wakes_; });
  }

  void ask(const std::string& target) {
    questions_.ask({.target = target, .rule = "default"}, [this, target](const approval::Effect& effect) {
      settled_.push_back(cat({target, effect.allowed ? " yes" : " no", effect.grant ? " lasts" : ""}));
    });
  }
  std::string answer(const std::string& id, const std::string& choice, std::optional<int> minutes = std::nullopt) {
    const Status done = questions_.answer({id, choice, minutes}, "a test");
    EXPECT_TRUE(questions_.step(Questions::Keys::kNone));
    return done ? "" : done.error().message;
  }

  FakeAudience audience_;
  std::vector<std::string> settled_;
  std::vector<std::string> recorded_;
  std::vector<policy::Scope> saved_;
  Status save_answer_;
  std::atomic<int> wakes_ = 0;
  approval::DeskLimits limits_{.open_max = 2};
  Questions questions_{{.limits = limits_,
                        .place = [] { return approval::Place{approval::Coverage::kExact, "/w", {}}; },
                        .save =
                            [this](const approval::Save& save) {
                              if (save_answer_) saved_.push_back(save.scope);
                              return save_answer_;
                            },
                        .record =
                            [this](const approval::Desk::Closed& closed) {
                              recorded_.push_back(cat({closed.question.target, ": ", closed.by}));
                            }},
                       nullptr};
};

TEST_F(QuestionsTest, OnceIsForThoseWhoWait) {
  ask("a.example:443");
  ask("a.example:443");
  ASSERT_EQ(audience_.heard.size(), 1U);
  EXPECT_EQ(audience_.heard[0].host, "a.example");
  EXPECT_EQ(audience_.heard[0].port, 443);
  EXPECT_GT(audience_.heard[0].left.count(), 0);
  EXPECT_THAT(audience_.heard[0].choices, ElementsAre("once", "session", "tree", "project", "everywhere", "no"));
  EXPECT_EQ(answer("1", "once"), "");
  EXPECT_THAT(settled_, ElementsAre("a.example:443 yes", "a.example:443 yes"));
  EXPECT_THAT(audience_.answers, ElementsAre("1 once a test"));
  EXPECT_THAT(recorded_, ElementsAre("a.example:443: a test"));
  EXPECT_EQ(wakes_, 1);
}

TEST_F(QuestionsTest, AddressesAreTold) {
  ask("[::1]:22");
  EXPECT_EQ(audience_.heard[0].host, "::1");
  EXPECT_EQ(audience_.heard[0].port, 22);
}

TEST_F(QuestionsTest, ASessionLastsAndSoDoMinutes) {
  ask("a.example:443");
  EXPECT_EQ(answer("1", "session"), "");
  ask("b.example:443");
  EXPECT_EQ(answer("2", "session", 5), "");
  EXPECT_THAT(settled_, ElementsAre("a.example:443 yes lasts", "b.example:443 yes lasts"));
  EXPECT_THAT(audience_.answers, ElementsAre("1 session a test", "2 minutes a test"));
}

TEST_F(QuestionsTest, MinutesGoWithSessionAlone) {
  ask("a.example:443");
  EXPECT_EQ(answer("1", "once", 5), "minutes go with session, not with once");
  EXPECT_EQ(answer("1", "session", 5), "");
}

TEST_F(QuestionsTest, WhoIsLateIsTold) {
  ask("a.example:443");
  EXPECT_EQ(answer("1", "no"), "");
  EXPECT_EQ(answer("1", "once"), "question 1 was answered before: no, by a test");
  EXPECT_EQ(answer("7", "once"), "no question 7 is open");
  EXPECT_EQ(answer("7x", "once"), "no question 7x is open");
  EXPECT_EQ(answer("", "once"), "no question  is open");
  EXPECT_THAT(answer("1", "minutes"), HasSubstr("choice must be one of once, session"));
  EXPECT_THAT(answer("1", "new"), HasSubstr("choice must be one of"));
  EXPECT_THAT(settled_, ElementsAre("a.example:443 no"));
}

TEST_F(QuestionsTest, WhatCannotBeSavedWasNotAnswered) {
  ask("a.example:443");
  save_answer_ = fail(Error::invalid("projects.json: line 1: broken"));
  EXPECT_EQ(answer("1", "project"), "projects.json: line 1: broken");
  EXPECT_THAT(settled_, ElementsAre());
  save_answer_ = {};
  EXPECT_EQ(answer("1", "project"), "");
  EXPECT_THAT(saved_, ElementsAre(policy::Scope::kProject));
  EXPECT_THAT(settled_, ElementsAre("a.example:443 yes lasts"));
}

TEST_F(QuestionsTest, NobodyIsANo) {
  audience_.attached = false;
  ask("a.example:443");
  EXPECT_THAT(settled_, ElementsAre("a.example:443 no"));
  EXPECT_THAT(recorded_, ElementsAre("a.example:443: nobody is attached"));
  EXPECT_TRUE(audience_.heard.empty());
}

TEST_F(QuestionsTest, WhenEverybodyHasGoneTheAnswerIsNo) {
  ask("a.example:443");
  EXPECT_TRUE(questions_.step(Questions::Keys::kNone));
  EXPECT_THAT(settled_, ElementsAre());
  audience_.attached = false;
  EXPECT_TRUE(questions_.step(Questions::Keys::kNone));
  EXPECT_THAT(settled_, ElementsAre("a.example:443 no"));
  EXPECT_THAT(audience_.answers, ElementsAre("1 no nobody is attached"));
}

TEST_F(QuestionsTest, TooManyAreANo) {
  ask("a.example:443");
  ask("b.example:443");
  ask("c.example:443");
  EXPECT_THAT(settled_, ElementsAre("c.example:443 no"));
  EXPECT_THAT(recorded_, ElementsAre("c.example:443: too many questions are open"));
  ASSERT_EQ(questions_.open().size(), 2U);
  EXPECT_EQ(questions_.open()[1].host, "b.example");
}

TEST_F(QuestionsTest, WhatWasAllowedElsewhereIsNotAsked) {
  Questions questions({.limits = {},
                       .place = [] { return approval::Place{}; },
                       .save = {},
                       .record = {},
                       .is_granted = [](const approval::Question& asked) { return asked.target == "a.example:443"; }},
                      nullptr);
  EXPECT_TRUE(questions.may_allow());
  EXPECT_FALSE(questions.is_attended());
  std::vector<bool> allowed;
  for (const char* target : {"a.example:443", "b.example:443"}) {
    questions.ask({.target = target}, [&](const approval::Effect& effect) { allowed.push_back(effect.allowed); });
  }
  EXPECT_THAT(allowed, ElementsAre(true, false));
}

TEST_F(QuestionsTest, IdsGoOnWhereAnEarlierDeskEnded) {
  Questions questions({.limits = {}, .place = [] { return approval::Place{}; }, .save = {}, .record = {}, .after = 7},
                      nullptr);
  questions.add(audience_);
  questions.ask({.target = "a.example:443"}, [](const approval::Effect&) {});
  EXPECT_EQ(audience_.heard.at(0).id, "8");
  EXPECT_EQ(questions.last_id(), 8U);
}

TEST_F(QuestionsTest, TheEndClosesAll) {
  ask("a.example:443");
  EXPECT_TRUE(questions_.time_left().has_value());
  questions_.close("the command has ended");
  EXPECT_THAT(settled_, ElementsAre("a.example:443 no"));
  EXPECT_FALSE(questions_.time_left().has_value());
  EXPECT_TRUE(questions_.open().empty());
}

TEST_F(QuestionsTest, ManyThreadsAnswerAndOneHolds) {
  ask("a.example:443");
  std::atomic<int> accepted{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      if (questions_.answer({"1", "session", std::nullopt}, "a thread")) ++accepted;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(accepted, 1);
  EXPECT_THAT(settled_, ElementsAre()) << "another thread than the keeper's told it";
  EXPECT_EQ(questions_.time_left()->count(), 0);
  EXPECT_TRUE(questions_.step(Questions::Keys::kNone));
  EXPECT_THAT(settled_, ElementsAre("a.example:443 yes lasts"));
}

}  // namespace
}  // namespace hutch::sandbox
