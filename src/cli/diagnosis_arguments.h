// What the command line says of the verbs that look at this machine: doctor and selftest.
#pragma once

#include <string>
#include <vector>

#include "service/request.h"

namespace hutch::cli {

struct DoctorArguments {
  std::string backend{};  // whose sandboxes are tried; empty: the machine is looked at
  service::OutputForm form = service::OutputForm::kText;
};

struct SelftestArguments {
  enum class What { kNothing, kAttacks };
  enum class Doing { kRun, kList };
  What what = What::kNothing;
  Doing doing = Doing::kRun;
  std::vector<std::string> backends{};  // empty: each that isolates and is there
  std::vector<std::string> names{};     // parts of names, or kinds; empty: all
  service::OutputForm form = service::OutputForm::kText;
};

}  // namespace hutch::cli
