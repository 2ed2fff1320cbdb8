// Sealed files, their key, and the secrets in them.
#include "secret/secrets.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/directory_testing.h"
#include "secret/sealed_file.h"

namespace hutch::secret {
namespace {

const std::string kKey(kKeyBytes, 'k');

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(SealTest, OpensByItsKeyAndLabelAlone) {
  const auto sealed = seal("the value", kKey, "alice");
  ASSERT_TRUE(sealed);
  EXPECT_EQ(sealed->find("the value"), std::string::npos);
  EXPECT_EQ(open_sealed(*sealed, kKey, "alice").value_or(""), "the value");
  EXPECT_FALSE(open_sealed(*sealed, kKey, "bob"));
  EXPECT_FALSE(open_sealed(*sealed, std::string(kKeyBytes, 'x'), "alice"));
  EXPECT_NE(*seal("the value", kKey, "alice"), *sealed) << "a nonce is never used twice";
}

TEST(SealTest, EveryChangedOrMissingByteIsSeen) {
  const std::string sealed = *seal("the value", kKey, "alice");
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    std::string changed = sealed;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(open_sealed(changed, kKey, "alice")) << at;
    EXPECT_FALSE(open_sealed(sealed.substr(0, at), kKey, "alice")) << at;
  }
}

class SecretsTest : public ::testing::Test {
 protected:
  std::unique_ptr<Secrets> open() {
    return std::make_unique<Secrets>(sealed_files(directory_.path() + "/secrets", nullptr));
  }
  TestDirectory directory_{"secrets"};
};

TEST_F(SecretsTest, KeepsThemForEachAgentAcrossRestarts) {
  {
    const auto secrets = open();
    ASSERT_TRUE(secrets->set("alice", {.name = "TOKEN", .giving = Giving::kBridge, .hosts = {}, .value = "s3cret-1"}));
    ASSERT_TRUE(secrets->set("alice", {.name = "A", .giving = Giving::kBridge, .hosts = {}, .value = "x"}));
    ASSERT_TRUE(secrets->set("alice", {.name = "TOKEN", .giving = Giving::kBridge, .hosts = {}, .value = "s3cret-2"}));
  }
  const auto secrets = open();
  const auto all = secrets->of("alice");
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ((*all)[1].value, "s3cret-2");
  EXPECT_TRUE(secrets->of("bob")->empty());
  EXPECT_FALSE((*secrets->find("bob", "TOKEN")).has_value());
}

TEST_F(SecretsTest, NothingReadableIsOnDisk) {
  ASSERT_TRUE(open()->set("alice", {.name = "TOKEN", .giving = Giving::kBridge, .hosts = {}, .value = "s3cret-1"}));
  const std::string sealed = directory_.path() + "/secrets/alice.sealed";
  EXPECT_EQ(text_of(sealed).find("s3cret-1"), std::string::npos);
  EXPECT_EQ(text_of(sealed).find("TOKEN"), std::string::npos);
  for (const std::string& path : {sealed, directory_.path() + "/secrets/key"}) {
    struct stat found{};
    ASSERT_EQ(::stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0600U) << path;
  }
}

TEST_F(SecretsTest, AKeyThatOthersMayReadIsRefused) {
  ASSERT_TRUE(open()->set("alice", {.name = "A", .giving = Giving::kBridge, .hosts = {}, .value = "x"}));
  ASSERT_EQ(::chmod((directory_.path() + "/secrets/key").c_str(), 0644), 0);
  const auto read = open()->of("alice");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("chmod 600"), std::string::npos) << read.error().message;
}

TEST_F(SecretsTest, AnotherAgentsFileIsNotTaken) {
  ASSERT_TRUE(open()->set("alice", {.name = "A", .giving = Giving::kBridge, .hosts = {}, .value = "x"}));
  const std::string from = directory_.path() + "/secrets/alice.sealed";
  ASSERT_EQ(::link(from.c_str(), (directory_.path() + "/secrets/bob.sealed").c_str()), 0);
  EXPECT_FALSE(open()->of("bob"));
}

TEST_F(SecretsTest, RemovingAndForgetting) {
  const auto secrets = open();
  ASSERT_TRUE(secrets->set("alice", {.name = "A", .giving = Giving::kBridge, .hosts = {}, .value = "x"}));
  const std::uint64_t before = secrets->changes();
  EXPECT_TRUE(*secrets->remove("alice", "A"));
  EXPECT_NE(secrets->changes(), before);
  EXPECT_FALSE(*secrets->remove("alice", "A"));
  ASSERT_TRUE(secrets->set("alice", {.name = "A", .giving = Giving::kBridge, .hosts = {}, .value = "x"}));
  ASSERT_TRUE(secrets->forget("alice"));
  EXPECT_TRUE(open()->of("alice")->empty());
}

TEST_F(SecretsTest, WhatCannotBeWrittenIsNotThere) {
  const auto secrets = open();
  ASSERT_TRUE(secrets->set("alice", {.name = "A", .giving = Giving::kBridge, .hosts = {}, .value = "x"}));
  EXPECT_FALSE(secrets->set("alice", {.name = "PATH", .giving = Giving::kBridge, .hosts = {}, .value = "y"}));
  EXPECT_EQ(secrets->of("alice")->size(), 1U);
}

TEST_F(SecretsTest, ANewValueIsGivenAsTheOldOneWas) {
  const auto secrets = open();
  ASSERT_TRUE(secrets->set(
      "alice",
      {.name = "TOKEN", .giving = Giving::kPlaceholder, .hosts = {"api.example.com"}, .value = "0123456789abcdef"}));
  ASSERT_TRUE(secrets->set_value("alice", "TOKEN", "fedcba9876543210", 7));
  const auto kept = secrets->find("alice", "TOKEN").value();
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->value, "fedcba9876543210");
  EXPECT_EQ(kept->set_at, 7);
  EXPECT_EQ(kept->giving, Giving::kPlaceholder);
  EXPECT_EQ(kept->hosts, std::vector<std::string>{"api.example.com"});
  EXPECT_FALSE(secrets->set_value("alice", "TOKEN", "short", 8)) << "no placeholder could stand for it";
  ASSERT_TRUE(secrets->set_value("alice", "OTHER", "x", 9));
  EXPECT_EQ(secrets->find("alice", "OTHER").value()->giving, Giving::kBridge);
}

}  // namespace
}  // namespace hutch::secret
