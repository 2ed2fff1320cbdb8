// The init of the sandbox: runs the commands the host asks for, reaps, reports.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "wire/connection.h"

namespace hutch::guest {

// Serves until the host has gone, or, with Service::kOneCommand, the command has ended and everything that it started
// is gone. `mounts` is watched: without what protects, all ends (watch_covers of guest/setup/tree.h). With `supervised`
// there will be a supervisor: what it needs travels to the host, and its own calls wait for it as well.
struct Supervised {
  UniqueFd tree;  // split_off_writable of guest/calls/supervised_mounts.h
  UniqueFd user;  // namespaces
  UniqueFd mounts;
  std::vector<UniqueFd> roots;  // open_supervised of guest/calls/supervised_mounts.h
};
struct Watched {
  std::optional<UniqueFd> mounts;
  std::optional<Supervised> supervised;
};
Status run_init(wire::Connection& host, const wire::Start& start, Watched watched);

}  // namespace hutch::guest
