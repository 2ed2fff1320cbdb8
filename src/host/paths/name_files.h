// Checks the host's resolv.conf(5) and hosts(5): where the sandbox's own files must lie, and which settings they keep.
#pragma once

#include <string>
#include <vector>

#include "plan/paths/name_files.h"

namespace hutch::host {

struct NameFiles {
  std::string resolver;  // the canonical target of /etc/resolv.conf; empty if there is none
  std::string hosts;     // likewise of /etc/hosts
  plan::SearchRules search;
  std::vector<std::string> notes;  // a line for each file that is not read
};

// Never blocks: hutch notes a file that is not regular or too large, and does not read it.
NameFiles look_at_name_files();

}  // namespace hutch::host
