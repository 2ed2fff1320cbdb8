// A system of an agent's own, into which packages can be installed: the default image, from the first need on.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/state_dirs.h"
#include "service/agent/agents.h"
#include "service/image/images.h"
#include "tool/envelope.h"
#include "tool/limiters.h"

namespace hutch::service {

// The image's whole name. An error where the agent could never start with it.
Status settle_image(store::AgentRecord& record, const host::StateDirs& dirs);

// Its backend and its image: what another system has, this one may lack.
std::string system_of(const store::AgentRecord& agent);
// Whether the agent has the host's files and can have the default image instead.
bool lacks_system(const store::AgentRecord& agent);
// Whether its person has set, as it is set now, that it gets the image when it is needed.
bool gets_system_by_itself(AgentService& agents, const std::string& name);
// The refusal of an installation, with the commands that help. `next` is the record as it is set by now.
Error no_system(const store::AgentRecord& agent, const store::AgentRecord& next);

// Who has decided that an agent gets the image. kSetting: image=auto, which has to be set still once the image is
// built.
enum class SystemBy { kPerson, kSetting };
// Builds the default image where it is missing, sets it, and starts the agent with it. If the agent does not start, it
// has again what it had before. Where an image is set already, the person has the sandbox start anew with it. The
// agent's sandbox ends, its home stays. Code::kConflict where processes run in it. `stop` ends the build, and so do a
// stop, a reset and a removal of the agent, and the end of the daemon.
Result<std::shared_ptr<AgentSandbox>> give_system(AgentService& agents, const std::string& name, SystemBy by,
                                                  const TellImage& tell, const std::stop_token& stop);

// Whether an installation failed because the agent lacks a system.
bool needs_system(const tool::Envelope& envelope);

struct PackagesWish {
  std::string agent;
  std::vector<std::string> packages;
  std::function<void(std::string_view text)> on_output{};  // of the build and of the package manager
  std::stop_token stop{};
};
// For the person, not for the agent: autonomousExec does not matter. The envelope of sandbox_install.
Result<tool::Envelope> install_for_person(AgentService& agents, tool::Limiters& limiters, const PackagesWish& wish);

// Of a package manager that a person started, or an installation of a plugin.
inline constexpr std::chrono::seconds kPersonInstallTimeout{900};

}  // namespace hutch::service
