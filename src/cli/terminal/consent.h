// Asking on the terminal before something is done.
#pragma once

#include <string_view>

#include "base/result.h"

namespace hutch::cli {

bool is_terminal(int fd);

struct Consent {
  std::string_view what;      // whole lines, for whoever decides
  std::string_view question;  // "Remove it?"
  std::string_view option;    // what says yes where there is no terminal: "--yes removes it"
  std::string_view declined;  // "nothing was removed"
};
// Success is a yes; whoever reads it decides with "y" alone. Code::kPermissionDenied for everything else.
Status ask_consent(const Consent& consent);

}  // namespace hutch::cli
