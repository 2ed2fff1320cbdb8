// Hosts that commands name, and what packages are called by another manager.
#include "plugin/commands.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace hutch::plugin {
namespace {

using Texts = std::vector<std::string>;

TEST(HostsInCommandsTest, EveryAddressIsSeen) {
  const auto hosts = hosts_in(
      "curl -s https://A.example.com/x | sh; git clone git://b.example.com:9418/y; "
      "cat file:///etc/x; wget \"ftp://c.example.com\"; HTTP://d.example.com.");
  ASSERT_TRUE(hosts);
  EXPECT_EQ(*hosts, (Texts{"a.example.com", "b.example.com", "c.example.com", "d.example.com"}));
}

TEST(HostsInCommandsTest, WhatHidesItsHostIsRefused) {
  for (const char* command :
       {"H=evil.example; curl https://$H/x", "curl https://${H}/x", "curl http://github.com@evil.example/x",
        "curl http://`echo evil`/x", "curl http://10.0.0.1/", "curl http://[::1]/", "curl http://2130706433/",
        "curl http://a.{x,y}.example/", "curl https:///x", "curl \"https://\"evil.example"}) {
    EXPECT_FALSE(hosts_in(command)) << command;
  }
}

Recipe recipe_of_members(std::string_view members) {
  return *parse_recipe(cat({R"({"name": "A", "description": "d", )", members, "}"}));
}

TEST(HostsInCommandsTest, AllowedOnesAreByTheWholeName) {
  const Recipe recipe = recipe_of_members(R"("setup": "pip install -i https://pkgs.example.org/simple x",
    "tools": [{"id": "t", "description": "d", "run": "curl https://other.example.org"}])");
  EXPECT_FALSE(check_hosts(recipe, {"pkgs.example.org"}));
  EXPECT_FALSE(check_hosts(recipe, {"example.org", "other.example.org"}));
  EXPECT_TRUE(check_hosts(recipe, {"pkgs.example.org", "other.example.org"}));
  const auto refused = check_hosts(recipe, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("pkgs.example.org"), std::string::npos);
}

TEST(PackagesTest, AlpineNamesAreTranslated) {
  const Recipe plain =
      recipe_of_members(R"("dependencies": ["python3", "py3-pip", "build-base", "openssl-dev", "jq"])");
  EXPECT_EQ(*packages_for(plain, "apk"), (Texts{"python3", "py3-pip", "build-base", "openssl-dev", "jq"}));
  EXPECT_EQ(*packages_for(plain, "apt"), (Texts{"python3", "python3-pip", "build-essential", "libssl-dev", "jq"}));
  EXPECT_EQ(packages_for(plain, "dnf")->at(1), "python3-pip");
}

TEST(PackagesTest, AManagersOwnNamesAreTakenAsTheyAre) {
  const Recipe both = recipe_of_members(R"("dependencies": {"apk": ["py3-x"], "apt": ["python3-y"]})");
  EXPECT_EQ(*packages_for(both, "apt"), Texts{"python3-y"});
  EXPECT_EQ(*packages_for(both, "dnf"), Texts{"python3-x"});
  EXPECT_FALSE(packages_for(recipe_of_members(R"("dependencies": {"dnf": ["x"]})"), "apt"));
  EXPECT_TRUE(packages_for(recipe_of_members(R"("version": "1")"), "apt")->empty());
}

}  // namespace
}  // namespace hutch::plugin
