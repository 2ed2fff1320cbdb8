// Fixed directories for root, the XDG base directories for everyone else.
#include "host/state_dirs.h"

#include "base/text.h"
#include "sys/host_info.h"

namespace hutch::host {

StateDirs state_dirs(std::uint32_t uid, const std::string& home, const EnvironmentLookup& lookup) {
  if (uid == 0) return {"/etc/hutch", "/var/lib/hutch", "/run/hutch"};
  const auto base = [&](const char* variable, const std::string& otherwise) {
    const std::optional<std::string> value = lookup(variable);
    return value && value->starts_with('/') ? *value : otherwise;
  };
  return {
      .config = base("XDG_CONFIG_HOME", cat({home, "/.config"})) + "/hutch",
      .data = base("XDG_DATA_HOME", cat({home, "/.local/share"})) + "/hutch",
      .runtime = base("XDG_RUNTIME_DIR", cat({"/run/user/", std::to_string(uid)})) + "/hutch",
  };
}

StateDirs own_state_dirs(std::uint32_t uid, const std::string& home) {
  return state_dirs(uid, home, sys::environment_variable);
}

}  // namespace hutch::host
