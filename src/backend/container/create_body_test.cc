// A plan as an engine is asked to make it.
#include "backend/container/create_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/text.h"
#include "plan/trust.h"

namespace hutch::backend::container {
namespace {

using Json = nlohmann::json;
using plan::Access;
using plan::MountKind;
using plan::MountStep;
using testing::HasSubstr;

plan::SandboxPlan agents_plan() {
  plan::SandboxPlan plan;
  plan.uid = 1000;
  plan.gid = 100;
  plan.network = plan::NetworkKind::kGateway;
  plan.limits = {.memory_bytes = 512U << 20, .pids = 64, .cpu_millis = 1500};
  const auto step = [&](MountKind kind, const char* target, const char* source = "") -> MountStep& {
    plan.mounts.push_back({.kind = kind, .target = target, .source = source});
    return plan.mounts.back();
  };
  step(MountKind::kEngineRoot, "/", "debian:12");
  step(MountKind::kAccount, "/etc/passwd", "agent-a:x:1000:100::/workspace/agents/a:/bin/sh");
  step(MountKind::kTmpfs, "/tmp").mode = 01777;
  plan.mounts.back().size_bytes = 4096;
  step(MountKind::kTmpfs, "/dev/shm").size_bytes = 65536;
  step(MountKind::kDirectory, "/workspace");
  step(MountKind::kBind, "/workspace/agents/a", "/data/a").access = Access::kReadWrite;
  step(MountKind::kBind, "/srv/read", "/srv/read");
  step(MountKind::kHideFile, "/workspace/agents/a/.env");
  step(MountKind::kTmpfs, "/workspace/agents/a/.git/hooks").mode = 0111;
  step(MountKind::kSeal, "/workspace/agents/a/.git/hooks");
  step(MountKind::kTmpfs, "/run/hutch");
  step(MountKind::kFile, "/run/hutch/ca.pem");
  step(MountKind::kSeal, "/run/hutch");
  return plan;
}

CreateSettings settings(std::string engine = "docker") {
  return {std::move(engine),
          "/run/engine.sock",
          "/usr/lib/hutch/hutch-guest",
          "/data/c/place",
          "/data/c/hidden",
          20000,
          4096,
          "1000:/data"};
}

TEST(CreateBody, OfAnAgentIsAsItWas) {
  const auto body = create_body(agents_plan(), settings());
  ASSERT_TRUE(body) << body.error().message;
  std::ifstream file(std::string(HUTCH_SOURCE_DIR) + "/src/backend/container/golden/agent.json");
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(Json::parse(*body).dump(2) + "\n", golden.str());
}

TEST(CreateBody, GivesNoMoreThanIsNeeded) {
  plan::SandboxPlan plan = agents_plan();
  plan.network = plan::NetworkKind::kNone;
  plan.limits = {};
  const Json host = Json::parse(*create_body(plan, settings()))["HostConfig"];
  EXPECT_EQ(host["CapDrop"], Json::array({"ALL"}));
  for (const auto& capability : host["CapAdd"]) EXPECT_FALSE(capability.get<std::string>().starts_with("NET_"));
  EXPECT_FALSE(host.contains("PidsLimit"));
  plan.limits.processes = 512;
  EXPECT_EQ(Json::parse(*create_body(plan, settings()))["HostConfig"]["PidsLimit"], 512);
  EXPECT_FALSE(host.contains("Memory"));
  EXPECT_EQ(host["NetworkMode"], "none");
  EXPECT_EQ(host["CapAdd"].size(), 6U);
  plan.rights = plan::Rights::kImageRoot;
  const Json installs = Json::parse(*create_body(plan, settings()))["HostConfig"]["CapAdd"];
  EXPECT_EQ(installs,
            Json::array({"CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETPCAP", "SETUID", "FSETID", "KILL"}));
}

// What the guest could do to that network, it would do to the machine's.
TEST(CreateBody, GivesNothingOfTheHostsNetworkToChange) {
  plan::SandboxPlan plan = agents_plan();
  plan.network = plan::NetworkKind::kHost;
  const Json host = Json::parse(*create_body(plan, settings()))["HostConfig"];
  EXPECT_EQ(host["NetworkMode"], "host");
  EXPECT_FALSE(host.contains("Sysctls"));
  for (const auto& capability : host["CapAdd"]) EXPECT_FALSE(capability.get<std::string>().starts_with("NET_"));
}

TEST(CreateBody, TakesWhatMakesProgramsTrustTheGateway) {
  plan::SandboxPlan plan = agents_plan();
  const std::string directory(plan::kTrustDirectory);
  plan.mounts.push_back({.kind = MountKind::kTmpfs, .target = directory});
  plan.mounts.push_back({.kind = MountKind::kFile, .target = std::string(plan::kBundleFile)});
  plan.mounts.push_back({.kind = MountKind::kSeal, .target = directory});
  const auto body = create_body(plan, settings());
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_TRUE(Json::parse(*body)["HostConfig"]["Tmpfs"].contains(directory));
}

TEST(CreateBody, LimitsTheDiskWhereThatIsAsked) {
  plan::SandboxPlan plan = agents_plan();
  EXPECT_FALSE(Json::parse(*create_body(plan, settings()))["HostConfig"].contains("StorageOpt"));
  plan.limits.disk_bytes = 1ULL << 30;
  EXPECT_EQ(Json::parse(*create_body(plan, settings()))["HostConfig"]["StorageOpt"], Json({{"size", "1073741824"}}));
}

TEST(CreateBody, NeverShowsAnEnginesSocket) {
  for (const char* source : {"/run/engine.sock", "/run", "/run/docker.sock", "/", "/run/podman"}) {
    plan::SandboxPlan plan = agents_plan();
    plan.mounts.push_back({.kind = MountKind::kBind, .target = "/x", .source = source});
    const auto body = create_body(plan, settings());
    ASSERT_FALSE(body) << source;
    EXPECT_EQ(body.error().code, Code::kPermissionDenied);
    EXPECT_THAT(body.error().message, HasSubstr("socket of an engine"));
  }
}

TEST(CreateBody, RefusesWhatItCannotSay) {
  const auto refused = [](MountStep step) {
    plan::SandboxPlan plan = agents_plan();
    plan.mounts.push_back(std::move(step));
    const auto body = create_body(plan, settings());
    return body ? std::string() : body.error().message;
  };
  EXPECT_THAT(refused({.kind = MountKind::kBind, .target = "/x\xff", .source = "/x"}), HasSubstr("not UTF-8"));
  EXPECT_THAT(refused({.kind = MountKind::kBind, .target = "/x", .source = "/\xc3"}), HasSubstr("not UTF-8"));
  EXPECT_THAT(refused({.kind = MountKind::kTmpfs, .target = "/.hutch-place"}), HasSubstr("hutch's own"));
  EXPECT_THAT(refused({.kind = MountKind::kBind, .target = "/.hutch-place/stream", .source = "/x"}),
              HasSubstr("hutch's own"));
  EXPECT_THAT(refused({.kind = MountKind::kProc, .target = "/proc"}), HasSubstr("no step for a container"));
  plan::SandboxPlan none;
  EXPECT_FALSE(create_body(none, settings()));
}

TEST(CreateBody, HasPodmanLeaveThePrivatePlacesEmpty) {
  const Json host = Json::parse(*create_body(agents_plan(), settings("podman")))["HostConfig"];
  EXPECT_THAT(host["Tmpfs"]["/tmp"].get<std::string>(), HasSubstr("notmpcopyup"));
}

TEST(ImageName, IsOneThatEnginesTake) {
  for (const char* name : {"a", "hutch-sandbox:latest", "debian:12", "r.example:5000/a/b_c@sha256:00ff"}) {
    EXPECT_TRUE(check_image_name(name)) << name;
  }
  for (const std::string& name : {std::string(), std::string("a b"), std::string("../x"), std::string("a/../b"),
                                  std::string("-x"), std::string("a?b"), std::string("a\n"), std::string("a//b"),
                                  std::string("/a"), std::string("a%2e"), std::string(300, 'a')}) {
    EXPECT_FALSE(check_image_name(name)) << name;
  }
}

}  // namespace
}  // namespace hutch::backend::container
