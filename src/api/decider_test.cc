// A caller's function that answers: what it is told, what becomes of its answer, of an exception, of being late.
#include "api/decider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "wire/question_testing.h"

namespace hutch::api {
namespace {

using testing::ElementsAre;
using wire::question_about;

class DeciderTest : public testing::Test {
 protected:
  void given(const wire::ControlAnswer& answer) {
    const std::scoped_lock lock(mutex_);
    given_.push_back(answer.id + " " + answer.choice);
    changed_.notify_all();
  }
  std::vector<std::string> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [&] { return given_.size() >= count; });
    return given_;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> given_;
};

TEST_F(DeciderTest, EachAnswerHasItsWord) {
  std::vector<std::string> heard;
  DeciderThread thread(
      [&](const AccessQuestion& question) {
        heard.push_back(question.kind + " " + question.host + " " + std::to_string(question.port));
        if (question.host == "once.example") return AccessAnswer::kOnce;
        return question.host == "runs.example" ? AccessAnswer::kWhileRuns : AccessAnswer::kNo;
      },
      [&](const wire::ControlAnswer& answer) { given(answer); });
  EXPECT_TRUE(thread.is_attached());
  int id = 0;
  for (const char* host : {"once.example", "runs.example", "no.example"}) {
    thread.asked(question_about(std::to_string(++id), host));
  }
  EXPECT_THAT(wait_for(3), ElementsAre("1 once", "2 session", "3 no"));
  thread.stop();
  EXPECT_EQ(heard.at(0), "connect once.example 443");
}

TEST_F(DeciderTest, WhatIsOverIsNotAsked) {
  std::promise<void> go;
  auto gate = go.get_future().share();
  DeciderThread thread(
      [gate](const AccessQuestion&) {
        gate.wait();
        return AccessAnswer::kOnce;
      },
      [&](const wire::ControlAnswer& answer) { given(answer); });
  for (const char* id : {"1", "2", "3"}) thread.asked(question_about(id, "a.example"));
  thread.answered({2, {}, approval::Answer::kAbort, "no answer in time"});
  go.set_value();
  EXPECT_THAT(wait_for(2), ElementsAre("1 once", "3 once"));
}

TEST_F(DeciderTest, AfterTheEndNothingIsAsked) {
  DeciderThread thread([](const AccessQuestion&) { return AccessAnswer::kOnce; },
                       [&](const wire::ControlAnswer& answer) { given(answer); });
  thread.stop();
  thread.asked(question_about("1", "a.example"));
  thread.stop();
  EXPECT_TRUE(given_.empty());
}

}  // namespace
}  // namespace hutch::api
