// The session of whoever types: what the daemon keeps for it, where one runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/question_arguments.h"
#include "service/common/request.h"
#include "service/live/session_link.h"

namespace hutch::cli {

// What holds for the session as a whole is put into `place`.
service::SessionLink join_session(service::PlaceRequest& place);

// Starts a daemon where none runs; an error where there is no session.
Result<service::Sessions::State> set_session(policy::Switch enabled);

// A policy was saved: agents' sandboxes that run go by it soon.
void tell_daemon_of_policy();

// The same, and waits for it: what of it does not hold where, in a sentence each.
std::vector<std::string> spread_to_agents();

struct RevokedAgent {
  std::string name;
  std::int64_t ended = 0;  // commands that were told to end
};

// From agents' sandboxes that run; those that had been allowed it.
std::vector<RevokedAgent> revoke_in_agents(const std::string& host, Kill kill);

// From all sessions that a daemon keeps. How many grants it was.
std::int64_t revoke_in_sessions(const std::string& target);

}  // namespace hutch::cli
