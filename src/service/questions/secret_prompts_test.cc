// Prompts for secrets: each has one end.
#include "service/questions/secret_prompts.h"

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

TEST_F(SecretPromptsTest, OneAgentKeepsNobodyElseFromAsking) {
  const auto attendant = prompts_.attend();
  std::vector<std::future<Answer>> asked;
  for (std::size_t i = 0; i < SecretPrompts::kOpenOfAgentMax; ++i) {
    asked.push_back(ask());
    (void)await_prompt(**attendant);
  }
  EXPECT_FALSE(prompts_.ask({.id = {}, .agent = "a", .key = "K", .description = {}, .instructions = {}}, kLong, {}));
  auto other = std::async(std::launch::async, [&] {
    return prompts_.ask({.id = {}, .agent = "b", .key = "K", .description = {}, .instructions = {}}, kLong,
                        stop_.get_token());
  });
  EXPECT_EQ(await_prompt(**attendant).agent, "b");
  stop_.request_stop();
  EXPECT_TRUE(other.get());
}

// The value is being stored when the caller goes, the time is over and somebody declines: it is stored, and all know.
TEST_F(SecretPromptsTest, WhoeverStoresTheValueWasFirst) {
  for (const milliseconds wait : {kLong, milliseconds(20)}) {
    SecretPrompts prompts;
    std::stop_source stop;
    const auto attendant = prompts.attend();
    auto asked = std::async(std::launch::async, [&] {
      return prompts.ask({.id = {}, .agent = "a", .key = "K", .description = {}, .instructions = {}}, wait,
                         stop.get_token());
    });
    const SecretPrompt prompt = await_prompt(**attendant);
    const Status stored = prompts.answer(prompt.id, [&](const SecretPrompt& of) -> Status {
      EXPECT_EQ(of.key, "K");
      EXPECT_FALSE(prompts.answer(prompt.id, [](const SecretPrompt&) { return Status(); })) << "one at a time";
      prompts.cancel(prompt.id);
      stop.request_stop();
      EXPECT_EQ(asked.wait_for(milliseconds(60)), std::future_status::timeout) << "it waits for what is being stored";
      return {};
    });
    EXPECT_TRUE(stored);
    EXPECT_EQ(asked.get().value(), Answer::kStored);
    std::size_t ends = 0;
    while (const auto event = (*attendant)->take()) ends += event->kind == PromptEvent::Kind::kClosed ? 1 : 0;
    EXPECT_EQ(ends, 1U);
  }
}

TEST_F(SecretPromptsTest, WhatHasEndedTakesNoValue) {
  const auto attendant = prompts_.attend();
  auto asked = ask();
  const SecretPrompt prompt = await_prompt(**attendant);
  bool stored = false;
  EXPECT_FALSE(prompts_.answer(prompt.id, [](const SecretPrompt&) { return fail(Error::invalid("too short")); }));
  EXPECT_TRUE(prompts_.find(prompt.id)) << "what could not be stored can be typed again";
  prompts_.cancel(prompt.id);
  EXPECT_FALSE(prompts_.answer(prompt.id, [&](const SecretPrompt&) -> Status {
    stored = true;
    return {};
  }));
  EXPECT_FALSE(stored);
  EXPECT_EQ(asked.get(), Answer::kCancelled);
}

}  // namespace
}  // namespace hutch::service
