// Tests of the policy reader: what it takes, and what it says of what it does not take.
#include "policy/document/reader.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "policy/keys.h"

namespace hutch::policy {
namespace {

std::string error_of(std::string_view text) {
  const auto policy = read_policy(text, "p.json");
  return policy ? "no error" : policy.error().message;
}

TEST(ReaderTest, SrtSettings) {
  const auto policy = read_policy(R"({
    "network": {"allowedDomains": ["example.com", "*.npmjs.org:443"], "deniedDomains": ["*"]},
    "filesystem": {"denyRead": ["~/.ssh", {"path": "a*b", "literal": true}, {"path": "c*"}],
                   "allowWrite": ["."], "denyWrite": [], "allowGitConfig": true},
    "mandatoryDenySearchDepth": 5, "enableWeakerNestedSandbox": false, "enabled": true})",
                                  "p.json");
  ASSERT_TRUE(policy.has_value()) << policy.error().message;
  EXPECT_EQ(policy->source, "p.json");
  EXPECT_EQ(policy->network.allowed_domains.size(), 2U);
  EXPECT_EQ(policy->network.denied_domains, std::vector<std::string>{"*"});
  EXPECT_EQ(policy->filesystem.deny_read,
            (std::vector<PathEntry>{
                {"~/.ssh", EntryForm::kPattern}, {"a*b", EntryForm::kLiteral}, {"c*", EntryForm::kPattern}}));
  EXPECT_EQ(policy->filesystem.git_config, GitConfig::kWritable);
  EXPECT_EQ(policy->mandatory_search_depth, 5);
  EXPECT_TRUE(policy->notes.empty());
}

TEST(ReaderTest, OwnKeys) {
  const auto policy = read_policy(R"({
    "backend": "bwrap", "network": "none", "enabled": false,
    "limits": {"timeout": "30s", "idleTimeout": 10, "memory": "512M", "cpus": 1.5, "pids": 512, "tmpSize": "1G",
               "disk": "2G", "outputBytes": 1048576},
    "environment": {"CI": "1", "SSH_TTY": true},
    "ask": {"connect": "deny", "timeout": "2m"}, "secrets": [], "mounts": [], "image": ""})",
                                  "p.json");
  ASSERT_TRUE(policy.has_value()) << policy.error().message;
  EXPECT_EQ(policy->backend, "bwrap");
  EXPECT_EQ(policy->network.mode, NetworkMode::kNone);
  EXPECT_EQ(policy->enabled, Switch::kDisabled);
  EXPECT_EQ(policy->limits.timeout, std::chrono::seconds(30));
  EXPECT_EQ(policy->limits.idle_timeout, std::chrono::seconds(10));
  EXPECT_EQ(policy->limits.memory_bytes, 512ULL << 20);
  EXPECT_EQ(policy->limits.cpu_millis, 1500U);
  EXPECT_EQ(policy->limits.pids, 512U);
  EXPECT_EQ(policy->limits.tmp_bytes, 1ULL << 30);
  EXPECT_EQ(policy->limits.disk_bytes, 2ULL << 30);
  EXPECT_EQ(policy->limits.output_bytes, 1048576U);
  EXPECT_EQ(policy->network.connect_questions, Asking::kNever);
  EXPECT_EQ(policy->ask_timeout, std::chrono::minutes(2));
  ASSERT_EQ(policy->environment.size(), 2U);
  EXPECT_EQ(policy->environment[0].value, "1");
  EXPECT_FALSE(policy->environment[1].value.has_value());
}

TEST(ReaderTest, UnknownKeysNameTheNearest) {
  EXPECT_EQ(error_of(R"({"filesystem": {"denyRaed": []}})"),
            "p.json: filesystem.denyRaed: unknown key; did you mean denyRead?");
  EXPECT_EQ(error_of(R"({"filesytem": {}})"), "p.json: filesytem: unknown key; did you mean filesystem?");
  EXPECT_EQ(error_of(R"({"limits": {"timeuot": 1}})"), "p.json: limits.timeuot: unknown key; did you mean timeout?");
  EXPECT_EQ(error_of(R"({"denyRead": []})"), "p.json: denyRead: unknown key; did you mean filesystem.denyRead?");
  EXPECT_NE(error_of(R"({"ask": {"zzzzzzzzzz": 1}})").find("known ones here are read, write, connect, socket, timeout"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"filesystem.denyRead": []})").find("unknown key"), std::string::npos);
}

