// A sandbox in a virtual machine.
#include "service/machine_place.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace hutch::service {

namespace {

// As hutch-guest makes it there (guest/machine.cc).
constexpr std::uint32_t kUser = 1000;

Status check_files(const LoadedPolicy& loaded, const PlaceRequest& request) {
  const policy::Filesystem& files = loaded.policy.filesystem;
  const bool built_in = loaded.files.empty() && !request.policy;
  const std::array<std::pair<std::string_view, bool>, 5> wanted = {
      std::pair("filesystem.allowRead", !built_in && !files.allow_read.empty()),
      std::pair("filesystem.allowWrite", !built_in && !files.allow_write.empty()),
      std::pair("--allow-read", !request.allow_read.empty()), std::pair("--allow-write", !request.allow_write.empty()),
      std::pair("--image", request.image.has_value())};
  for (const auto& [rule, there] : wanted) {
    if (!there) continue;
    const std::string where = rule.starts_with('-') ? std::string() : cat({loaded.policy.source, ": "});
    return fail(Error::unsupported(cat({where, rule,
                                        ": backend vm shows nothing of this machine's files; leave it out, "
                                        "or use another backend"})));
  }
  return {};
}

Status check_network(const policy::Network& network) {
  const bool rules = network.mode == policy::NetworkMode::kRules && network.allowed_domains.empty() &&
                     network.rules.empty() && network.allowed_udp.empty();
  const bool nothing = (rules || network.mode == policy::NetworkMode::kNone) && network.host_ports.empty() &&
                       network.publish.empty() && network.allow_unix_sockets.empty();
  if (nothing) return {};
  return fail(
      Error::unsupported("backend vm: a machine has no network here; a policy that reaches something takes another "
                         "backend, or --network none"));
}

}  // namespace

Result<OsUserPlace> machine_place(const LoadedPolicy& loaded, const PlaceRequest& request,
                                  const plan::HostFacts& facts) {
  TRY(check_files(loaded, request));
  TRY(check_network(loaded.policy.network));
  OsUserPlace place{.facts = facts, .input = {}};
  place.facts.uid = kUser;
  place.facts.gid = kUser;
  place.facts.user = "agent";
  place.facts.home = kMachineHome;
  return place;
}

}  // namespace hutch::service
