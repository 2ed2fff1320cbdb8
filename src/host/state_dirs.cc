// Fixed directories for root, the XDG base directories for everyone else.
#include "host/state_dirs.h"

#include "base/text.h"
#include "sys/files/files.h"
#include "sys/process/host_info.h"

namespace hutch::host {

StateDirs state_dirs(std::uint32_t uid, const std::string& home, const EnvironmentLookup& lookup) {
  const std::optional<std::string> all = lookup("HUTCH_STATE");
  if (all && all->starts_with('/')) return {cat({*all, "/config"}), cat({*all, "/data"}), cat({*all, "/run"})};
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

Result<StateDirs> own_state_dirs(std::uint32_t uid, const std::string& home) {
  const std::optional<std::string> all = sys::environment_variable("HUTCH_STATE");
  if (all && !all->empty() && !all->starts_with('/')) {
    return fail(Error::invalid(
        cat({"HUTCH_STATE=", printable(*all), ": must be an absolute path, such as $PWD/", printable(*all)})));
  }
  StateDirs dirs = state_dirs(uid, home, sys::environment_variable);
  // Where nobody makes /run/user for a login (pam_systemd(8)), sockets lie beside the data.
  const std::string login = cat({"/run/user/", std::to_string(uid)});
  if (dirs.runtime == cat({login, "/hutch"}) && !sys::exists(login)) dirs.runtime = cat({dirs.data, "/run"});
  return dirs;
}

}  // namespace hutch::host
