// What a SandboxProcess holds.
#pragma once

#include <hutch/sandbox.h>

#include <memory>
#include <string>

#include "sandbox/resident/process.h"
#include "sandbox/resident/resident.h"

namespace hutch {

struct SandboxProcess::Impl {
  std::shared_ptr<sandbox::Resident> resident;
  std::shared_ptr<sandbox::Process> process;
  std::string id;
};

}  // namespace hutch
