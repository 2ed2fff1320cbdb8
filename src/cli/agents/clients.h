// hutch clients: the packages for npm of this installation.
#pragma once

#include <string>

#include "service/common/request.h"

namespace hutch::cli {

struct ClientsArguments {
  std::string action;     // list, install
  std::string client;     // of install
  std::string directory;  // as typed; empty: the usual one
  service::OutputForm form = service::OutputForm::kText;
};

// The exit code.
int clients(const ClientsArguments& arguments);

}  // namespace hutch::cli
