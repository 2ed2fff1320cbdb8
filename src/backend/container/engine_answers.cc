// Reads the JSON of /version, /info and of errors.
#include "backend/container/engine_answers.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"

namespace hutch::backend::container {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kTextBytesMax = 256;
constexpr std::size_t kMessageBytesMax = 1024;
constexpr int kDepthMax = 32;

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
    return fail({Code::kSystem, 0, cat({"GET ", what, ": the answer is no JSON object of an engine"})});
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
  const Json json = TRY(object_of(body, "/version"));
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

Result<EngineInfo> read_info(std::string_view body) {
  const Json json = TRY(object_of(body, "/info"));
  return EngineInfo{text_of(json, "Driver"), text_of(json, "CgroupDriver"), text_of(json, "CgroupVersion")};
}

}  // namespace hutch::backend::container