TEST(ReaderTest, Types) {
  EXPECT_EQ(error_of(R"({"filesystem": {"denyRead": "/x"}})"),
            "p.json: filesystem.denyRead: must be a list of paths, not \"/x\"");
  EXPECT_EQ(error_of(R"({"filesystem": {"denyRead": [1]}})"),
            "p.json: filesystem.denyRead[0]: must be a string or {\"path\": ..., \"literal\": true}");
  EXPECT_NE(error_of(R"({"filesystem": {"denyRead": [{"literal": true}]}})").find("\"path\" is missing"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"filesystem": {"denyRead": [{"path": "x", "ask": false}]}})").find("denyRead[0].ask"),
            std::string::npos);
  EXPECT_EQ(error_of(R"({"network": "rules"})"),
            "p.json: network: must be an object, a list of domain names, \"none\", \"outbound\" or \"host\", not "
            "\"rules\"");
  EXPECT_EQ(error_of(R"({"network": [1]})"), "p.json: network[0]: must be a string");
  EXPECT_NE(error_of(R"({"enabled": 1})").find("enabled: must be true or false, not number"), std::string::npos);
  EXPECT_NE(error_of(R"({"mandatoryDenySearchDepth": 11})").find("between 1 and 10"), std::string::npos);
  EXPECT_NE(error_of(R"({"mandatoryDenySearchDepth": 18446744073709551615})").find("between 1 and 10"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"limits": {"pids": 0}})").find("limits.pids: must be between 1"), std::string::npos);
  EXPECT_NE(error_of(R"({"limits": {"memory": "lots"}})").find("limits.memory: \"lots\" is not a size"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"limits": {"memory": -1}})").find("must be more than 0"), std::string::npos);
  EXPECT_NE(error_of(R"({"limits": {"timeout": 1e300}})").find("must be more than 0"), std::string::npos);
  EXPECT_NE(error_of(R"({"environment": {"A": 1}})").find("environment.A: must be a string"), std::string::npos);
  EXPECT_NE(error_of(R"({"environment": {"A": false}})").find("environment.A: must be a string"), std::string::npos);
  EXPECT_NE(error_of(R"({"ask": {"read": "maybe"}})").find("ask.read: must be \"ask\" or \"deny\""), std::string::npos);
  EXPECT_NE(error_of(R"({"network": {"allowedDomains": ["*"]}})").find("network.allowedDomains[0]: \"*\": would allow"),
            std::string::npos);
  EXPECT_NE(error_of("[]").find("must be an object"), std::string::npos);
}

TEST(ReaderTest, Syntax) {
  EXPECT_EQ(error_of(""), "p.json: empty");
  EXPECT_EQ(error_of(" \n"), "p.json: empty");
  EXPECT_EQ(error_of("{\n  \"enabled\": tru\n}"), "p.json: line 2, column 17: not JSON");
  EXPECT_NE(error_of(R"({"enabled": true} x)").find("not JSON"), std::string::npos);
  EXPECT_NE(error_of(R"({"enabled": true,})").find("not JSON"), std::string::npos);
  EXPECT_NE(error_of("{\"a\": \"\xff\"}").find("not JSON"), std::string::npos);
  EXPECT_NE(error_of(std::string("{}\0{\"enabled\": 1}", 17)).find("NUL"), std::string::npos);
  EXPECT_EQ(error_of(R"({"enabled": true, "enabled": false})"), "p.json: the key \"enabled\" is written twice");
  EXPECT_EQ(error_of(R"({"enabled": true, "en\u0061bled": false})"), "p.json: the key \"enabled\" is written twice");
}

