// What a start knows once everything is judged, and what it was asked with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/paths/listings.h"
#include "plan/make/make_plan.h"
#include "plan/path_facts.h"
#include "plan/paths/name_files.h"
#include "plan/plan.h"
#include "policy/backend_kind.h"
#include "policy/network/parent_proxy.h"
#include "policy/policy.h"
#include "policy/rules.h"
#include "service/common/sandbox_repositories.h"

namespace hutch::service {

using policy::BackendKind;

// How an agent lives in its sandbox, besides what its policy says.
struct Residence {
  // kInstall: root of the agent's image, and nothing of the host.
  enum class Purpose { kLive, kInstall } purpose = Purpose::kLive;
  std::string user;  // what whoami says
  std::string agent{};  // whose it is, where it is an agent's
  std::string home;  // as the sandbox sees it
  std::string cwd;  // likewise; empty: the place's own
  std::string layer{};  // the host's directory for what is changed of an image; empty: it goes with it
  // kHost: the machine's own, by no rule of the policy; of the backend container alone.
  enum class Network { kOfPolicy, kHost } network = Network::kOfPolicy;
  bool swaps = false;  // secrets are put into requests, for which TLS is opened
  bool bridge_port = false;  // the host's bridge is at plan::kBridgePort, where there is a gateway or none else
  // Of what the policy opens of the network these hosts alone; absent: all of it.
  std::optional<std::vector<std::string>> hosts_at_most{};
  std::vector<plan::Share> shares;  // their identities are found when it is prepared
};

struct Caller {
  std::vector<std::string> environment;  // "K=V" each
  std::string command{};  // the first word of the command, for a note when it is hidden
  const Residence* residence = nullptr;  // null for a command without an agent
  plan::FileQuestions questions = plan::FileQuestions::kNone;  // as far as the policy says nothing else
};

struct Prepared {
  policy::Policy policy;  // with the options of the request
  policy::Network own_network;  // the policy's, without them
  std::vector<policy::Rule> rules;
  plan::PathFacts paths;
  plan::SandboxPlan plan;  // without seccomp
  plan::SearchRules search;  // from the host's resolver configuration
  policy::ParentProxies parent_proxies;
  BackendKind backend = policy::kBackendDefault;
  std::string agent{};  // whose settings open the network; empty: options of a command line do
  plan::CommittedFiles committed = plan::CommittedFiles::kHeldBack;
  bool searched_all = false;  // whether the search for repositories could look everywhere
  host::Listings listings{};  // of what it read
  std::vector<MadeRepository> made{};  // repositories of earlier sandboxes, which count as this one's
};

}  // namespace hutch::service
