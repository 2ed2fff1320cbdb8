// doctor: what works on this machine, why the rest does not, and what to type.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "host/machine/cgroups.h"
#include "host/machine/isolation_facts.h"
#include "host/state_dirs.h"
#include "plan/facts.h"

namespace hutch::service {

// The engine of containers; nothing but `error` where none can be used.
struct EngineCheckup {
  std::string socket;
  std::string name;
  std::string version;
  std::string api;
  std::string storage_driver;
  std::string cgroup_driver;
  std::string error;  // why there is none, with what to do
};

struct Checkup {
  plan::HostFacts facts;
  host::IsolationFacts isolation;
  host::CgroupPlace cgroup;
  EngineCheckup engine;
  host::StateDirs dirs;
  std::vector<std::string> policy_files;  // those that apply in the current directory; empty: the built-in policy
  std::string policy_error;               // why they cannot be read; else empty
  std::string settings_file;
  std::string settings_error;  // why it cannot be read; else empty
};

// Really tries the backends: takes some tens of milliseconds.
Result<Checkup> check_up();

// Each of policy::kBackends.
std::vector<std::pair<policy::BackendKind, plan::Availability>> availabilities(const Checkup& checkup);

std::string checkup_text(const Checkup& checkup);
std::string checkup_json(const Checkup& checkup);

// The error of a backend that does not work here, in the words of the doctor; the original one where it should work.
// `guest_program` is the one that was started; empty: where programs find it.
Error explain_backend_failure(policy::BackendKind backend, Error error, const std::string& guest_program = {});

}  // namespace hutch::service
