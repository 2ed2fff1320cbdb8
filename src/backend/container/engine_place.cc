// DOCKER_HOST, else dockerd's socket, else podman's.
#include "backend/container/engine_place.h"

#include "base/text.h"

namespace hutch::backend::container {

Result<std::vector<std::string>> engine_sockets(const EngineEnvironment& environment) {
  constexpr std::string_view kScheme = "unix://";
  const std::string& host = environment.docker_host;
  if (!host.empty()) {
    if (!host.starts_with(kScheme) || !host.substr(kScheme.size()).starts_with('/')) {
      return fail(Error::unsupported(cat({"DOCKER_HOST=", printable(host),
                                          ": only an engine on a Unix socket of this machine is used; unset it, or set "
                                          "it to unix:///path/of/the/socket"})));
    }
    return std::vector{host.substr(kScheme.size())};
  }
  std::vector<std::string> sockets = {"/var/run/docker.sock"};
  // Root's engine is the machine's: the directory of a login that root took over from a user is that user's.
  if (environment.uid != 0 && environment.runtime_directory.starts_with('/')) {
    sockets.push_back(cat({environment.runtime_directory, "/podman/podman.sock"}));
  }
  sockets.emplace_back("/run/podman/podman.sock");
  return sockets;
}

}  // namespace hutch::backend::container
