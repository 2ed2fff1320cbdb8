// What a secret may be called and hold, and the text that they are kept as.
#include "secret/secret.h"

#include <gtest/gtest.h>

namespace hutch::secret {
namespace {

TEST(SecretNameTest, ReservedOnesAreRefused) {
  for (const char* name : {"PATH",
                           "path",
                           "LD_PRELOAD",
                           "ld_library_path",
                           "LD_X",
                           "HOME",
                           "BASH_ENV",
                           "IFS",
                           "PS4",
                           "HUTCH_BRIDGE",
                           "OSAURUS_PLUGIN",
                           "PARAM_FILE",
                           "DYLD_INSERT_LIBRARIES",
                           "VIRTUAL_ENV",
                           "PYTHONSTARTUP",
                           "NODE_OPTIONS",
                           "GIT_CONFIG_COUNT",
                           "BASH_FUNC_x",
                           "SSH_ASKPASS",
                           "USER"}) {
    EXPECT_FALSE(check_name(name)) << name;
  }
}

TEST(SecretNameTest, WhatIsNoVariableIsRefused) {
  for (const char* name : {"", "1A", "A-B", "A B", "A=B", "../x", "A\n", "ÄÖ", "A.B"}) {
    EXPECT_FALSE(check_name(name)) << name;
  }
  EXPECT_FALSE(check_name(std::string(65, 'A')));
  EXPECT_TRUE(check_name(std::string(64, 'A')));
  for (const char* name : {"OPENAI_API_KEY", "_x", "token2", "PATHS", "GITHUB_TOKEN", "ENVOY"}) {
    EXPECT_TRUE(check_name(name)) << name;
  }
}

TEST(SecretTest, HostsBecomeCanonicalAndAreNames) {
  const auto made = settled({.name = "A",
                             .giving = Giving::kPlaceholder,
                             .hosts = {"API.Example.com.", "a.example.com", "api.example.com"},
                             .value = "0123456789abcdef"});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->hosts, (std::vector<std::string>{"a.example.com", "api.example.com"}));
  EXPECT_FALSE(settled({.name = "A", .giving = Giving::kPlaceholder, .hosts = {"127.0.0.1"}, .value = "v"}));
  EXPECT_FALSE(settled({.name = "A", .giving = Giving::kPlaceholder, .hosts = {"2130706433"}, .value = "v"}));
  EXPECT_FALSE(settled({.name = "A", .giving = Giving::kPlaceholder, .hosts = {"*.example.com"}, .value = "v"}));
}

TEST(SecretTest, APlaceholderNeedsAHostAndOneLine) {
  EXPECT_FALSE(settled({.name = "A", .giving = Giving::kPlaceholder, .hosts = {}, .value = "v"}));
  EXPECT_FALSE(
      settled({.name = "A", .giving = Giving::kPlaceholder, .hosts = {"a.b"}, .value = "0123456789abcdef\r\nX: y"}));
  EXPECT_FALSE(settled({.name = "A", .giving = Giving::kPlaceholder, .hosts = {"a.b"}, .value = "too-short"}));
  EXPECT_TRUE(settled({.name = "A", .giving = Giving::kBridge, .hosts = {}, .value = "two\nlines"}));
}

TEST(SecretTest, ValuesAreBoundedText) {
  EXPECT_FALSE(check_value(""));
  EXPECT_FALSE(check_value(std::string("a\0b", 3)));
  EXPECT_FALSE(check_value("\xff"));
  EXPECT_TRUE(check_value(std::string(kValueBytesMax, 'x')));
  EXPECT_FALSE(check_value(std::string(kValueBytesMax + 1, 'x')));
}

TEST(SecretTextTest, ComesBackAsItWas) {
  const std::vector<Secret> secrets = {
      {.name = "A", .giving = Giving::kEnvironment, .hosts = {}, .value = "\"x\"\n", .set_at = 5},
      {.name = "B", .giving = Giving::kPlaceholder, .hosts = {"a.b"}, .value = "0123456789abcdef", .set_at = 6}};
  const auto read = parse_secrets(format_secrets(secrets));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, secrets);
}

TEST(SecretTextTest, AnythingElseIsAnError) {
  for (const char* text :
       {"", "{}", "[]", R"({"version":2,"secrets":[]})", R"({"version":1,"secrets":[{}]})",
        R"({"version":1,"secrets":[],"x":1})",
        R"({"version":1,"secrets":[{"name":"A-B","giving":"bridge","hosts":[],"value":"eA==","setAt":1}]})",
        R"({"version":1,"secrets":[{"name":"A","giving":"bridge","hosts":[],"value":"!","setAt":1}]})",
        R"({"version":1,"secrets":[{"name":"A","giving":"sms","hosts":[],"value":"eA==","setAt":1}]})"}) {
    EXPECT_FALSE(parse_secrets(text)) << text;
  }
}

// Or else a name that is refused from some version on would take all others with it.
TEST(SecretTextTest, WhatWasKeptUnderANameThatIsRefusedByNowIsStillThere) {
  const auto read = parse_secrets(
      R"({"version":1,"secrets":[{"name":"PATH","giving":"bridge","hosts":[],"value":"eA==","setAt":1}]})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->front().name, "PATH");
  EXPECT_FALSE(settled(read->front()));
}

}  // namespace
}  // namespace hutch::secret
