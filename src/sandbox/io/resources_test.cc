// What is said of a sandbox's use of the machine.
#include "sandbox/io/resources.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace hutch::sandbox {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using Time = CpuMeter::Clock::time_point;

TEST(CpuMeter, TellsTheLoadSinceTheLastLook) {
  const Time start{};
  CpuMeter meter(start);
  EXPECT_DOUBLE_EQ(meter.percent(microseconds(500'000), start + milliseconds(1000)), 50);
  EXPECT_DOUBLE_EQ(meter.percent(microseconds(2'500'000), start + milliseconds(2000)), 200);
  // Too early to tell anything else.
  EXPECT_DOUBLE_EQ(meter.percent(microseconds(2'500'000), start + milliseconds(2001)), 200);
  EXPECT_DOUBLE_EQ(meter.percent(microseconds(2'500'000), start + milliseconds(3000)), 0);
  // A process went before anybody waited for it.
  EXPECT_DOUBLE_EQ(meter.percent(microseconds(2'000'000), start + milliseconds(4000)), 0);
}

TEST(Resources, AreThoseOfTheProcess) {
  const Usage usage = usage_below(::getpid());
  EXPECT_GT(usage.memory_bytes, 100U << 10);
  EXPECT_LT(usage.memory_bytes, 1ULL << 40);
}

TEST(Resources, AProcessIsFoundByItsNumber) {
  const auto found = process_numbered(::getpid(), static_cast<std::uint32_t>(::getpid()));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->process, ::getpid());
  EXPECT_NE(found->started, 0U);
  EXPECT_FALSE(process_numbered(::getpid(), static_cast<std::uint32_t>(::getppid())).has_value()) << "it is not below";
}

TEST(Resources, LimitsAreWhatIsAllowed) {
  CpuMeter meter;
  const Resources open = resources_of({}, {}, "/proc/self", meter);
  EXPECT_GT(open.memory_bytes, 1U << 20);
  EXPECT_GE(open.cpu_cores, 1);
  const Resources limited =
      resources_of({.memory_bytes = 5}, {.memory_bytes = 64 << 20, .cpu_millis = 500}, "/absent", meter);
  EXPECT_EQ(limited.memory_bytes, 64U << 20);
  EXPECT_EQ(limited.memory_used_bytes, 5U);
  EXPECT_DOUBLE_EQ(limited.cpu_cores, 0.5);
  EXPECT_EQ(limited.disk_used_bytes, 0U);
}

}  // namespace
}  // namespace hutch::sandbox
