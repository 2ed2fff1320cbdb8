// What root of an agent's machines has installed: the disk of what was changed of the system. It lasts until the agent
// is reset or removed, or all machines are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"
#include "host/state_dirs.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "sandbox/resident/resident.h"
#include "service/image/layer_before.h"
#include "store/agent_record.h"

namespace hutch::service {

struct MachineLayer {
  std::string disk;                        // the agent's machines begin with a copy of it
  std::vector<std::string> package_hosts;  // of the system below, as it was when the first package was installed
};

// Absent where nothing has been installed. Code::kConflict where another system is provisioned by now.
Result<std::optional<MachineLayer>> machine_layer(const store::AgentRecord& agent, const host::StateDirs& dirs,
                                                  const plan::HostFacts& facts);

// A machine by that plan begins with it.
void begin_with(const MachineLayer& layer, plan::SandboxPlan& plan);

// As what a machine of the agent's is to be kept, over all that was kept before.
Result<backend::KeptRoot> next_machine_layer(const store::AgentRecord& agent, const host::StateDirs& dirs,
                                             const plan::HostFacts& facts,
                                             const std::vector<std::string>& package_hosts);

// What it was, until what is kept over it has shown that a machine starts with it.
Result<LayerBefore> machine_layer_before(const store::AgentRecord& agent, const host::StateDirs& dirs,
                                         const plan::HostFacts& facts);

// All that the machine was told to write has reached its disk.
Status flush_disk(sandbox::Resident& machine);

// Its directory; empty where there was none. No machine of the agent's runs.
Result<std::string> remove_machine_layer(const store::AgentRecord& agent, const host::StateDirs& dirs);

// Of every agent. No machine runs.
Status remove_machine_layers(const plan::HostFacts& facts);

}  // namespace hutch::service
