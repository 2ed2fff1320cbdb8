// explain and check: what a sandbox would be, and which rule decides about a path or a host. Nothing is started.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/facts.h"
#include "policy/decide.h"
#include "policy/network/rules.h"
#include "policy/network/sockets.h"
#include "service/common/prepared.h"
#include "service/common/request.h"

namespace hutch::service {

// What the sandbox would do with one path.
struct PathVerdict {
  std::string typed;
  std::string path;  // where it leads
  policy::Access access = policy::Access::kRead;
  bool allowed = false;
  bool asked = false;  // not allowed, but somebody can answer for it
  std::string rule;
  std::string why;
};

// What would become of a connection to a host.
struct HostVerdict {
  std::string typed;
  std::string host;  // in canonical form
  int port = 0;
  policy::HostVerdict verdict = policy::HostVerdict::kDeny;
  std::string rule;
  std::string why;
};

// What would become of a connection to a Unix socket.
struct SocketOutcome {
  std::string typed;
  std::string path;  // where it leads
  policy::SocketVerdict verdict = policy::SocketVerdict::kDeny;
  std::string rule;
  std::string why;
};

struct Explanation {
  Prepared prepared;
  std::vector<PathVerdict> paths;  // reading and writing of each
  std::vector<HostVerdict> hosts;
};

// `typed` is relative to where the command would start. Whether somebody is there to be asked is in the plan's
// `questions`. The file's own mode counts too: a rule cannot give what the
// user does not have.
Result<PathVerdict> judge_path(const Prepared& prepared, const plan::HostFacts& facts, const std::string& typed,
                               policy::Access access);

// `typed` is HOST, HOST:PORT (443 without a port), or HOST:PORT/udp. Nothing is resolved: of a name it says what the
// rules say of it.
Result<HostVerdict> judge_host(const Prepared& prepared, const std::string& typed);

// `typed` as in judge_path(). Whether anything is there does not matter.
Result<SocketOutcome> judge_socket(const Prepared& prepared, const plan::HostFacts& facts, const std::string& typed);

// A name with a "/", or one that starts with "." or "~", or that exists here, or has no "." and no ":",
// is a path; anything else is a host.
Result<Explanation> explain(const PlaceRequest& request, const plan::HostFacts& facts, const Caller& caller,
                            const std::vector<std::string>& names);

std::string explanation_text(const Explanation& explanation);
std::string explanation_json(const Explanation& explanation);
// The network part of a plan in words, a line each; and as an object.
std::string network_text(const Prepared& prepared);
std::string network_json(const Prepared& prepared);
std::string verdict_text(const PathVerdict& verdict);
std::string verdict_json(const PathVerdict& verdict);
std::string verdict_text(const HostVerdict& verdict);
std::string verdict_json(const HostVerdict& verdict);
std::string verdict_text(const SocketOutcome& verdict);
std::string verdict_json(const SocketOutcome& verdict);

}  // namespace hutch::service
