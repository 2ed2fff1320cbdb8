// hutch paths.
#pragma once

#include "service/common/request.h"

namespace hutch::cli {

struct PathsArguments {
  service::OutputForm form = service::OutputForm::kText;
};

// The exit code.
int paths(const PathsArguments& arguments);

}  // namespace hutch::cli
