// The user's policies for a sandbox that runs: what can be answered to its questions, how an answer is saved, and what
// a saved change comes to there.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "approval/answer.h"
#include "base/result.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "policy/policy.h"
#include "sandbox/io/network.h"
#include "sandbox/questions/questions.h"
#include "service/common/request.h"
#include "service/questions/host_files.h"
#include "service/questions/host_sockets.h"

namespace hutch::service {

// A sandbox that runs, as far as policies are about it.
struct LiveSandbox {
  sandbox::Network* network = nullptr;  // null where it has no gateway
  HostSockets* sockets = nullptr;       // null where it has none of the host's
  HostFiles* files = nullptr;           // null where it has no supervisor
  sandbox::Questions* questions = nullptr;               // null where nothing of it is asked about
  plan::NetworkKind kind = plan::NetworkKind::kGateway;  // what it was started with
};

struct ReloadNotes {
  std::vector<std::string> lines;
  bool is_as_it_was = false;  // nothing of it holds
};

class LivePolicy {
 public:
  // `facts.cwd` is the sandbox's directory. `environment` says where the policies lie. `at_start` is what the request's
  // own policy said then, without options: of that one nothing is read again, and nothing but an agent's network
  // changes.
  LivePolicy(PlaceRequest request, plan::HostFacts facts, std::vector<std::string> environment,
             std::optional<policy::Policy> at_start = std::nullopt)
      : request_(std::move(request)),
        facts_(std::move(facts)),
        environment_(std::move(environment)),
        at_start_(std::move(at_start)) {}

  // Any thread may ask these.
  approval::Place place() const;
  Status save(const approval::Save& save) const;

  // The rest is for the thread that keeps the sandbox.

  // Reads the policies again and has their network hold, with the request's options: hosts, sockets and files that are
  // new can be reached at once, connections to those that are gone end, questions that are answered by it are closed.
  // What it says that can hold from the next start on alone.
  Result<std::vector<std::string>> reload(const LiveSandbox& live) const;

  // A network of somebody's own in its place.
  Status replace(const LiveSandbox& live, const std::string& policy) const;

 private:
  bool is_fixed() const { return request_.policy || request_.policy_file; }

  const PlaceRequest request_;
  const plan::HostFacts facts_;
  const std::vector<std::string> environment_;
  const std::optional<policy::Policy> at_start_;
};

// Whether an answer changes what is saved.
bool is_saved(approval::Answer answer);

}  // namespace hutch::service
