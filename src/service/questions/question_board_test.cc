// The board: who counts as present, and who hears what.
#include "service/questions/question_board.h"

#include <gtest/gtest.h>

#include "wire/question_testing.h"

namespace hutch::service {
namespace {

using wire::question_about;

TEST(QuestionBoard, WhoAttendsIsThereAsLongAsItIsHeld) {
  QuestionBoard board;
  const auto alice = board.audience("alice");
  const auto bob = board.audience("bob");
  EXPECT_FALSE(alice->is_attached());
  auto attendant = board.attend("alice");
  ASSERT_TRUE(attendant);
  EXPECT_TRUE(alice->is_attached());
  EXPECT_FALSE(bob->is_attached());
  auto all = board.attend("");
  ASSERT_TRUE(all);
  EXPECT_TRUE(bob->is_attached());
  all->reset();
  EXPECT_FALSE(bob->is_attached());
  attendant->reset();
  EXPECT_FALSE(alice->is_attached());
}

TEST(QuestionBoard, EachHearsOfItsAgents) {
  QuestionBoard board;
  const auto alice = board.audience("alice");
  const auto bob = board.audience("bob");
  const auto of_alice = *board.attend("alice");
  const auto of_all = *board.attend("");
  bob->asked(question_about("3", "a.example"));
  alice->answered({4, {}, approval::Answer::kOnce, "somebody"});
  const auto first = of_all->take();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->id, "bob.3");
  EXPECT_EQ(first->kind, BoardEvent::Kind::kAsked);
  EXPECT_EQ(first->question.host, "a.example");
  const auto second = of_alice->take();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->id, "alice.4");
  EXPECT_EQ(second->kind, BoardEvent::Kind::kAnswered);
  EXPECT_EQ(second->choice, "once");
  EXPECT_EQ(second->by, "somebody");
  EXPECT_FALSE(of_alice->take());
}

TEST(QuestionBoard, WhoAttendsAloneIsTheOnlyOne) {
  QuestionBoard board;
  const auto alice = board.audience("alice");
  const auto of_all = *board.attend("");
  const auto by_name = *board.attend("alice");
  auto alone = *board.attend_alone("alice");
  EXPECT_TRUE(board.is_reserved("alice"));
  alice->asked(question_about("1", "a.example"));
  EXPECT_TRUE(alone->take());
  EXPECT_FALSE(of_all->take());
  EXPECT_FALSE(by_name->take());
  // Those who come later do not count either, and nobody does once it has gone.
  const auto later = *board.attend("alice");
  EXPECT_TRUE(alice->is_attached());
  alone.reset();
  EXPECT_FALSE(alice->is_attached());
  alice->asked(question_about("2", "a.example"));
  EXPECT_FALSE(of_all->take());
  EXPECT_FALSE(later->take());
  board.release("alice");
  EXPECT_TRUE(alice->is_attached());
}

TEST(QuestionBoard, WhoDoesNotKeepUpIsThereNoMore) {
  QuestionBoard board;
  const auto alice = board.audience("alice");
  const auto slow = *board.attend("");
  for (int i = 0; i < 1025; ++i) alice->asked(question_about("1", "a.example"));
  EXPECT_TRUE(slow->overflowed());
  EXPECT_FALSE(alice->is_attached());
}

}  // namespace
}  // namespace hutch::service
