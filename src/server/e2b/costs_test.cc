// The tests of what things take in memory.
#include "server/e2b/costs.h"

#include <gtest/gtest.h>

namespace hutch::server::e2b {
namespace {

TEST(E2bCosts, ValuesCostMoreThanTheyAreLong) {
  EXPECT_GE(cost_of_json(std::string(1000, 'x')), 1000U);
  std::string many = "[";
  for (int i = 0; i < 1000; ++i) many += "{},";
  // Two nodes each: of the object, and of the place in the list.
  EXPECT_GT(cost_of_json(many), 1000U * 300);
  const std::string text = R"({"a":")" + std::string(3000, '[') + R"(\",,,"})";
  EXPECT_LT(cost_of_json(text), 5 * text.size()) << "brackets of a text are no values";
}

TEST(E2bCosts, WordsCostTheirBytesAndMore) {
  FollowedCommand command{
      .program = "/bin/bash", .arguments = {std::string(1000, 'x')}, .variables = {{"A", "b"}}, .cwd = "", .tag = ""};
  const std::uint64_t one = cost_of(command);
  EXPECT_GE(one, 1000U);
  command.arguments.resize(1000);
  EXPECT_GE(cost_of(command), one + 999 * sizeof(std::string)) << "empty ones are there as well";
}

TEST(E2bCosts, EntriesCostTheirNamesAndMore) {
  wire::FileEntries listing;
  listing.entries.resize(100);
  EXPECT_GE(cost_of(listing), 100 * sizeof(wire::FileEntry));
  const std::uint64_t before = cost_of(listing);
  listing.entries[0].path = std::string(500, 'x');
  listing.entries[0].stat.target = std::string(700, 'x');
  EXPECT_EQ(cost_of(listing), before + 1200);
}

}  // namespace
}  // namespace hutch::server::e2b
