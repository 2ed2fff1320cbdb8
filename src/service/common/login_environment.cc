// Variables of several sources, and the files that change what a login shell says.
#include "service/common/login_environment.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/text.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"

namespace hutch::service {

// Later ones win.
std::vector<std::string> merged(const std::vector<std::string>& base, const std::vector<std::string>& more) {
  std::map<std::string, std::string, std::less<>> variables;
  for (const auto* entries : {&base, &more}) {
    for (const std::string& entry : *entries) {
      const std::size_t equals = entry.find('=');
      if (equals != std::string::npos && equals > 0) variables[entry.substr(0, equals)] = entry.substr(equals + 1);
    }
  }
  std::vector<std::string> environment;
  for (const auto& [name, value] : variables) environment.push_back(cat({name, "=", value}));
  return environment;
}

// A system's profile sets PATH as if nobody had programs of their own; pip install --user puts them there. Those of the
// host come last: they take no name from anybody.
std::vector<std::string> with_own_programs(std::vector<std::string> environment, const std::string& home,
                                           const std::string& of_host) {
  static constexpr std::string_view kName = "PATH=";
  const std::string own = home + "/.local/bin";
  for (std::string& entry : environment) {
    if (!entry.starts_with(kName)) continue;
    std::string path = entry.substr(kName.size());
    const auto has = [&](const std::string& place) {
      const auto places = split(path, ':');
      return std::ranges::find(places, place) != places.end();
    };
    if (!has(own)) path = cat({own, path.empty() ? "" : ":", path});
    if (!of_host.empty() && !has(of_host)) path += cat({":", of_host});
    entry = cat({kName, path});
  }
  return environment;
}

// An installer that adds to PATH writes there. They are looked at by name alone, no link is followed; a home that
// cannot be seen from here has none.
std::string login_files(const std::string& home) {
  std::string files;
  for (const std::string_view name : {".bash_profile", ".bash_login", ".profile", ".bashrc"}) {
    const auto status = sys::file_status(sys::kCwd, cat({home, "/", name}));
    if (!status) continue;
    files += cat({name, " ", std::to_string(status->inode), " ", std::to_string(status->size), " ",
                  std::to_string(status->changed_ns), "\n"});
  }
  return files;
}

}  // namespace hutch::service
