// A sandbox that is an OS user.
#include "service/os_user/os_user.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/user/helper_client.h"
#include "base/text.h"
#include "host/machine/account.h"
#include "host/machine/isolation_facts.h"
#include "host/machine/people.h"
#include "plan/setup/os_user.h"
#include "policy/defaults.h"
#include "service/common/programs.h"

namespace hutch::service {

namespace {

constexpr std::string_view kByKernel =
    " is a rule about files, which backend user does not hold: its user may what owners, modes and lists say (hutch "
    "share); leave it out, or use backend namespace";

bool have_same_texts(const std::vector<policy::PathEntry>& some, const std::vector<policy::PathEntry>& others) {
  return std::ranges::equal(some, others, {}, &policy::PathEntry::text, &policy::PathEntry::text);
}

// What a file of policy begins as that hutch writes, for an answer that is saved or a key that is changed.
bool is_begun(const policy::Filesystem& files) {
  const policy::Filesystem begun = policy::default_policy().filesystem;
  return have_same_texts(files.deny_read, begun.deny_read) && have_same_texts(files.allow_read, begun.allow_read) &&
         have_same_texts(files.allow_write, begun.allow_write) && files.deny_write.empty() &&
         files.credentials.empty() && files.own_directories.empty();
}

// What hutch itself says where nobody has a policy is no rule of anybody's.
Status check_file_rules(const LoadedPolicy& loaded, const PlaceRequest& request) {
  const policy::Filesystem& files = loaded.policy.filesystem;
  const bool built_in = (loaded.files.empty() && !request.policy) || is_begun(files);
  const bool of_agent = !request.agent.empty();
  const std::array<std::pair<std::string_view, bool>, 10> rules = {
      std::pair("filesystem.denyRead", !built_in && !files.deny_read.empty()),
      std::pair("filesystem.allowRead", !built_in && !files.allow_read.empty()),
      std::pair("filesystem.allowWrite", !built_in && !files.allow_write.empty()),
      std::pair("filesystem.denyWrite", !built_in && !files.deny_write.empty()),
      std::pair("credentials", !built_in && !files.credentials.empty()),
      std::pair("filesystem.private", !built_in && !files.own_directories.empty()),
      std::pair(of_agent ? "allowRead of the agent" : "--allow-read", !request.allow_read.empty()),
      std::pair("--deny-read", !request.deny_read.empty()),
      std::pair(of_agent ? "allowWrite of the agent" : "--allow-write", !request.allow_write.empty()),
      std::pair("--deny-write", !request.deny_write.empty())};
  for (const auto& [rule, there] : rules) {
    if (!there) continue;
    const bool of_policy = !rule.starts_with('-') && !rule.starts_with("allow");
    const std::string where = of_policy ? cat({loaded.policy.source, ": "}) : std::string();
    return fail(Error::unsupported(cat({where, rule, kByKernel})));
  }
  return {};
}

Error unavailable(const std::string& name, const std::string& agent, const plan::HostFacts& facts) {
  host::IsolationFacts known;
  known.uid = facts.uid;
  known.user = host::person_name(facts.uid).value_or(facts.user);
  known.guest_program = "there";
  plan::Availability found = host::availability(policy::BackendKind::kUser, known);
  if (!agent.empty()) {
    found.reason = cat({"this machine has no user ", printable(name), " for that agent"});
    found.remedy += ", once for all of your agents";
  }
  return Error::unsupported(cat({"backend user does not work here: ", found.reason, "; try: ", found.remedy}));
}

Result<bool> is_open_to(const std::string& name, const plan::HostFacts& facts) {
  if (facts.uid == 0) return true;
  return host::may_become(facts.uid, name);
}

Status check_is_for_sandboxes(const host::OsUser& user) {
  TRY(host::check_is_no_person(user));
  return host::check_is_no_daemon(user);
}

}  // namespace

Result<std::string> own_os_user(std::uint32_t person, const std::string& agent) {
  if (person != 0) return plan::os_user_name_of(TRY(host::person_name(person)), agent);
  return agent.empty() ? std::string(plan::kCommonUser) : plan::os_user_name(agent);
}

Status check_os_user(const std::string& name, const std::string& agent, const plan::HostFacts& facts) {
  const std::optional<host::OsUser> user = TRY(host::find_os_user(name));
  if (user && TRY(is_open_to(name, facts))) return check_is_for_sandboxes(*user);
  return fail(unavailable(name, agent, facts));
}

Status ensure_os_user(const std::string& name, const std::string& agent, const plan::HostFacts& facts) {
  const Status there = check_os_user(name, agent, facts);
  const bool is_missing = !there && there.error().code == Code::kUnsupported;
  if (!is_missing || agent.empty() || facts.uid == 0) return there;
  if (!TRY(host::may_have_agents_users(facts.uid))) return there;
  const std::string guest = TRY(guest_program());
  TRY_CTX(backend::make_user_by_helper(guest, agent), "make the agent's user");
  return check_os_user(name, agent, facts);
}

Result<OsUserPlace> os_user_place(const std::string& name, const std::string& agent, const LoadedPolicy& loaded,
                                  const PlaceRequest& request, const plan::HostFacts& facts) {
  const std::optional<host::OsUser> user = TRY(host::find_os_user(name));
  if (!user || !TRY(is_open_to(name, facts))) return fail(unavailable(name, agent, facts));
  TRY(check_is_for_sandboxes(*user));
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
  if (!loaded.files.empty() && is_begun(loaded.policy.filesystem)) {
    place.note = cat({"filesystem of ", loaded.policy.source,
                      " is what a policy begins with: backend user holds no rules about files"});
  }
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
