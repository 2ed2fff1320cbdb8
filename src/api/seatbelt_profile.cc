// The Seatbelt profile that a caller names.
#include "api/seatbelt_profile.h"

#include <sys/stat.h>

#include "base/text.h"
#include "plan/make/seatbelt.h"
#include "sys/files/files.h"
#include "sys/files/whole_file.h"
#include "sys/io.h"

namespace hutch::api {

Status keep_seatbelt_profile(const std::string& path, const std::vector<policy::Rule>& rules) {
  if (sys::exists(path)) {
    const UniqueFd file = TRY(sys::open(path, sys::Open::kPath));
    const auto mode = TRY(sys::identify(file.get())).mode;
    if (S_ISREG(mode)) return {};
    return fail(Error::invalid(cat({printable(path), ": is no regular file"})));
  }
  const std::string profile = TRY(plan::seatbelt_profile({.rules = rules, .proxy_port = std::nullopt}));
  return sys::replace_file(path, profile);
}

}  // namespace hutch::api
