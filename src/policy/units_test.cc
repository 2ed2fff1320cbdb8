// Tests of times, sizes and CPUs.
#include "policy/units.h"

#include <gtest/gtest.h>

namespace hutch::policy {
namespace {

TEST(UnitsTest, Duration) {
  EXPECT_EQ(parse_duration("30s").value().count(), 30'000);
  EXPECT_EQ(parse_duration("500ms").value().count(), 500);
  EXPECT_EQ(parse_duration("1.5").value().count(), 1500);
  EXPECT_EQ(parse_duration("10m").value().count(), 600'000);
  EXPECT_EQ(parse_duration("2h").value().count(), 7'200'000);
  for (const char* wrong : {"", "s", "-1", "0", "0s", "1d", "1 s", "0x10", "1e3", "inf", "nan", "1.", ".5", "1.5.2",
                            "99999999999999999999999", "1s2"}) {
    EXPECT_FALSE(parse_duration(wrong).has_value()) << wrong;
  }
}

TEST(UnitsTest, Memory) {
  EXPECT_EQ(parse_memory("4M").value(), kMemoryBytesMin);
  for (const char* wrong : {"1K", "4095K", "1", "12Q"}) EXPECT_FALSE(parse_memory(wrong).has_value()) << wrong;
}

TEST(UnitsTest, Size) {
  EXPECT_EQ(parse_size("1024").value(), 1024U);
  EXPECT_EQ(parse_size("512M").value(), 512ULL << 20);
  EXPECT_EQ(parse_size("1.5G").value(), 3ULL << 29);
  EXPECT_EQ(parse_size("64k").value(), 65536U);
  EXPECT_EQ(parse_size("2GiB").value(), 2ULL << 30);
  EXPECT_EQ(parse_size("2GB").value(), 2ULL << 30);
  EXPECT_EQ(parse_size("10B").value(), 10U);
  for (const char* wrong : {"", "M", "-1M", "0", "0M", "1X", "1 M", "1MM", "1iB", "99999999999T", "1e9"}) {
    EXPECT_FALSE(parse_size(wrong).has_value()) << wrong;
  }
}

TEST(UnitsTest, Cpus) {
  EXPECT_EQ(parse_cpus("1.5").value(), 1500U);
  EXPECT_EQ(parse_cpus("2").value(), 2000U);
  EXPECT_EQ(parse_cpus("0.25").value(), 250U);
  for (const char* wrong : {"", "0", "0.0001", "-1", "two", "1.5x"}) {
    EXPECT_FALSE(parse_cpus(wrong).has_value()) << wrong;
  }
}

}  // namespace
}  // namespace hutch::policy