TEST(ReaderTest, DepthAndSize) {
  const auto nested = [](std::size_t depth) {
    return "{\"windows\": " + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_EQ(error_of(nested(63)), "no error");
  EXPECT_EQ(error_of(nested(64)), "p.json: nested deeper than 64");
  EXPECT_EQ(error_of(nested(200'000)), "p.json: nested deeper than 64");
  EXPECT_EQ(error_of("{}" + std::string(1 << 20, ' ')), "p.json: larger than 1048576 bytes");
}

TEST(ReaderTest, KeysWithoutMeaningAreNoted) {
  const auto policy = read_policy(R"({"allowPty": true, "ripgrep": {"command": "rg"}, "windows": {"a": {"b": 1}},
    "network": {"allowMachLookup": ["x"], "httpProxyPort": 3128, "mitmProxy": {"socketPath": "/x", "domains": []}},
    "allowNestedUserNamespaces": true})",
                                  "p.json");
  ASSERT_TRUE(policy.has_value()) << policy.error().message;
  EXPECT_EQ(policy->notes.size(), 7U);
  const auto noted = [&](std::string_view key) {
    return std::ranges::any_of(policy->notes, [&](const std::string& note) { return note.starts_with(key); });
  };
  EXPECT_TRUE(noted("allowPty has no effect: "));
  EXPECT_TRUE(noted("network.httpProxyPort has no effect: "));
}

TEST(ReaderTest, WhatWeakensIsRefused) {
  EXPECT_NE(error_of(R"({"enableWeakerNestedSandbox": true})").find("p.json: enableWeakerNestedSandbox: would"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"network": {"allowAllUnixSockets": true}})").find("network.allowAllUnixSockets: would"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"filesystem": {"disabled": true}})").find("filesystem.disabled: would"), std::string::npos);
  EXPECT_NE(
      error_of(R"({"credentials": {"files": [{"path": "~/.netrc", "mode": "deny"}]}})").find("credentials: is done"),
      std::string::npos);
  EXPECT_NE(error_of(R"({"image": "debian"})").find("image: needs"), std::string::npos);
  EXPECT_NE(error_of(R"({"network": {"refuseOpaqueTunnels": true}})").find("network.refuseOpaqueTunnels: cannot"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"network": {"filterRequest": "x"}})").find("network.filterRequest: is"), std::string::npos);
}

// Each key of the table is known to the reader, with the type that the table gives it and no other.
TEST(ReaderTest, EveryKeyOfTheTableIsRead) {
  for (const Key& key : all_keys()) {
    const std::string name(key.name);
    const auto wrap = [&](std::string value) {
      const auto parts = split(name, '.');
      for (auto part = parts.rbegin(); part != parts.rend(); ++part) value = cat({"{\"", *part, "\": ", value, "}"});
      return value;
    };
    EXPECT_EQ(error_of(wrap("null")).find("unknown key"), std::string::npos) << name;
    if (key.type != KeyType::kAny) {
      EXPECT_NE(error_of(wrap("null")), "no error") << name;
    }
    EXPECT_FALSE(key.text.empty()) << name;
    EXPECT_EQ(find_key(name), &key) << name << " is in the table twice";
  }
}

TEST(ReaderTest, Projects) {
  const std::string text = R"({
    "/code": {"filesystem": {"denyRead": ["a"]}},
    "/code/foo": {"filesystem": {"denyRead": ["b"]}},
    "/code/foo/": {"filesystem": {"denyRead": ["c"]}},
    "/broken": {"unknown": 1}})";
  const auto at = [&](std::string_view directory) { return read_project(text, "projects.json", directory); };
  EXPECT_EQ(at("/code/foo/sub").value()->filesystem.deny_read.front().text, "b");
  EXPECT_EQ(at("/code/foo").value()->project, "/code/foo");
  EXPECT_EQ(at("/code/foobar").value()->filesystem.deny_read.front().text, "a") << "by component, not by letter";
  EXPECT_EQ(at("/code/foo").value()->filesystem.deny_read.size(), 1U) << "nothing is merged";
  EXPECT_FALSE(at("/elsewhere").value().has_value());
  EXPECT_TRUE(at("/broken/x").error().message.starts_with("projects.json \"/broken\": unknown: unknown key; "));
}

TEST(ReaderTest, ProjectsWrong) {
  EXPECT_FALSE(read_project(R"({"relative": {}})", "projects.json", "/x").has_value());
  EXPECT_FALSE(read_project(R"({"/a/../b": {}})", "projects.json", "/x").has_value());
  EXPECT_FALSE(read_project(R"({"/x": []})", "projects.json", "/x").has_value());
  EXPECT_FALSE(read_project("[]", "projects.json", "/x").has_value());
  EXPECT_TRUE(read_project(R"({"/": {}})", "projects.json", "/x").value().has_value());
}

}  // namespace
}  // namespace hutch::policy
