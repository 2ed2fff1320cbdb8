// Looks at the host's files of names: where the sandbox's own come to lie, and what of the host's they carry over.
#pragma once

#include <string>
#include <vector>

#include "plan/name_files.h"

namespace hutch::host {

struct NameFiles {
  std::string resolver;  // canonical path that /etc/resolv.conf leads to; empty where it leads nowhere
  std::string hosts;     // likewise of /etc/hosts
  plan::SearchRules search;
  std::vector<std::string> notes;  // a line for each file that is not read
};

// Never waits: hutch notes a file that is not regular or too large, and does not read it.
NameFiles look_at_name_files();

}  // namespace hutch::host
