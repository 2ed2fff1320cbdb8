// What an engine's answers say: judged as data. Nothing of an answer is believed beyond its type and its limits.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/container/engine_http.h"
#include "base/result.h"

namespace hutch::backend::container {

struct EngineVersion {
  std::string name;     // "docker" or "podman"
  std::string version;  // "20.10.24"
  std::string api;      // the version of the interface that is spoken to it, "1.41"
};

struct EngineInfo {
  std::string storage_driver;
  std::string backing;  // the file system below it, "extfs"; empty: it does not say
  std::string cgroup_driver;
  std::string cgroup_version;  // "1", "2"; empty: it does not say
  bool holds_memory = true;  // unless it says that it cannot, as one of a person without a delegated cgroup does
  bool holds_cpu = true;
};

struct ContainerState {
  bool is_running = false;
  std::uint32_t pid = 0;  // of its first process, by the host's number; 0: none
  std::string image{};    // the id of its image; empty: it does not say
};

// What lies at a path of a container.
struct PathInside {
  enum class Kind { kFile, kDirectory, kLink, kOther } kind = Kind::kOther;
  std::string leads_to{};  // a link: absolute, within the container; empty: not known
};

struct EngineImage {
  std::string id;
  std::map<std::string, std::string, std::less<>> labels;  // those of hutch's own, "hutch.NAME"
};

// Of a container of hutch's: this, and 16 hexadecimal digits.
inline constexpr std::string_view kNamePrefix = "hutch-";
inline constexpr std::size_t kNameDigits = 16;

inline constexpr int kApiMinor = 41;  // 1.41, the oldest that is spoken

// The answer where its status says that it went well; else the engine's own message, made printable.
Result<std::string> good_body(const Answer& answer, std::string_view request);

// The answer to GET /version. kUnsupported where the engine is too old.
Result<EngineVersion> read_version(std::string_view body);
// The answer to GET /_ping, if it is podman's and contains a version; else absent.
std::optional<EngineVersion> read_podman_ping(const Answer& ping);
Result<EngineInfo> read_info(std::string_view body);
// Whether its storage may hold a limit of what is written over an image; Code::kUnsupported says what could. Of xfs the
// engine itself knows whether it is mounted with what that takes.
Status check_disk_limit(const EngineInfo& info);
// Of POST /images/create, which says in a good answer as well that it failed: objects, a line each.
Status check_imported(std::string_view body);
// Of GET /containers/ID/json, and the id in the answer to POST /containers/create.
Result<ContainerState> read_container_state(std::string_view body);
Result<std::string> read_created(std::string_view body);
// Of the header of HEAD /containers/ID/archive.
Result<PathInside> read_path_stat(std::string_view header);
// Of GET /containers/json: the names that are as hutch makes them, without the slash before them.
Result<std::vector<std::string>> read_own_names(std::string_view body);
// Of GET /images/NAME/json.
Result<EngineImage> read_image(std::string_view body);

}  // namespace hutch::backend::container
