// hutch vm: what virtual machines are started from.
#pragma once

#include <string>

#include "service/request.h"
#include "service/vm_files.h"

namespace hutch::cli {

struct VmArguments {
  std::string action;  // provision, status, remove
  service::VmProvisionRequest provision;
  service::OutputForm form = service::OutputForm::kText;
};

int vm(const VmArguments& arguments);

}  // namespace hutch::cli
