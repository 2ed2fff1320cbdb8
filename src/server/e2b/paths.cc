// Paths of the E2B-compatible API.
#include "server/e2b/paths.h"

#include <utility>

#include "base/limits.h"
#include "base/text.h"

namespace hutch::server::e2b {

Result<std::string> absolute_path(std::string_view home, std::string_view path) {
  if (path.contains('\0')) return fail(Error::invalid("the path holds a zero byte"));
  if (path.size() > limits::kPathBytesMax) return fail(Error::invalid("the path is too long"));
  std::string whole(path);
  if (path == "~" || path.starts_with("~/")) whole = cat({home, path.substr(1)});
  if (!whole.starts_with('/')) whole = cat({home, "/", whole});
  std::vector<std::string> parts;
  for (const std::string_view part : split(whole, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.emplace_back(part);
    } else if (!parts.empty()) {
      parts.pop_back();
    }
  }
  return "/" + join(parts, "/");
}

std::string at_home(std::string path, std::string_view home) {
  constexpr std::string_view kClientsHome = "/home/user";
  const bool is_below = path == kClientsHome || path.starts_with(cat({kClientsHome, "/"}));
  return is_below ? cat({home, std::string_view(path).substr(kClientsHome.size())}) : path;
}

Result<std::string> path_of_client(const service::AgentSandbox& agent, tool::User user, std::string_view path) {
  if (user == tool::User::kRoot) return absolute_path(service::kRootHome, path);
  const std::string& home = agent.layout().home;
  std::string absolute = TRY(absolute_path(home, path));
  return store::backend_kind(agent.record()) == policy::BackendKind::kUser ? at_home(std::move(absolute), home)
                                                                           : absolute;
}

wire::FilePlace place_of(const std::string& absolute) {
  return {"/", absolute == "/" ? std::string(".") : absolute.substr(1)};
}

std::string last_name(const std::string& absolute) {
  return absolute == "/" ? absolute : absolute.substr(absolute.rfind('/') + 1);
}

std::string join_path(const std::string& directory, const std::string& relative) {
  return cat({directory, directory.ends_with('/') ? "" : "/", relative});
}

}  // namespace hutch::server::e2b
