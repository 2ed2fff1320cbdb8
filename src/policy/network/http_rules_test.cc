// Paths in their normal form, and which requests a host's rules let through.
#include <gtest/gtest.h>

#include "policy/network/rules.h"

namespace hutch::policy {
namespace {

struct Normal {
  const char* target;
  const char* normal;  // null: refused
};

class NormalTarget : public testing::TestWithParam<Normal> {};

TEST_P(NormalTarget, IsWhatEveryServerReads) {
  const std::optional<std::string> normal = normal_target(GetParam().target);
  if (GetParam().normal == nullptr) {
    EXPECT_FALSE(normal) << *normal;
  } else {
    ASSERT_TRUE(normal);
    EXPECT_EQ(*normal, GetParam().normal);
    EXPECT_EQ(normal_target(*normal), normal);  // once is enough
  }
}

INSTANTIATE_TEST_SUITE_P(
    Paths, NormalTarget,
    testing::Values(
        Normal{"/", "/"}, Normal{"/a/b", "/a/b"}, Normal{"/a/b/", "/a/b/"}, Normal{"/a?x=/../%2f", "/a?x=/../%2f"},
        Normal{"/%61%7Eb", "/a~b"}, Normal{"/a%20b", "/a%20b"}, Normal{"/a%3ab", "/a%3Ab"}, Normal{"/a/./b", "/a/b"},
        Normal{"/a/../b", "/b"}, Normal{"/a/..", "/"}, Normal{"/a/b/.", "/a/b/"}, Normal{"/a.b/...", "/a.b/..."},
        Normal{"/50%25", "/50%25"}, Normal{"/..", nullptr}, Normal{"/a/../../b", nullptr}, Normal{"/a%2fb", nullptr},
        Normal{"/a%2Fb", nullptr}, Normal{"/a%5cb", nullptr}, Normal{"/a\\b", nullptr}, Normal{"/%2e%2e/b", nullptr},
        Normal{"/a/.%2e/b", nullptr}, Normal{"/a/%2e", nullptr}, Normal{"/%252e%252e/b", nullptr},
        Normal{"/%25%32%66b", nullptr}, Normal{"/%25%66f", nullptr}, Normal{"/a%00", nullptr},
        Normal{"/a%0d%0aX", nullptr}, Normal{"/a%7f", nullptr}, Normal{"/a%", nullptr}, Normal{"/a%2", nullptr},
        Normal{"/a%zz", nullptr}, Normal{"//a", nullptr}, Normal{"/a//b", nullptr}, Normal{"/a/..;/b", nullptr},
        Normal{"/a/..%3b/b", nullptr}, Normal{"/a/.;x/b", nullptr}, Normal{"/a;x=1/b", "/a;x=1/b"},
        Normal{"/a b", nullptr}, Normal{"/a#b", nullptr}, Normal{"/a?b#c", nullptr}, Normal{"/\xc3\xa9", nullptr},
        Normal{"/%C3%A9", "/%C3%A9"}, Normal{"/%c0%ae%c0%ae/b", nullptr}, Normal{"/a/%C0%AF", nullptr},
        Normal{"/%e0%80%ae/b", nullptr}, Normal{"/%f0%80%80%ae", nullptr}, Normal{"/%c1%9c", nullptr},
        Normal{"/%ef%bc%8e%ef%bc%8e/b", nullptr}, Normal{"/a%ef%bc%8fb", nullptr}, Normal{"/%E2%80%A5/b", nullptr},
        Normal{"/%E0%A4%A8", "/%E0%A4%A8"}, Normal{"/%F0%9F%98%80", "/%F0%9F%98%80"}, Normal{"a", nullptr},
        Normal{"", nullptr}, Normal{"*", nullptr}, Normal{"http://x/a", nullptr}));

HttpRule http_rule(std::vector<std::string> methods, std::vector<std::string> paths) {
  HttpRule made;
  made.host = "example.com";
  made.methods = std::move(methods);
  made.paths = std::move(paths);
  return made;
}

TEST(DecideRequest, WithoutRulesEverythingIsAllowed) {
  const RequestDecision decision = decide_request({}, "DELETE", "/a%2fb");
  EXPECT_TRUE(decision.allowed);
  EXPECT_EQ(decision.rule, nullptr);
}

TEST(DecideRequest, TheFirstRuleThatMatchesAllows) {
  const std::vector<HttpRule> rules = {http_rule({"GET"}, {"/repos/**"}), http_rule({"POST"}, {"/gists"}),
                                       http_rule({}, {"/open/*"})};
  EXPECT_EQ(decide_request(rules, "GET", "/repos/a/b?c").rule, &rules[0]);
  EXPECT_EQ(decide_request(rules, "POST", "/gists").rule, &rules[1]);
  EXPECT_EQ(decide_request(rules, "DELETE", "/open/x").rule, &rules[2]);
  EXPECT_FALSE(decide_request(rules, "GET", "/user").allowed);
  EXPECT_FALSE(decide_request(rules, "POST", "/repos/a").allowed);
  EXPECT_FALSE(decide_request(rules, "get", "/repos/a").allowed);
  EXPECT_FALSE(decide_request(rules, "DELETE", "/open/x/y").allowed);
}

TEST(DecideRequest, APathCannotBeWrittenRoundARule) {
  const std::vector<HttpRule> rules = {http_rule({}, {"/public/**"})};
  for (const char* target : {"/public/../private", "/public/%2e%2e/private", "/public/..%2fprivate", "/public//../x",
                             "/public/%c0%ae%c0%ae/private", "/public/%ef%bc%8e%ef%bc%8e/private",
                             "/public/..;/private", "/public/%252e%252e/private", "/public\\..\\private"}) {
    EXPECT_FALSE(decide_request(rules, "GET", target).allowed) << target;
  }
  EXPECT_TRUE(decide_request(rules, "GET", "/private/../public/x").allowed);
}

TEST(DecideRequest, ARuleWithoutPathsTakesAnyPath) {
  const std::vector<HttpRule> rules = {http_rule({"GET"}, {})};
  EXPECT_TRUE(decide_request(rules, "GET", "/@scope%2fname").allowed);
  EXPECT_FALSE(decide_request(rules, "PUT", "/@scope%2fname").allowed);
}

TEST(HttpRulesFor, AreThoseOfTheHostAndPort) {
  Network network;
  network.rules = {http_rule({"GET"}, {}), http_rule({}, {}), http_rule({}, {})};
  network.rules[1].host = "*.example.com";
  network.rules[2].host = "example.com:8443";
  EXPECT_EQ(http_rules_for(network, Host{"example.com", std::nullopt}, 443).size(), 1u);
  EXPECT_EQ(http_rules_for(network, Host{"example.com", std::nullopt}, 8443).size(), 2u);
  EXPECT_EQ(http_rules_for(network, Host{"a.example.com", std::nullopt}, 443).size(), 1u);
  EXPECT_TRUE(http_rules_for(network, Host{"example.org", std::nullopt}, 443).empty());
}

}  // namespace
}  // namespace hutch::policy
