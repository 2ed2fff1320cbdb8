// run: one command in a sandbox, from the request to its outcome.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/io/outcome.h"
#include "service/common/request.h"
#include "service/git/after.h"
#include "service/live/session_link.h"

namespace hutch::service {

struct RunReport {
  std::string backend;
  sandbox::Outcome outcome;
};

// Told as it happens: notes before the start, refusals while it runs.
using Tell = std::function<void(const std::string& line)>;

// Decisions of a person at the terminal; null if nobody is there.
struct RunDecisions {
  KeepGitState keep{};                                          // about operations of git that the command prepared
  std::function<bool(const std::string& what)> start_wide{};  // about a start in a home, or among other projects
};

// An error is hutch's own failure: nothing was run, or it could not be seen to its end.
Result<RunReport> run(const RunRequest& request, const Tell& tell, const SessionLink& session = {},
                      const RunDecisions& decide = {});

// The outcome as one JSON object, without a line end.
std::string outcome_json(const RunReport& report);

}  // namespace hutch::service
