// Reads the JSON of /version, /info and of errors.
#include "backend/container/engine_answers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/base64.h"
#include "base/text.h"

namespace hutch::backend::container {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kTextBytesMax = 256;
constexpr std::size_t kMessageBytesMax = 1024;
constexpr std::size_t kPathBytesMax = 4096;
constexpr std::size_t kLabelsMax = 64;
constexpr std::size_t kLabelBytesMax = std::size_t{16} * 1024;
constexpr std::string_view kOwnLabels = "hutch.";
constexpr int kDepthMax = 32;
constexpr std::uint64_t kPidMax = 1 << 22;  // PID_MAX_LIMIT of 64-bit kernels

// A tree is built only of what is no deeper than this: the destructor of one recurses.
Json parse(std::string_view body) {
  bool is_too_deep = false;
  const auto check = [&](int depth, Json::parse_event_t, Json&) {
    is_too_deep = is_too_deep || depth > kDepthMax;
    return !is_too_deep;
  };
  Json json = Json::parse(body, check, false);
  return is_too_deep ? Json(Json::value_t::discarded) : json;
}

std::string text_of(const Json& object, const char* key, std::size_t bytes_max = kTextBytesMax) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return {};
  return printable(found->get_ref<const std::string&>(), bytes_max);
}

// The 41 of "1.41"; absent where it is no version of this interface.
std::optional<int> minor_of(std::string_view api) {
  if (!api.starts_with("1.")) return std::nullopt;
  api.remove_prefix(2);
  int minor = 0;
  const auto [end, error] = std::from_chars(api.data(), api.data() + api.size(), minor);
  if (error != std::errc() || end != api.data() + api.size() || minor < 0) return std::nullopt;
  return minor;
}

std::string engine_name(const Json& json) {
  const auto components = json.find("Components");
  if (components == json.end() || !components->is_array()) return "docker";
  const bool is_podman = std::ranges::any_of(*components, [](const Json& component) {
    return component.is_object() && text_of(component, "Name") == "Podman Engine";
  });
  return is_podman ? "podman" : "docker";
}

Result<Json> object_of(std::string_view body, std::string_view what) {
  Json json = parse(body);
  if (!json.is_object()) {
    return fail({Code::kSystem, 0, cat({what, ": the answer is no JSON object of an engine"})});
  }
  return json;
}

}  // namespace

Result<std::string> good_body(const Answer& answer, std::string_view request) {
  if (answer.status >= 200 && answer.status < 300) return answer.body;
  const Json json = parse(answer.body);
  std::string message = json.is_object() ? text_of(json, "message", kMessageBytesMax) : "";
  if (message.empty()) message = printable(answer.body, kMessageBytesMax);
  const Code code = answer.status == 404 ? Code::kNotFound : answer.status == 409 ? Code::kConflict : Code::kSystem;
  return fail({code, 0, cat({request, ": the engine answers ", std::to_string(answer.status), ": ", message})});
}

Result<EngineVersion> read_version(std::string_view body) {
  const Json json = TRY(object_of(body, "GET /version"));
  const std::string newest = text_of(json, "ApiVersion");
  const std::optional<int> most = minor_of(newest);
  if (!most) return fail({Code::kSystem, 0, cat({"GET /version: ApiVersion is \"", newest, "\""})});
  EngineVersion version{engine_name(json), text_of(json, "Version"), {}};
  if (*most < kApiMinor) {
    return fail(Error::unsupported(
        cat({version.name, " ", version.version, " speaks version ", newest, " of the interface, and 1.",
             std::to_string(kApiMinor), " is the oldest that is spoken here; install a newer engine"})));
  }
  const int least = minor_of(text_of(json, "MinAPIVersion")).value_or(0);
  if (least > *most) return fail({Code::kSystem, 0, "GET /version: MinAPIVersion is above ApiVersion"});
  version.api = cat({"1.", std::to_string(std::max(least, kApiMinor))});
  return version;
}

std::optional<EngineVersion> read_podman_ping(const Answer& ping) {
  static constexpr std::string_view kServer = "Libpod/";
  if (ping.status != 200 || !ping.server.starts_with(kServer)) return std::nullopt;
  if (minor_of(ping.api).value_or(0) < kApiMinor) return std::nullopt;
  const std::string_view version = std::string_view(ping.server).substr(kServer.size());
  return EngineVersion{"podman", printable(version.substr(0, version.find(' ')), kTextBytesMax),
                       cat({"1.", std::to_string(kApiMinor)})};
}

Status check_imported(std::string_view body) {
  for (const std::string_view line : split(body, '\n')) {
    const Json json = parse(line);
    const std::string error = json.is_object() ? text_of(json, "error", kMessageBytesMax) : "";
    if (!error.empty()) return fail({Code::kSystem, 0, cat({"the engine cannot import the archive: ", error})});
  }
  return {};
}

Result<ContainerState> read_container_state(std::string_view body) {
  const Json json = TRY(object_of(body, "GET /containers/ID/json"));
  const auto state = json.find("State");
  if (state == json.end() || !state->is_object()) {
    return fail({Code::kSystem, 0, "GET /containers/ID/json: the answer has no State"});
  }
  ContainerState found;
  const auto running = state->find("Running");
  found.is_running = running != state->end() && running->is_boolean() && running->get<bool>();
  const auto pid = state->find("Pid");
  if (pid != state->end() && pid->is_number_unsigned() && pid->get<std::uint64_t>() <= kPidMax) {
    found.pid = pid->get<std::uint32_t>();
  }
  found.image = text_of(json, "Image");
  return found;
}

