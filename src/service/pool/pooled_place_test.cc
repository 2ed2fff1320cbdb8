// What a sandbox of a pool is allowed: the user's policy, narrowed; and what may be mounted into it.
#include "service/pool/pooled_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/defaults.h"
#include "policy/document/reader.h"
#include "service/pool/sandbox_pool.h"

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

// Of the host's network, by the user's settings.
std::string network_refusal(const std::string& text, PoolSpec spec) {
  const auto policy = policy::read_policy(text, "test");
  EXPECT_TRUE(policy) << policy.error().message;
  spec.network = sandbox::PoolNetwork::kHost;
  const Status checked = check_pool_network(policy->network, spec);
  return checked ? "" : checked.error().message;
}

TEST(PoolNetwork, IsTheHostsWhereNoRuleWouldBeDropped) {
  const PoolSpec trusted{.backend = policy::BackendKind::kContainer, .trust = Trust::kTrusted};
  EXPECT_EQ(network_refusal(std::string(policy::default_policy_text()), trusted), "");
  EXPECT_EQ(network_refusal(R"({"network": "none"})", trusted), "") << "stays without one";
  EXPECT_THAT(network_refusal(R"({"network": {"allowedDomains": ["a.example"]}})", trusted),
              testing::AllOf(HasSubstr("sandbox.network \"host\" of config.json: the policy's network.allowedDomains"),
                             HasSubstr("hutch settings remove sandbox.network")));
  EXPECT_THAT(network_refusal(R"({"network": {"deniedDomains": ["a.example"]}})", trusted), HasSubstr("deniedDomains"));
  EXPECT_THAT(network_refusal(
                  "{}", {.backend = policy::BackendKind::kContainer, .trust = Trust::kTrusted, .hosts = {"b.example"}}),
              HasSubstr("security.allowedHosts"));
  EXPECT_THAT(network_refusal("{}", {.backend = policy::BackendKind::kNamespace, .trust = Trust::kTrusted}),
              HasSubstr("container alone"));
  EXPECT_THAT(network_refusal("{}", {.backend = policy::BackendKind::kContainer}), HasSubstr("trusted sandboxes"));
}

TEST(PoolNetwork, IsAskedForByTheSettingsAlone) {
  using sandbox::PoolNetwork;
  store::Settings settings;
  const PoolSpec trusted{.backend = policy::BackendKind::kContainer, .trust = Trust::kTrusted};
  EXPECT_EQ(*pool_network(trusted, settings), PoolNetwork::kGateway);
  settings.sandbox.network = store::Settings::Sandbox::Network::kHost;
  EXPECT_EQ(*pool_network(trusted, settings), PoolNetwork::kHost);
  EXPECT_EQ(*pool_network({.backend = policy::BackendKind::kContainer}, settings), PoolNetwork::kGateway);
  EXPECT_EQ(*pool_network({.backend = policy::BackendKind::kNamespace, .trust = Trust::kTrusted}, settings),
            PoolNetwork::kGateway);
  settings.security.allowed_hosts = {"a.example"};
  EXPECT_THAT(pool_network(trusted, settings).error().message, HasSubstr("security.allowedHosts holds nothing"));
  EXPECT_NE(sandbox::key_of(trusted),
            sandbox::key_of(
                {.backend = policy::BackendKind::kContainer, .trust = Trust::kTrusted, .network = PoolNetwork::kHost}));
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
