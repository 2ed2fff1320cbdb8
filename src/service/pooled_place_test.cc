// What a sandbox of a pool is allowed: the user's policy, narrowed; and what may be mounted into it.
#include "service/pooled_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/defaults.h"
#include "policy/reader.h"

namespace hutch::service {
namespace {

using policy::NetworkMode;
using sandbox::MountUse;
using sandbox::PoolMount;
using sandbox::PoolSpec;
using sandbox::Trust;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

policy::Policy narrowed(const std::string& text, const PoolSpec& spec) {
  auto policy = policy::read_policy(text, "test");
  EXPECT_TRUE(policy) << policy.error().message;
  narrow(*policy, spec);
  return *policy;
}

constexpr const char* kOpen = R"({"filesystem": {"allowWrite": [".", "/srv"], "allowRead": ["/opt/tools"]},
  "network": {"allowedDomains": ["a.example"], "deniedDomains": ["bad.example"],
              "allowUnixSockets": ["/run/s"]}})";

TEST(Narrow, WritesNothingOfTheHostAndSeesNoHome) {
  const policy::Policy policy = narrowed(kOpen, {});
  EXPECT_THAT(policy.filesystem.allow_write, IsEmpty());
  EXPECT_THAT(policy.filesystem.allow_read, ElementsAre(policy::PathEntry{"/opt/tools"}));
  EXPECT_THAT(policy.filesystem.deny_read,
              testing::IsSupersetOf({policy::PathEntry{"/home"}, policy::PathEntry{"/root"}, policy::PathEntry{"~"}}));
}

TEST(Narrow, ASandboxedOneHasNoNetworkWhateverThePolicyAllows) {
  const policy::Network network = narrowed(kOpen, {}).network;
  EXPECT_EQ(network.mode, NetworkMode::kNone);
  EXPECT_THAT(network.allowed_domains, IsEmpty());
  EXPECT_THAT(network.allow_unix_sockets, IsEmpty());
}

TEST(Narrow, ATrustedOneHasWhatThePolicyNames) {
  const policy::Network network = narrowed(kOpen, {.trust = Trust::kTrusted}).network;
  EXPECT_EQ(network.mode, NetworkMode::kRules);
  EXPECT_THAT(network.allowed_domains, ElementsAre("a.example"));
  EXPECT_THAT(network.denied_domains, ElementsAre("bad.example"));
  EXPECT_THAT(network.allow_unix_sockets, IsEmpty()) << "never a socket of the host's";
}

TEST(Narrow, NoListIsNoLimitAndAListIsTheWholeOfIt) {
  const std::string nobody(policy::default_policy_text());
  EXPECT_EQ(narrowed(nobody, {.trust = Trust::kTrusted}).network.mode, NetworkMode::kOutbound);
  const policy::Network limited = narrowed(kOpen, {.trust = Trust::kTrusted, .hosts = {"b.example"}}).network;
  EXPECT_EQ(limited.mode, NetworkMode::kRules);
  EXPECT_THAT(limited.allowed_domains, ElementsAre("b.example"));
  EXPECT_THAT(limited.denied_domains, ElementsAre("bad.example"));
  const policy::Network outbound =
      narrowed(R"({"network": "outbound"})", {.trust = Trust::kTrusted, .hosts = {"b.example"}}).network;
  EXPECT_EQ(outbound.mode, NetworkMode::kRules) << "that list alone";
}

TEST(Narrow, APolicyWithoutNetworkStaysWithoutOne) {
  for (const PoolSpec& spec :
       {PoolSpec{.trust = Trust::kTrusted}, PoolSpec{.trust = Trust::kTrusted, .hosts = {"b.example"}}}) {
    EXPECT_EQ(narrowed(R"({"network": "none"})", spec).network.mode, NetworkMode::kNone);
  }
}

std::string refusal(std::vector<PoolMount> mounts) {
  const auto settled = settle_mounts(std::move(mounts));
  return settled ? "" : settled.error().message;
}

TEST(SettleMounts, TakesDirectoriesAsTheyReallyAre) {
  const auto settled = settle_mounts({{"/usr/../usr", "/data/of/mine", MountUse::kReadOnly}});
  ASSERT_TRUE(settled) << settled.error().message;
  EXPECT_THAT(*settled, ElementsAre(PoolMount{"/usr", "/data/of/mine", MountUse::kReadOnly}));
}

TEST(SettleMounts, RefusesWhatIsNobodysToMount) {
  EXPECT_THAT(refusal({{"usr", "/data"}}), HasSubstr("absolute"));
  EXPECT_THAT(refusal({{"/usr", "data"}}), HasSubstr("absolute"));
  EXPECT_THAT(refusal({{"/usr", "/"}}), HasSubstr("absolute"));
  EXPECT_THAT(refusal({{"/usr", "/data/../etc"}}), HasSubstr("\"..\""));
  EXPECT_THAT(refusal({{"/usr", "/etc/mine"}}), HasSubstr("the system's"));
  EXPECT_THAT(refusal({{"/", "/data"}}), HasSubstr("the kernel's"));
  EXPECT_THAT(refusal({{"/proc/self", "/data"}}), HasSubstr("the kernel's"));
  EXPECT_THAT(refusal({{"/run", "/data"}}), HasSubstr("sockets"));
  EXPECT_THAT(refusal({{"/etc/passwd", "/data"}}), HasSubstr("only a directory"));
  EXPECT_THAT(refusal({{"/no/such/place", "/data"}}), HasSubstr("/no/such/place"));
  EXPECT_THAT(refusal({{"/usr", "/data"}, {"/etc", "/data/of"}}), HasSubstr("another one"));
}

}  // namespace
}  // namespace hutch::service
