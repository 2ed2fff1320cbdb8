// A sandbox that is an OS user.
#include "service/os_user.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "host/account.h"
#include "host/isolation_facts.h"
#include "plan/os_user.h"

namespace hutch::service {

namespace {

constexpr std::string_view kByKernel =
    " is a rule about files, which backend user does not hold: its user may what owners, modes and lists say (hutch "
    "share); leave it out, or use backend namespace";

// What hutch itself says where nobody has a policy is no rule of anybody's.
Status check_file_rules(const LoadedPolicy& loaded, const PlaceRequest& request) {
  const policy::Filesystem& files = loaded.policy.filesystem;
  const bool built_in = loaded.files.empty() && !request.policy;
  const std::array<std::pair<std::string_view, bool>, 9> rules = {
      std::pair("filesystem.denyRead", !built_in && !files.deny_read.empty()),
      std::pair("filesystem.allowRead", !built_in && !files.allow_read.empty()),
      std::pair("filesystem.allowWrite", !built_in && !files.allow_write.empty()),
      std::pair("filesystem.denyWrite", !built_in && !files.deny_write.empty()),
      std::pair("credentials", !built_in && !files.credentials.empty()),
      std::pair("--allow-read", !request.allow_read.empty()),
      std::pair("--deny-read", !request.deny_read.empty()),
      std::pair("--allow-write", !request.allow_write.empty()),
      std::pair("--deny-write", !request.deny_write.empty())};
  for (const auto& [rule, there] : rules) {
    if (!there) continue;
    const std::string where = rule.starts_with('-') ? std::string() : cat({loaded.policy.source, ": "});
    return fail(Error::unsupported(cat({where, rule, kByKernel})));
  }
  return {};
}

Error unavailable(const std::string& name, const plan::HostFacts& facts) {
  host::IsolationFacts known;
  known.uid = facts.uid;
  known.guest_program = "there";
  known.has_os_user = facts.uid != 0;
  known.may_administer = true;
  plan::Availability found = host::availability("user", known);
  if (facts.uid == 0) {
    const bool common = name == plan::kCommonUser;
    found.reason = cat({"this machine has no user ", printable(name), common ? " for agents" : " for that agent"});
    found.remedy = "sudo hutch init";
    if (!common) found.remedy += cat({" --agent ", plan::agent_of_os_user(name)});
  }
  return Error::unsupported(cat({"backend user does not work here: ", found.reason, "; try: ", found.remedy}));
}

}  // namespace

Result<OsUserPlace> os_user_place(const std::string& name, const LoadedPolicy& loaded, const PlaceRequest& request,
                                  const plan::HostFacts& facts) {
  const std::optional<host::OsUser> user = TRY(host::find_os_user(name));
  if (!user || facts.uid != 0) return fail(unavailable(name, facts));
  const auto& groups = user->groups;
  if (user->uid == 0 || std::ranges::find(groups, 0U) != groups.end()) {
    return fail(
        {Code::kPermissionDenied, 0,
         cat({"the user ", name, " is root, or in root's group: it isolates nothing; make another: sudo userdel ", name,
              " && sudo hutch init"})});
  }
  TRY(check_file_rules(loaded, request));
  OsUserPlace place{.facts = facts, .input = {.groups = {groups.begin() + 1, groups.end()}}};
  place.facts.uid = user->uid;
  place.facts.gid = groups.front();
  place.facts.user = user->name;
  place.facts.home = user->home;
  return place;
}

Status check_os_user_network(const policy::Network& network) {
  if (network.mode == policy::NetworkMode::kHost) {
    const bool changed = !network.allowed_domains.empty() || !network.denied_domains.empty() ||
                         !network.allowed_udp.empty() || !network.allow_unix_sockets.empty() ||
                         !network.host_ports.empty() || !network.publish.empty();
    if (!changed) return {};
    return fail(
        Error::unsupported("\"network\" is \"host\": options about hosts, ports and sockets hold nothing there"));
  }
  if (network.allow_unix_sockets.empty()) return {};
  return fail(Error::unsupported(
      "backend user reaches none of the host's sockets: leave network.allowUnixSockets and --allow-socket out, "
      "or use backend namespace"));
}

}  // namespace hutch::service
