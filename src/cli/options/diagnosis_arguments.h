// The arguments of the verbs that examine the host: doctor and selftest.
#pragma once

#include <string>
#include <vector>

#include "service/common/request.h"

namespace hutch::cli {

struct DoctorArguments {
  std::optional<policy::BackendKind> backend{};  // try sandboxes of this backend; empty: examine the host
  service::OutputForm form = service::OutputForm::kText;
};

struct SelftestArguments {
  enum class What { kNothing, kAttacks };
  enum class Doing { kRun, kList };
  What what = What::kNothing;
  Doing doing = Doing::kRun;
  std::vector<std::string> backends{};  // empty: each backend that isolates and works
  std::vector<std::string> names{};     // parts of names, or kinds; empty: all
  service::OutputForm form = service::OutputForm::kText;
};

}  // namespace hutch::cli
