// hutch pool: the daemon's sandboxes that are kept ready.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "service/common/request.h"

namespace hutch::cli {

struct PoolArguments {
  std::string action;     // stats, fill, drain
  std::size_t count = 1;  // of fill
  std::vector<std::pair<std::string, std::string>> wish;  // of fill: backend, trust, ... as the daemon's call has them
  service::OutputForm form = service::OutputForm::kText;
};

int pool(const PoolArguments& arguments);

}  // namespace hutch::cli
