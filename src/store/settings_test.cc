// What config.json may say, and how it is changed.
#include "store/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hutch::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kFile = "/c/config.json";

std::string complaint(std::string_view text) {
  const auto settings = parse_settings(text, kFile);
  return settings ? "" : settings.error().message;
}

TEST(Settings, NothingIsSet) {
  const auto settings = parse_settings("{}", kFile);
  ASSERT_TRUE(settings);
  EXPECT_FALSE(settings->daemon.idle);
  EXPECT_TRUE(settings->daemon.listen.empty());
  EXPECT_FALSE(settings->security.sandbox_only);
  EXPECT_EQ(settings->sandbox.network, Settings::Sandbox::Network::kGateway);
  AgentRecord record;
  record.name = "a";
  EXPECT_EQ(with_defaults(record, *settings), record);
}

TEST(Settings, EveryKey) {
  const auto settings = parse_settings(R"({
    "$schema": "x",
    "daemon": {"idle": "90s", "listen": "[::1]:80", "tokenFile": "/t", "maxConnections": 7, "maxUpload": "64m"},
    "sandbox": {"runtime": "docker", "image": "i", "network": "host",
                "defaults": {"timeout": 300, "memoryLimit": "512m", "cpuLimit": "1.0"}},
    "security": {"sandboxOnly": true, "askWithoutIsolation": true,
                 "allowedHosts": ["a.example", "*.b.example:443"], "maxConcurrentSandboxes": 3},
    "pool": {"warm": 0, "queue": 5, "wait": 6, "idle": 7},
    "inference": {"baseUrl": "http://127.0.0.1:11434/v1", "model": "m", "keySecret": "k"},
    "codeAgent": {"command": "c", "args": ["x", "y"], "env": {"A": "b"}}
  })",
                                       kFile);
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->daemon.idle, std::chrono::seconds(90));
  EXPECT_EQ(settings->daemon.listen, "[::1]:80");
  EXPECT_EQ(settings->daemon.token_file, "/t");
  EXPECT_EQ(settings->daemon.connections_max, 7);
  EXPECT_EQ(settings->daemon.upload_max, 64U << 20);
  EXPECT_EQ(settings->security.sandbox_only, true);
  EXPECT_TRUE(settings->security.asks_without_isolation);
  EXPECT_EQ(settings->sandbox.network, Settings::Sandbox::Network::kHost);
  EXPECT_THAT(settings->security.allowed_hosts, ElementsAre("a.example", "*.b.example:443"));
  EXPECT_EQ(settings->security.sandboxes_max, 3);
  EXPECT_EQ(settings->pool.warm, 0);
  EXPECT_EQ(settings->pool.queue, 5);
  EXPECT_EQ(settings->pool.wait, 6);
  EXPECT_EQ(settings->pool.idle, 7);
  EXPECT_EQ(settings->inference.base_url, "http://127.0.0.1:11434/v1");
  EXPECT_EQ(settings->inference.key_secret, "k");
  AgentRecord record;
  record.name = "a";
  record = with_defaults(record, *settings);
  EXPECT_EQ(record.name, "a");
  EXPECT_EQ(record.backend, "container");
  EXPECT_EQ(record.image, "i");
  EXPECT_EQ(record.limits.memory, "512M");
  EXPECT_EQ(record.limits.cpus, "1.0");
  EXPECT_EQ(record.autonomous_exec.command_timeout, 300);
  EXPECT_THAT(record.code_agent.arguments, ElementsAre("x", "y"));
  EXPECT_THAT(record.code_agent.environment, ElementsAre(std::pair<std::string, std::string>("A", "b")));
  // Of another backend than namespace "auto" says nothing.
  Settings automatic = *settings;
  automatic.sandbox.image = "auto";
  EXPECT_EQ(with_defaults(AgentRecord(), automatic).image, "");
  automatic.sandbox.backend = "";
  EXPECT_EQ(with_defaults(AgentRecord(), automatic).image, "auto");
  // What was made of it can be stored.
  EXPECT_TRUE(parse_agent(format_agent(record)));
}

TEST(Settings, NeverIsNoTime) {
  EXPECT_EQ(parse_settings(R"({"daemon":{"idle":"never"}})", kFile)->daemon.idle, std::chrono::milliseconds(0));
}

TEST(Settings, ErrorsNameTheLine) {
  EXPECT_EQ(complaint("{\n \"daemon\": {\n  \"idel\": \"1m\"\n }\n}"),
            "/c/config.json: line 3: daemon.idel: unknown key; did you mean daemon.idle?");
  EXPECT_EQ(complaint("{\n \"security\": {\n\n  \"sandboxOnly\": 1}}"),
            "/c/config.json: line 4: security.sandboxOnly: must be true or false");
  EXPECT_THAT(complaint(R"({"memoryLimit": "1m"})"), HasSubstr("did you mean sandbox.defaults.memoryLimit?"));
  EXPECT_THAT(complaint(R"({"sandbox": {"codeAgent": {}}})"), HasSubstr("write codeAgent"));
  EXPECT_THAT(complaint(R"({"daemon.idle": "1m"})"), HasSubstr("unknown key"));
  EXPECT_THAT(complaint("{\"daemon\": {},\n\"daemon\": {}}"), HasSubstr("written twice"));
  EXPECT_THAT(complaint("{\n,}"), HasSubstr("line 2"));
  EXPECT_THAT(complaint("[]"), HasSubstr("must be an object"));
}

