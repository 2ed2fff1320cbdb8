// hutch artifacts: what agents have shared.
#pragma once

#include <string>

#include "service/common/request.h"

namespace hutch::cli {

struct ArtifactsArguments {
  std::string action;  // list, get
  std::string agent{};
  std::string name{};
  std::string file{};  // of get: "-" is standard output; empty: the artifact's name, here
  service::OutputForm form = service::OutputForm::kText;
};

// The exit code.
int artifacts(const ArtifactsArguments& arguments);

}  // namespace hutch::cli
