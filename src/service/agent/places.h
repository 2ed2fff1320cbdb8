// Where an agent's directories are: on the host, and as its sandbox sees them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "host/state_dirs.h"
#include "service/prepare/prepare.h"
#include "store/agent_record.h"
#include "tool/place.h"

namespace hutch::service {

// On the host; below the data directory, or, of an agent that is an OS user (backend user), where those have their
// homes.
struct AgentDirectories {
  std::string home;    // workspace/agents/NAME
  std::string shared;  // workspace/shared: of all agents
  std::string output;  // output/NAME
};
AgentDirectories agent_directories(const host::StateDirs& dirs, const store::AgentRecord& record);

// Makes those that are absent, mode 0700.
Status make_agent_directories(const AgentDirectories& directories);

struct AgentPlaces {
  Residence residence;
  tool::Layout layout;
  std::vector<std::string> environment;  // "K=V": HOME, USER, HUTCH_HOME and the like
};
// A backend that does not mount them elsewhere (none, user) keeps the host's paths.
AgentPlaces places_of(const store::AgentRecord& record, const AgentDirectories& directories, BackendKind backend);

// Directories in which it is told what a task changed: the place of work, whose paths are relative, the home where that
// is another one, and what it hands out. None lies within another.
struct WatchedPlace {
  std::string on_host;
  std::string shown;  // what comes before each path below it
};
std::vector<WatchedPlace> watched_places(const store::AgentRecord& record, const AgentDirectories& directories,
                                         const tool::Layout& layout);

}  // namespace hutch::service
