// Tasks in the database: what is kept, for whom, and for how long.
#include "store/tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/directory_testing.h"

namespace hutch::store {
namespace {

class TasksTest : public ::testing::Test {
 protected:
  std::unique_ptr<Tasks> open() { return std::move(Tasks::open(directory_ + "/data")).value(); }
  static TaskRecord task(const std::string& id, const std::string& agent, TaskStatus status = TaskStatus::kQueued) {
    return {.id = id, .agent = agent, .text = "do " + id, .status = status, .created = "2026-01-01T00:00:00.000Z"};
  }

  const TestDirectory made_{"tasks"};
  const std::string directory_ = made_.path();
  std::unique_ptr<Tasks> tasks_ = open();
};

TEST_F(TasksTest, EverythingIsKept) {
  TaskRecord one = task("1", "a");
  ASSERT_TRUE(tasks_->add(one));
  one = {.id = "1",
         .agent = "a",
         .text = "text\n\"'",
         .status = TaskStatus::kTimedOut,
         .created = "c",
         .started = "s",
         .ended = "e",
         .timeout_ms = 5,
         .duration_ms = 6,
         .exit_code = 124,
         .pid = "7",
         .reason = "r",
         .output = std::string("o\0\xff", 3),
         .error = "e",
         .changes = "{}"};
  ASSERT_TRUE(tasks_->update(one));
  tasks_ = open();
  EXPECT_EQ(tasks_->find("a", "1").value(), one);
  EXPECT_EQ(tasks_->find("", "1").value(), one);
}

TEST_F(TasksTest, AnotherAgentsIsNone) {
  ASSERT_TRUE(tasks_->add(task("1", "a")));
  EXPECT_EQ(tasks_->find("b", "1").error().code, Code::kNotFound);
  EXPECT_TRUE(tasks_->list("b").value().empty());
  EXPECT_EQ(tasks_->list("").value().size(), 1U);
  ASSERT_TRUE(tasks_->forget("b"));
  EXPECT_EQ(tasks_->list("a").value().size(), 1U);
  ASSERT_TRUE(tasks_->forget("a"));
  EXPECT_TRUE(tasks_->list("").value().empty());
}

TEST_F(TasksTest, AbandonedOnesHaveFailed) {
  ASSERT_TRUE(tasks_->add(task("q", "a")));
  ASSERT_TRUE(tasks_->add(task("r", "a", TaskStatus::kRunning)));
  ASSERT_TRUE(tasks_->add(task("s", "a", TaskStatus::kSucceeded)));
  ASSERT_TRUE(tasks_->end_abandoned("gone", "now"));
  for (const char* id : {"q", "r"}) {
    const TaskRecord ended = tasks_->find("", id).value();
    EXPECT_EQ(ended.status, TaskStatus::kFailed);
    EXPECT_EQ(ended.reason, "gone");
    EXPECT_EQ(ended.ended, "now");
    EXPECT_EQ(ended.exit_code, 125);
  }
  EXPECT_EQ(tasks_->find("", "s").value().status, TaskStatus::kSucceeded);
}

TEST_F(TasksTest, TheOldestEndedOnesOfAnAgentGo) {
  ASSERT_TRUE(tasks_->add(task("running", "a", TaskStatus::kRunning)));
  ASSERT_TRUE(tasks_->add(task("other", "b", TaskStatus::kFailed)));
  for (int i = 0; i < kEndedTasksOfAgentMax + 5; ++i) {
    ASSERT_TRUE(tasks_->add(task(std::to_string(i), "a", TaskStatus::kSucceeded)));
  }
  const auto kept = tasks_->list("a").value();
  EXPECT_EQ(kept.size(), static_cast<std::size_t>(kEndedTasksOfAgentMax) + 1);
  EXPECT_EQ(kept.front().id, "running");
  EXPECT_EQ(kept.at(1).id, "5");
  EXPECT_TRUE(tasks_->find("", "other"));
}

TEST_F(TasksTest, AListHasShortTexts) {
  TaskRecord one = task("1", "a");
  one.text = std::string(10'000, 'x');
  one.output = "output";
  ASSERT_TRUE(tasks_->add(one));
  EXPECT_EQ(tasks_->list("a").value().at(0).text.size(), static_cast<std::size_t>(kListedTextMax));
  EXPECT_EQ(tasks_->list("a").value().at(0).output, "");
}

TEST(TaskStatus, EachHasAName) {
  EXPECT_EQ(name_of(TaskStatus::kTimedOut), "timed_out");
  EXPECT_FALSE(has_ended(TaskStatus::kQueued));
  EXPECT_FALSE(has_ended(TaskStatus::kRunning));
  EXPECT_TRUE(has_ended(TaskStatus::kCancelled));
}

}  // namespace
}  // namespace hutch::store