// The mode's bits are those of Go's io/fs.FileMode.
Result<PathInside> read_path_stat(std::string_view header) {
  static constexpr std::uint64_t kModeDirectory = 1ULL << 31;
  static constexpr std::uint64_t kModeLink = 1ULL << 27;
  // Devices, pipes, sockets, and what is none of these.
  static constexpr std::uint64_t kModeOther = 1ULL << 26 | 1ULL << 25 | 1ULL << 24 | 1ULL << 21 | 1ULL << 19;
  const auto text = from_base64(header);
  const Json json = text ? parse(*text) : Json();
  const auto mode = json.is_object() ? json.find("mode") : json.end();
  if (!json.is_object() || mode == json.end() || !mode->is_number_unsigned()) {
    return fail({Code::kSystem, 0, "HEAD /containers/ID/archive: the answer does not say what is there"});
  }
  const auto bits = mode->get<std::uint64_t>();
  PathInside found{.kind = PathInside::Kind::kFile};
  if ((bits & kModeOther) != 0) found.kind = PathInside::Kind::kOther;
  if ((bits & kModeDirectory) != 0) found.kind = PathInside::Kind::kDirectory;
  if ((bits & kModeLink) != 0) found.kind = PathInside::Kind::kLink;
  if (found.kind != PathInside::Kind::kLink) return found;
  const auto target = json.find("linkTarget");
  const auto* path = target != json.end() ? target->get_ptr<const std::string*>() : nullptr;
  const auto is_plain = [](char c) { return c > ' ' && c < '\x7f'; };
  // What JSON has no text for comes as another character, by which something else may lie there.
  if (path != nullptr && path->size() <= kPathBytesMax && path->starts_with('/') &&
      std::ranges::all_of(*path, is_plain)) {
    found.leads_to = *path;
  }
  return found;
}

Result<std::string> read_created(std::string_view body) {
  const Json json = TRY(object_of(body, "POST /containers/create"));
  std::string id = text_of(json, "Id");
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (id.empty() || !std::ranges::all_of(id, is_hex)) {
    return fail({Code::kSystem, 0, "POST /containers/create: the answer has no Id"});
  }
  return id;
}

Result<std::vector<std::string>> read_own_names(std::string_view body) {
  const Json json = parse(body);
  if (!json.is_array()) return fail({Code::kSystem, 0, "GET /containers/json: the answer is no list"});
  std::vector<std::string> own;
  for (const Json& one : json) {
    const auto names = one.is_object() ? one.find("Names") : one.end();
    if (!one.is_object() || names == one.end() || !names->is_array()) continue;
    for (const Json& name : *names) {
      if (!name.is_string()) continue;
      std::string_view text = name.get_ref<const std::string&>();
      if (text.starts_with('/')) text.remove_prefix(1);
      const std::string_view digits = text.substr(std::min(text.size(), kNamePrefix.size()));
      const bool is_own = text.starts_with(kNamePrefix) && digits.size() == kNameDigits &&
                          digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
      if (is_own) own.emplace_back(text);
    }
  }
  return own;
}

Result<EngineImage> read_image(std::string_view body) {
  const Json json = TRY(object_of(body, "GET /images/NAME/json"));
  EngineImage image{.id = text_of(json, "Id"), .labels = {}};
  if (image.id.empty()) return fail({Code::kSystem, 0, "GET /images/NAME/json: the answer has no Id"});
  const auto config = json.find("Config");
  if (config == json.end() || !config->is_object()) return image;
  const auto labels = config->find("Labels");
  if (labels == config->end() || !labels->is_object()) return image;
  for (const auto& [name, value] : labels->items()) {
    if (image.labels.size() == kLabelsMax) break;
    const bool own = name.starts_with(kOwnLabels) && name.size() <= kTextBytesMax;
    if (own && value.is_string()) image.labels[name] = printable(value.get_ref<const std::string&>(), kLabelBytesMax);
  }
  return image;
}

Result<EngineInfo> read_info(std::string_view body) {
  const Json json = TRY(object_of(body, "GET /info"));
  const auto holds = [&](const char* key) { return !json.contains(key) || json.at(key) != false; };
  EngineInfo info{text_of(json, "Driver"),       {},
                  text_of(json, "CgroupDriver"), text_of(json, "CgroupVersion"),
                  holds("MemoryLimit"),          holds("CpuCfsQuota")};
  const auto status = json.find("DriverStatus");
  if (status == json.end() || !status->is_array()) return info;
  for (const Json& pair : *status) {
    const bool texts = pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_string();
    if (texts && pair[0] == "Backing Filesystem") info.backing = printable(pair[1].get<std::string>(), kTextBytesMax);
  }
  return info;
}

// What docker's and podman's drivers do with the option "size".
Status check_disk_limit(const EngineInfo& info) {
  static constexpr std::array<std::string_view, 3> kAble = {"btrfs", "zfs", "devicemapper"};
  if (std::ranges::find(kAble, info.storage_driver) != kAble.end()) return {};
  const bool overlay = info.storage_driver == "overlay2" || info.storage_driver == "overlay";
  if (overlay && info.backing == "xfs") return {};
  return fail(Error::unsupported(cat(
      {"limits.disk: the engine's storage cannot hold it (", info.storage_driver, info.backing.empty() ? "" : " on ",
       info.backing, "); leave it out, or have the engine's data on xfs mounted with pquota, btrfs or zfs"})));
}

}  // namespace hutch::backend::container
