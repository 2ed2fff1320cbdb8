// hutch settings.
#include "cli/machine/settings.h"

#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "sys/files/tree.h"

namespace hutch::cli {

int settings(const service::SettingsRequest& request) {
  const auto dirs = own_dirs();
  if (!dirs) return complain(dirs.error());
  const auto answer = service::settle_settings(request, dirs->config, sys::own_environment());
  if (!answer) return complain(answer.error());
  const int printed = print(answer->text);
  return printed != 0 ? printed : answer->exit_code;
}

}  // namespace hutch::cli
