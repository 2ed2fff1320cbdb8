// Reads manifests and configurations of the OCI image format; whoever writes them may write what they like.
#include "service/image/oci_image.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "base/limits.h"
#include "base/text.h"
#include "store/image_store.h"

namespace hutch::service {

namespace {

using Json = nlohmann::json;

constexpr int kDepthMax = 16;
constexpr std::size_t kVariablesMax = 128;
constexpr std::size_t kVariableBytesMax = 4096;
constexpr std::size_t kReferenceBytesMax = 1024;
constexpr std::uint64_t kBlobBytesMax = 32ULL << 30;

// Of containers-transports(5).
constexpr std::array<std::string_view, 7> kTransports = {
    "docker://", "oci-archive:", "docker-archive:", "oci:", "dir:", "docker-daemon:", "containers-storage:"};

constexpr std::array<std::string_view, 8> kLayerTypes = {
    "application/vnd.oci.image.layer.v1.tar",
    "application/vnd.oci.image.layer.v1.tar+gzip",
    "application/vnd.oci.image.layer.v1.tar+zstd",
    "application/vnd.docker.image.rootfs.diff.tar",
    "application/vnd.docker.image.rootfs.diff.tar.gzip",
    "application/vnd.docker.image.rootfs.diff.tar.zstd",
    "application/vnd.oci.image.layer.nondistributable.v1.tar",
    "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip"};

// The destructor of a tree recurses: none is built of what is deeper.
Result<Json> parse_object(std::string_view text, std::string_view what) {
  if (text.size() > limits::kJsonBytesMax) return fail(Error::invalid(cat({what, " is too large"})));
  bool is_too_deep = false;
  const auto check = [&](int depth, Json::parse_event_t, Json&) {
    is_too_deep = is_too_deep || depth > kDepthMax;
    return !is_too_deep;
  };
  Json parsed = Json::parse(text, check, false);
  if (is_too_deep || !parsed.is_object()) return fail(Error::invalid(cat({what, " is no object of JSON"})));
  return parsed;
}

const Json* member(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? &*found : nullptr;
}

Result<OciBlob> parse_blob(const Json& descriptor, std::string_view what) {
  static constexpr std::string_view kAlgorithm = "sha256:";
  static constexpr std::size_t kHexBytes = 64;
  const Json* digest = member(descriptor, "digest");
  const Json* size = member(descriptor, "size");
  if (digest == nullptr || !digest->is_string() || size == nullptr || !size->is_number_unsigned()) {
    return fail(Error::invalid(cat({"the manifest's ", what, " has no digest and size"})));
  }
  const auto& text = digest->get_ref<const std::string&>();
  const std::string hex = text.starts_with(kAlgorithm) ? text.substr(kAlgorithm.size()) : std::string();
  if (hex.size() != kHexBytes || hex.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return fail(Error::invalid(cat(
        {"the manifest's ", what, " has the digest \"", printable(text, 100), "\"; sha256 is what is known here"})));
  }
  const auto bytes = size->get<std::uint64_t>();
  if (bytes > kBlobBytesMax) return fail(Error::invalid(cat({"the manifest's ", what, " is too large"})));
  return OciBlob{hex, bytes};
}

bool is_variable(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !is_letter(name.front())) return false;
  return std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

Result<OciManifest> parse_oci_manifest(std::string_view text) {
  const Json parsed = TRY(parse_object(text, "the image's manifest"));
  if (member(parsed, "manifests") != nullptr) {
    return fail(
        Error::unsupported("the image is an index of several machines' images; name one of them by its digest"));
  }
  const Json* layers = member(parsed, "layers");
  const Json* config = member(parsed, "config");
  if (config == nullptr || layers == nullptr || !layers->is_array() || layers->empty()) {
    return fail(Error::invalid("the image's manifest has no configuration and layers"));
  }
  if (layers->size() > kOciLayersMax) {
    return fail(Error::invalid(cat({"the image has more than ", std::to_string(kOciLayersMax), " layers"})));
  }
  OciManifest manifest;
  manifest.config = TRY(parse_blob(*config, "configuration"));
  for (const Json& layer : *layers) {
    const Json* type = member(layer, "mediaType");
    const std::string said = type != nullptr && type->is_string() ? type->get<std::string>() : std::string();
    if (std::ranges::find(kLayerTypes, said) == kLayerTypes.end()) {
      return fail(Error::unsupported(
          cat({"the image has a layer of the type \"", printable(said, 100), "\", which is no tar"})));
    }
    manifest.layers.push_back(TRY(parse_blob(layer, "layer")));
  }
  return manifest;
}

Result<std::vector<std::string>> parse_oci_environment(std::string_view text) {
  const Json parsed = TRY(parse_object(text, "the image's configuration"));
  std::vector<std::string> environment;
  const Json* config = member(parsed, "config");
  const Json* entries = config != nullptr ? member(*config, "Env") : nullptr;
  if (entries == nullptr || !entries->is_array()) return environment;
  std::set<std::string, std::less<>> names = {"HOME", "USER", "TMPDIR"};
  for (const Json& entry : *entries) {
    if (!entry.is_string()) continue;
    const auto& variable = entry.get_ref<const std::string&>();
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos || variable.size() > kVariableBytesMax || variable.contains('\0')) continue;
    std::string name = variable.substr(0, equals);
    if (!is_variable(name) || !names.insert(std::move(name)).second) continue;
    environment.push_back(variable);
    if (environment.size() == kVariablesMax) break;
  }
  return environment;
}

Result<std::string> name_of_reference(std::string_view reference) {
  static constexpr std::string_view kRegistry = "docker://";
  std::string_view rest = reference;
  const bool of_registry = rest.starts_with(kRegistry);
  if (of_registry) rest.remove_prefix(kRegistry.size());
  const auto is_elsewhere = [&](std::string_view transport) { return rest.starts_with(transport); };
  const bool elsewhere = !of_registry && std::ranges::any_of(kTransports, is_elsewhere);
  rest = rest.substr(0, rest.find('@'));
  rest = rest.substr(rest.rfind('/') + 1);
  auto name = elsewhere ? Result<std::string>(fail(Error::invalid(""))) : store::image_name(rest);
  if (name) return name;
  return fail(Error::invalid(cat({printable(reference, 200), ": say what it is to be called: hutch image pull ",
                                  printable(reference, 200), " NAME"})));
}

Result<std::string> with_transport(std::string_view reference) {
  const auto refuse = [&](std::string_view why) {
    return fail(Error::invalid(cat({"\"", printable(reference, 200), "\": ", why})));
  };
  if (reference.empty() || reference.size() > kReferenceBytesMax) return refuse("is no reference of an image");
  const auto is_plain = [](unsigned char c) { return c > ' ' && c != 0x7f; };
  if (!std::ranges::all_of(reference, is_plain)) return refuse("a reference has no blanks and control characters");
  const auto starts = [&](std::string_view transport) { return reference.starts_with(transport); };
  if (std::ranges::any_of(kTransports, starts)) return std::string(reference);
  if (reference.starts_with('-') || reference.starts_with('/') || reference.starts_with('.')) {
    return refuse("names no registry's image; one in a file is oci-archive:FILE or docker-archive:FILE");
  }
  return cat({"docker://", reference});
}

}  // namespace hutch::service
