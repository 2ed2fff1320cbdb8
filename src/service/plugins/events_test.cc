// Which events plugins hear of, in which order, and where it ends.
#include "service/plugins/events.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <vector>

namespace hutch::service {
namespace {

PluginEvents::Due due(const std::string& agent, const std::string& plugin, std::uint64_t number) {
  HostEvent event;
  event.number = number;
  event.type = "x";
  return {.agent = agent, .plugin = plugin, .tool = "t", .event = event};
}

// What was called, and what was lost.
struct Told {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::uint64_t> called;
  std::vector<std::string> lost;
  bool holds = false;

  PluginEvents::Call call() {
    return [this](const PluginEvents::Due& one) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [this] { return !holds; });
      called.push_back(one.event.number);
      changed.notify_all();
    };
  }
  PluginEvents::Lose lose() {
    return [this](const PluginEvents::Due& one, std::string_view why) {
      const std::scoped_lock lock(mutex);
      lost.push_back(one.plugin + ": " + std::string(why));
    };
  }
  void let_go() {
    const std::scoped_lock lock(mutex);
    holds = false;
    changed.notify_all();
  }
  bool await(std::size_t count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(30), [&] { return called.size() >= count; });
  }
};

TEST(PluginEvents, AreHeardOfInTheirOrder) {
  Told told;
  PluginEvents events(told.call(), told.lose());
  for (std::uint64_t i = 1; i <= 10; ++i) events.add(due("a", "p", i));
  ASSERT_TRUE(told.await(10));
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(told.called[i], i + 1);
  EXPECT_TRUE(told.lost.empty());
}

TEST(PluginEvents, OfOnePluginThereAreSoManyInAMinute) {
  Told told;
  {
    PluginEvents events(told.call(), told.lose());
    for (std::uint64_t i = 0; i < 100; ++i) events.add(due("a", "p", i));
    for (std::uint64_t i = 0; i < 3; ++i) events.add(due("a", "other", i));
    for (std::uint64_t i = 0; i < 3; ++i) events.add(due("b", "p", i));
    ASSERT_TRUE(told.await(36));
  }
  EXPECT_EQ(told.called.size(), 36U);
  EXPECT_EQ(told.lost, std::vector<std::string>{"p: more than 30 in a minute"});
}

TEST(PluginEvents, SoManyWaitForAnAgentsTurn) {
  Told told;
  told.holds = true;
  {
    PluginEvents events(told.call(), told.lose());
    for (int plugin = 0; plugin < 8; ++plugin) {
      for (std::uint64_t i = 0; i < 20; ++i) events.add(due("a", "p" + std::to_string(plugin), i));
    }
    {
      const std::scoped_lock lock(told.mutex);
      EXPECT_FALSE(told.lost.empty());
      EXPECT_TRUE(told.lost.front().ends_with("64 wait already"));
    }
    events.forget("a");
    told.let_go();
  }
  EXPECT_LE(told.called.size(), 1U);
}

}  // namespace
}  // namespace hutch::service
