// Manifests, and the directory of images.
#include "store/image_store.h"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/limits.h"
#include "base/text.h"
#include "sys/files/tree.h"
#include "sys/process/host_info.h"

namespace hutch::store {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kManifestVersion = 1;

Json extents_json(const std::vector<plan::IdExtent>& extents);
Result<std::vector<plan::IdExtent>> parse_extents(const Json& value);
Result<std::vector<std::string>> parse_environment(const Json& value);
Result<std::string> text_member(const Json& object, const char* key);
Result<std::uint64_t> number_of(const Json& object, const char* key);
bool is_name_part(std::string_view part, std::string_view others);

}  // namespace

std::string manifest_json(const ImageManifest& manifest) {
  const Json object = {{"version", kManifestVersion},
                       {"name", manifest.name},
                       {"digest", manifest.digest},
                       {"made", manifest.made},
                       {"entries", manifest.entries},
                       {"bytes", manifest.bytes},
                       {"ids", manifest.ids.kind == plan::IdMap::Kind::kMany ? "many" : "one"},
                       {"user", manifest.ids.user},
                       {"group", manifest.ids.group},
                       {"users", extents_json(manifest.ids.users)},
                       {"groups", extents_json(manifest.ids.groups)},
                       {"environment", manifest.environment}};
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<ImageManifest> parse_manifest(std::string_view text) {
  if (text.size() > limits::kJsonBytesMax) return fail(Error::invalid("a manifest is not as large"));
  // A manifest is two deep: what is deeper is not built at all.
  static constexpr int kDepthMax = 4;
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kDepthMax; };
  const Json object = Json::parse(text, shallow, false);
  if (!object.is_object() || TRY(number_of(object, "version")) != kManifestVersion) {
    return fail(Error::invalid("it is no manifest of this version"));
  }
  ImageManifest manifest;
  manifest.name = TRY(text_member(object, "name"));
  manifest.digest = TRY(text_member(object, "digest"));
  manifest.made = TRY(text_member(object, "made"));
  manifest.entries = TRY(number_of(object, "entries"));
  manifest.bytes = TRY(number_of(object, "bytes"));
  const std::string kind = TRY(text_member(object, "ids"));
  if (kind != "many" && kind != "one") return fail(Error::invalid("\"ids\" is many or one"));
  manifest.ids.kind = kind == "many" ? plan::IdMap::Kind::kMany : plan::IdMap::Kind::kOne;
  const std::uint64_t user = TRY(number_of(object, "user"));
  const std::uint64_t group = TRY(number_of(object, "group"));
  if (user > UINT32_MAX || group > UINT32_MAX) return fail(Error::invalid("\"user\" and \"group\" are ids"));
  manifest.ids.user = static_cast<std::uint32_t>(user);
  manifest.ids.group = static_cast<std::uint32_t>(group);
  if (!object.contains("users") || !object.contains("groups")) return fail(Error::invalid("it has no ids"));
  manifest.ids.users = TRY(parse_extents(object["users"]));
  manifest.ids.groups = TRY(parse_extents(object["groups"]));
  if (object.contains("environment")) manifest.environment = TRY(parse_environment(object["environment"]));
  return manifest;
}

Result<std::string> image_name(std::string_view typed) {
  static constexpr std::string_view kMarks = "._-";
  static constexpr std::string_view kLarge = "._-ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const std::size_t colon = typed.find(':');
  const std::string_view base = typed.substr(0, colon);
  const std::string_view tag = colon == std::string_view::npos ? "latest" : typed.substr(colon + 1);
  if (is_name_part(base, kMarks) && is_name_part(tag, kLarge)) return cat({base, ":", tag});
  return fail(Error::invalid(cat({"\"", printable(typed),
                                  "\" is no name of an image: small letters, digits, \".\", "
                                  "\"_\", \"-\", and a tag behind \":\""})));
}

Result<std::optional<ImageManifest>> ImageStore::find(const std::string& name) const {
  const std::string path = place(name) + "/manifest.json";
  const auto text = sys::regular_file_text(path, limits::kJsonBytesMax);
  if (!text) {
    if (text.error().sys_errno == ENOENT) return std::optional<ImageManifest>();
    return fail(text.error());
  }
  ImageManifest manifest = TRY_CTX(parse_manifest(*text), path);
  if (manifest.name == name) return std::optional(std::move(manifest));
  return fail(Error::invalid(cat({path, ": it is the manifest of ", printable(manifest.name)})));
}

Result<std::vector<ImageManifest>> ImageStore::list() const {
  std::vector<ImageManifest> images;
  const auto entries = sys::list_directory(directory_, sys::Listing::kAll);
  if (!entries && entries.error().sys_errno == ENOENT) return images;
  if (!entries) return fail(entries.error());
  for (const sys::DirectoryEntry& entry : *entries) {
    const auto name = image_name(entry.name);
    if (!name || *name != entry.name) continue;
    auto manifest = TRY(find(*name));
    if (manifest) images.push_back(std::move(*manifest));
  }
  std::ranges::sort(images, {}, &ImageManifest::name);
  return images;
}

namespace {

Json extents_json(const std::vector<plan::IdExtent>& extents) {
  Json list = Json::array();
  for (const plan::IdExtent& extent : extents) list.push_back({extent.inside, extent.outside, extent.count});
  return list;
}

Result<std::vector<plan::IdExtent>> parse_extents(const Json& value) {
  static constexpr std::size_t kExtentsMax = 8;
  std::vector<plan::IdExtent> extents;
  if (!value.is_array() || value.empty() || value.size() > kExtentsMax) return fail(Error::invalid("it has no ids"));
  for (const Json& item : value) {
    const auto is_id = [](const Json& number) {
      return number.is_number_unsigned() && number.get<std::uint64_t>() <= UINT32_MAX;
    };
    if (!item.is_array() || item.size() != 3 || !std::ranges::all_of(item, is_id)) {
      return fail(Error::invalid("ids are three numbers"));
    }
    extents.push_back({item[0].get<std::uint32_t>(), item[1].get<std::uint32_t>(), item[2].get<std::uint32_t>()});
  }
  return extents;
}

Result<std::vector<std::string>> parse_environment(const Json& value) {
  std::vector<std::string> environment;
  if (!value.is_array()) return fail(Error::invalid("\"environment\" is a list"));
  for (const Json& item : value) {
    if (!item.is_string() || !item.get_ref<const std::string&>().contains('=')) {
      return fail(Error::invalid("\"environment\" holds NAME=VALUE"));
    }
    environment.push_back(item.get<std::string>());
  }
  return environment;
}

Result<std::string> text_member(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found != object.end() && found->is_string()) return found->get<std::string>();
  return fail(Error::invalid(cat({"it has no \"", key, "\""})));
}

Result<std::uint64_t> number_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found != object.end() && found->is_number_unsigned()) return found->get<std::uint64_t>();
  return fail(Error::invalid(cat({"it has no \"", key, "\""})));
}

bool is_name_part(std::string_view part, std::string_view others) {
  static constexpr std::size_t kBytesMax = 100;
  const auto is_plain = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
  };
  const auto is_fine = [&](char letter) { return is_plain(letter) || others.contains(letter); };
  if (part.empty() || part.size() > kBytesMax || part.front() == '.' || part.front() == '-') return false;
  return std::ranges::all_of(part, is_fine);
}

}  // namespace

}  // namespace hutch::store
