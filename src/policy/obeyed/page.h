// Writes docs/obeyed.md from the list.
#pragma once

#include <string>

namespace hutch::policy {

std::string obeyed_page();

}  // namespace hutch::policy