TEST(Settings, ValuesOfAnotherKind) {
  for (const std::string_view wrong : {R"({"daemon": 1})",
                                       R"({"daemon": null})",
                                       R"({"daemon": {"idle": 5}})",
                                       R"({"daemon": {"idle": "soon"}})",
                                       R"({"daemon": {"listen": "8642"}})",
                                       R"({"daemon": {"listen": "example.org:80"}})",
                                       R"({"daemon": {"listen": "127.0.0.1:"}})",
                                       R"({"daemon": {"listen": "127.0.0.1:70000"}})",
                                       R"({"daemon": {"tokenFile": "t"}})",
                                       R"({"daemon": {"maxConnections": 0}})",
                                       R"({"daemon": {"maxConnections": 1025}})",
                                       R"({"daemon": {"maxConnections": 2.5}})",
                                       R"({"sandbox": {"runtime": "chroot"}})",
                                       R"({"sandbox": {"image": 1}})",
                                       R"({"sandbox": {"defaults": {"timeout": 0}}})",
                                       R"({"sandbox": {"defaults": {"memoryLimit": "0m"}}})",
                                       R"({"sandbox": {"defaults": {"memoryLimit": true}}})",
                                       R"({"sandbox": {"defaults": {"cpuLimit": "1.5abc"}}})",
                                       R"({"sandbox": {"defaults": {"cpuLimit": "-1"}}})",
                                       R"({"security": {"allowedHosts": "a.example"}})",
                                       R"({"security": {"allowedHosts": ["*.com"]}})",
                                       R"({"security": {"allowedHosts": [1]}})",
                                       R"({"security": {"maxConcurrentSandboxes": 0}})",
                                       R"({"pool": {"warm": -1}})",
                                       R"({"pool": {"wait": "30s"}})",
                                       R"({"inference": {"baseUrl": "ftp://x"}})",
                                       R"({"inference": {"baseUrl": "http://"}})",
                                       R"({"codeAgent": {"args": "x"}})",
                                       R"({"codeAgent": {"env": {"A": 1}}})",
                                       R"({"codeAgent": {"command": "a\u0000b"}})"}) {
    EXPECT_NE(complaint(wrong), "") << wrong;
  }
}

TEST(Settings, AKeyIsSetAndGoes) {
  const auto set = edited_settings("{\"inference\": {\"model\": \"m\"}}", kFile, {"daemon.idle", "5m"});
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(parse_settings(*set, kFile)->daemon.idle, std::chrono::minutes(5));
  EXPECT_EQ(parse_settings(*set, kFile)->inference.model, "m");
  EXPECT_EQ(*setting_at(*set, kFile, "daemon.idle"), "\"5m\"");
  const auto removed = edited_settings(*set, kFile, {"daemon.idle", std::nullopt});
  ASSERT_TRUE(removed);
  EXPECT_EQ(*setting_at(*removed, kFile, "daemon.idle"), std::nullopt);
  EXPECT_EQ(edited_settings(*removed, kFile, {"daemon.idle", std::nullopt}).error().code, Code::kNotFound);
  EXPECT_TRUE(edited_settings(*set, kFile, {"daemon", std::nullopt})) << "a section goes whole";
}

TEST(Settings, WhatIsTypedIsOfTheKeysType) {
  EXPECT_TRUE(edited_settings("{}", kFile, {"security.sandboxOnly", "true"}));
  EXPECT_TRUE(edited_settings("{}", kFile, {"codeAgent.args", R"(["a b"])"}));
  EXPECT_TRUE(edited_settings("{}", kFile, {"inference.model", "true"})) << "text may look like anything";
  for (const SettingEdit& wrong : std::vector<SettingEdit>{{"security.sandboxOnly", "yes"},
                                                           {"daemon.maxConnections", "many"},
                                                           {"codeAgent.args", "a"},
                                                           {"daemon", "{}"},
                                                           {"daemon.none", "1"},
                                                           {"inference.model", "\xff"}}) {
    EXPECT_FALSE(edited_settings("{}", kFile, wrong)) << wrong.key;
  }
  EXPECT_THAT(edited_settings("{\n\"x\": 1}", kFile, {"daemon.idle", "5m"}).error().message, HasSubstr("line 2"));
}

TEST(Settings, EveryKeyIsInTheSchema) {
  const std::string schema = settings_schema();
  for (const SettingText& key : setting_texts()) {
    const std::string own(key.name.substr(key.name.rfind('.') + 1));
    EXPECT_THAT(schema, HasSubstr("\"" + own + "\": {")) << key.name;
  }
}

}  // namespace
}  // namespace hutch::store
