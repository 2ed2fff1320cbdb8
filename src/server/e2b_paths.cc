// Paths of the E2B-compatible API.
#include "server/e2b_paths.h"

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
