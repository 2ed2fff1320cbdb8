// Whether an agent's settings can hold.
#include "service/agent/checks.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/text.h"
#include "host/machine/isolation_facts.h"
#include "policy/document/presets.h"
#include "policy/document/reader.h"
#include "policy/units.h"
#include "service/agent/code_agent.h"
#include "sys/files/identity.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

Status check_backend_name(const std::string& backend) {
  if (backend.empty() || policy::backend_named(backend)) return {};
  const auto near = nearest(backend, policy::kBackendNames);
  return fail(Error::invalid(cat({"backend: there is no ", printable(backend, 64), "; there are ",
                                  policy::backend_list("and"), near ? cat({"; did you mean ", *near, "?"}) : ""})));
}

// A preset, or a file by its absolute path: the daemon does not work where the person typed the name.
Status check_policy(const std::string& path) {
  if (path.empty() || policy::find_preset(path) != nullptr) return {};
  if (policy::may_be_preset(path)) return fail(policy::no_preset(path, "policy"));
  const std::string text = TRY_CTX(sys::regular_file_text(path, limits::kJsonBytesMax), "policy");
  TRY_CTX(policy::read_policy(text, printable(path)), "policy");
  return {};
}

Status check_memory(const std::string& memory) {
  if (!memory.empty()) TRY_CTX(policy::parse_memory(memory), "limits.memory");
  return {};
}

// Elsewhere what is changed lies on a file system of the host's, of which a part cannot be had.
Status check_disk(const store::AgentRecord& record) {
  if (record.limits.disk.empty() || policy::traits_of(store::backend_kind(record)).holds_disk) return {};
  return fail(Error::unsupported(
      cat({"limits.disk: backend ", policy::name_of(store::backend_kind(record)),
           " cannot hold it; use backend=container with an engine whose storage can, or limits.tmpSize, "
           "which is of /tmp and of the other private directories"})));
}

}  // namespace

Status check_settings(const store::AgentRecord& record, const store::AgentRecord& before) {
  if (record.backend != before.backend) TRY(check_backend_name(record.backend));
  if (record.policy != before.policy) TRY(check_policy(record.policy));
  const store::AgentNetwork& network = record.network;
  if (network.mode == "none" && network.allowed_domains.size() > before.network.allowed_domains.size()) {
    return fail(Error::invalid(
        cat({"agent ", record.name, " has network=none; say hutch agent set ", record.name, " network=rules first"})));
  }
  if (record.limits.memory != before.limits.memory) TRY(check_memory(record.limits.memory));
  if (record.limits.disk != before.limits.disk || record.backend != before.backend) TRY(check_disk(record));
  if (record.code_agent != before.code_agent) TRY(check_code_agent(record.code_agent));
  return {};
}

Status check_passing_agent(const store::AgentRecord& record) {
  if (store::backend_kind(record) != BackendKind::kUser || sys::user_id() == 0) return {};
  return fail(
      Error::unsupported("backend user: this agent goes with its client, and its OS user would stay, for root alone to "
                         "remove; use another "
                         "backend, or an agent that stays (hutch agent create NAME backend=user)"));
}

std::vector<std::string> policy_notes(const store::AgentRecord& record) {
  if (store::backend_kind(record) == BackendKind::kNone) {
    if (record.network.mode.empty()) return {};
    return {cat({"backend none isolates nothing: network=", record.network.mode, " of agent ", record.name,
                 " does not hold; hutch agent set ", record.name, " backend=namespace isolates it"})};
  }
  if (!record.policy.starts_with('/')) return {};
  const auto text = sys::regular_file_text(record.policy, limits::kJsonBytesMax);
  const auto read =
      text ? policy::read_policy(*text, printable(record.policy)) : Result<policy::Policy>(fail(text.error()));
  if (!read || !read->filesystem.deny_read.empty()) return {};
  return {cat({"policy ", printable(record.policy), " has no filesystem.denyRead: agent ", record.name,
               " can read your home; for the network alone leave policy out, and say hutch agent set ", record.name,
               " policy= network=outbound (or none, rules, registries)"})};
}

}  // namespace hutch::service
