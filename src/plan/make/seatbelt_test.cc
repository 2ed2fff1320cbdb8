// Golden tests of Seatbelt profiles. No macOS is involved: that the profiles work there is not tested.
#include "plan/make/seatbelt.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace hutch::plan {
namespace {

using policy::Origin;
using policy::Rule;
using policy::Verb;

Rule rule(Verb verb, const std::string& path, Origin origin = Origin::kPolicy) {
  return {.verb = verb, .origin = origin, .path = path, .text = path, .where = std::string(name_of(verb))};
}

void expect_golden_profile(const SeatbeltInput& input, const std::string& name) {
  const std::string path = std::string(HUTCH_SOURCE_DIR) + "/src/plan/make/golden/" + name + ".sb";
  const auto got = seatbelt_profile(input);
  ASSERT_TRUE(got.has_value()) << got.error().message;
  if (std::getenv("HUTCH_ACCEPT") != nullptr) std::ofstream(path) << *got;
  std::ifstream file(path);
  std::stringstream want;
  want << file.rdbuf();
  EXPECT_EQ(*got, want.str()) << "run with HUTCH_ACCEPT=1 if the new profile is right";
}

std::vector<Rule> workspace() {
  return {rule(Verb::kDenyRead, "/Users"), rule(Verb::kDenyRead, "/Users/u"), rule(Verb::kAllowRead, "/Users/u/p"),
          rule(Verb::kAllowWrite, "/Users/u/p"), rule(Verb::kDenyWrite, "/Users/u/p/.git/hooks", Origin::kMandatory)};
}

TEST(SeatbeltTest, Workspace) {
  const std::vector<Rule> rules = workspace();
  expect_golden_profile({.rules = rules, .proxy_port = std::nullopt}, "seatbelt_workspace");
}

TEST(SeatbeltTest, NestedRulesAndAProxy) {
  std::vector<Rule> rules = workspace();
  rules.push_back(rule(Verb::kDenyRead, "/Users/u/p/secret"));
  rules.push_back(rule(Verb::kAllowRead, "/Users/u/p/secret/open"));
  rules.push_back(rule(Verb::kDenyWrite, "/Users/u/p/secret/open/frozen"));
  rules.push_back(rule(Verb::kAllowWrite, "/Users/u/p/a \"quoted\\ name"));
  expect_golden_profile({.rules = rules, .proxy_port = 3128}, "seatbelt_nested");
}

TEST(SeatbeltTest, PathsCannotBreakOutOfTheirString) {
  const std::vector<Rule> rules = {rule(Verb::kAllowWrite, "/x\n(allow default)")};
  EXPECT_FALSE(seatbelt_profile({.rules = rules, .proxy_port = std::nullopt}).has_value());
}

TEST(SeatbeltTest, FileName) {
  const std::string one = seatbelt_file("/p", "(version 1)");
  EXPECT_EQ(one, seatbelt_file("/p", "(version 1)"));
  EXPECT_NE(one, seatbelt_file("/q", "(version 1)"));
  EXPECT_NE(one, seatbelt_file("/p", "(version 1) "));
  EXPECT_TRUE(one.starts_with(".sandbox-profiles/seatbelt-"));
  EXPECT_TRUE(one.ends_with(".sb"));
  EXPECT_EQ(one.size(), std::string(".sandbox-profiles/seatbelt-.sb").size() + 16);
}

}  // namespace
}  // namespace hutch::plan
