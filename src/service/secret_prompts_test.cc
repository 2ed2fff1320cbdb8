// Prompts for secrets: each has one end.
#include "service/secret_prompts.h"

#include <gtest/gtest.h>

#include <future>

namespace hutch::service {
namespace {

using Answer = SecretPrompts::Answer;
using std::chrono::milliseconds;

constexpr milliseconds kLong{60'000};

class SecretPromptsTest : public ::testing::Test {
 protected:
  std::future<Answer> ask(milliseconds wait = kLong) {
    return std::async(std::launch::async, [this, wait] {
      return prompts_
          .ask({.id = {}, .agent = "a", .key = "K", .description = "d", .instructions = "i"}, wait, stop_.get_token())
          .value_or(Answer::kNobody);
    });
  }
  SecretPrompt await_prompt(SecretPrompts::Attendant& attendant) {
    for (;;) {
      if (auto event = attendant.take()) return event->prompt;
      std::this_thread::yield();
    }
  }
  SecretPrompts prompts_;
  std::stop_source stop_;
};

TEST_F(SecretPromptsTest, NobodyIsToldAtOnce) { EXPECT_EQ(ask().get(), Answer::kNobody); }

TEST_F(SecretPromptsTest, AValueEndsIt) {
  const auto attendant = prompts_.attend();
  auto asked = ask();
  const SecretPrompt prompt = await_prompt(**attendant);
  EXPECT_EQ(prompt.key, "K");
  prompts_.stored("b", "K");
  prompts_.stored("a", "OTHER");
  EXPECT_TRUE(prompts_.find(prompt.id));
  prompts_.stored("a", "K");
  EXPECT_EQ(asked.get(), Answer::kStored);
}

TEST_F(SecretPromptsTest, TheFirstEndHoldsAndAgainChangesNothing) {
  const auto attendant = prompts_.attend();
  auto asked = ask();
  const SecretPrompt prompt = await_prompt(**attendant);
  prompts_.cancel(prompt.id);
  prompts_.cancel(prompt.id);
  prompts_.stored("a", "K");
  EXPECT_EQ(asked.get(), Answer::kCancelled);
  prompts_.cancel(prompt.id);
  EXPECT_FALSE(prompts_.find(prompt.id));
}

TEST_F(SecretPromptsTest, TheCallersEndAndTheTimeEndIt) {
  const auto attendant = prompts_.attend();
  EXPECT_EQ(ask(milliseconds(1)).get(), Answer::kTimeout);
  auto asked = ask();
  (void)await_prompt(**attendant);
  stop_.request_stop();
  EXPECT_EQ(asked.get(), Answer::kCancelled);
}

TEST_F(SecretPromptsTest, WhoComesLaterHearsOfWhatIsOpen) {
  const auto first = prompts_.attend();
  auto asked = ask();
  const SecretPrompt prompt = await_prompt(**first);
  const auto second = prompts_.attend();
  EXPECT_EQ(await_prompt(**second).id, prompt.id);
  prompts_.cancel(prompt.id);
  asked.wait();
}

}  // namespace
}  // namespace hutch::service
