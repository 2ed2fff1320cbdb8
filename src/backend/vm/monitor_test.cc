// The tests of what QEMU says: it is the machine's, once that has taken QEMU over.
#include "backend/vm/monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "sys/channel.h"

namespace hutch::backend::vm {
namespace {

using testing::HasSubstr;

// A QEMU that says that, whatever it is told.
struct Scripted {
  explicit Scripted(std::string said) {
    auto [host, other] = sys::socket_pair().value();
    socket = std::move(host);
    qemu = std::move(other);
    writer = std::thread([this, text = std::move(said)] { (void)sys::send_all(qemu.get(), text, {}); });
  }
  ~Scripted() { writer.join(); }
  UniqueFd socket;
  UniqueFd qemu;
  std::thread writer;
};

constexpr const char* kGreeting = "{\"QMP\": {}}\r\n{\"return\": {}}\r\n";

TEST(Monitor, EventsArePassedOverAndAnswersReturned) {
  Scripted qemu(std::string(kGreeting) + "{\"event\": \"RESUME\"}\r\n{\"return\": {\"status\": \"running\"}}\r\n");
  auto monitor = Monitor::open(std::move(qemu.socket), std::chrono::seconds(10));
  ASSERT_TRUE(monitor) << monitor.error().message;
  EXPECT_EQ(monitor->ask("query-status").value(), R"({"status":"running"})");
}

TEST(Monitor, WhatItRefusesIsInItsWords) {
  Scripted qemu(std::string(kGreeting) + "{\"error\": {\"desc\": \"no such\\u001b[2J device\"}}\r\n");
  auto monitor = Monitor::open(std::move(qemu.socket), std::chrono::seconds(10));
  ASSERT_TRUE(monitor);
  const auto refused = monitor->ask("device_add", "{}");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("device_add"));
  EXPECT_THAT(refused.error().message, HasSubstr("no such"));
  EXPECT_EQ(refused.error().message.find('\x1b'), std::string::npos);
}

TEST(Monitor, WhatIsNoAnswerIsAnError) {
  const std::string with_nul("{\"return\": \0}\n", 14);
  for (const std::string& said : {std::string("noise\n"), std::string("[1]\n"), std::string(2 << 20, 'x'),
                                  std::string(10'000, '[') + "\n", with_nul}) {
    Scripted qemu(said);
    const auto monitor = Monitor::open(std::move(qemu.socket), std::chrono::seconds(30));
    ASSERT_FALSE(monitor) << said.substr(0, 20);
    EXPECT_NE(monitor.error().code, Code::kTimeout) << said.substr(0, 20);
  }
}

TEST(Monitor, OneThatHasEndedIsAnError) {
  auto [host, qemu] = sys::socket_pair().value();
  qemu.reset();
  EXPECT_FALSE(Monitor::open(std::move(host), std::chrono::seconds(30)));
}

TEST(Monitor, OneThatSaysNothingIsNotWaitedForForEver) {
  auto [host, qemu] = sys::socket_pair().value();
  const auto monitor = Monitor::open(std::move(host), std::chrono::seconds(0));
  ASSERT_FALSE(monitor);
  EXPECT_EQ(monitor.error().code, Code::kTimeout);
}

}  // namespace
}  // namespace hutch::backend::vm
