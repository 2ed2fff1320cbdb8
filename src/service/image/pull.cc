// skopeo(1) leaves a directory of blobs (containers-transports(5), "dir:"); each layer is unpacked over those below it.
#include "service/image/pull.h"

#include "base/limits.h"
#include "base/sha256.h"
#include "base/text.h"
#include "service/common/told_program.h"
#include "service/image/oci_image.h"
#include "service/image/unpacker.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/process/host_info.h"

namespace hutch::service {

namespace {

constexpr const char* kSkopeo = "/usr/bin/skopeo";
constexpr std::uint64_t kImageEntriesMax = 2'000'000;
constexpr std::uint64_t kImageBytesMax = 32ULL << 30;

// What it needs to find accounts at registries, proxies and authorities; nothing else is its business.
// Without XDG_RUNTIME_DIR it reads accounts below /run/containers (containers-auth.json(5)), which podman keeps closed
// to all but root where root runs it: not to be let in ends skopeo, no such file does not.
std::vector<std::string> skopeo_environment(std::uint32_t uid, const std::string& scratch) {
  std::vector<std::string> environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"};
  for (const char* name : {"HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "REGISTRY_AUTH_FILE", "DOCKER_CONFIG",
                           "CONTAINERS_REGISTRIES_CONF", "SSL_CERT_FILE", "SSL_CERT_DIR", "TMPDIR", "http_proxy",
                           "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"}) {
    if (const auto value = sys::environment_variable(name)) environment.push_back(cat({name, "=", *value}));
  }
  const auto accounts = sys::open(cat({"/run/containers/", std::to_string(uid), "/auth.json"}), sys::Open::kPath);
  const bool is_closed = !accounts && accounts.error().sys_errno == EACCES;
  if (is_closed && !sys::environment_variable("XDG_RUNTIME_DIR")) environment.push_back("XDG_RUNTIME_DIR=" + scratch);
  return environment;
}

Status fetch(const std::string& reference, const std::string& directory, std::vector<std::string> environment,
             const TellImage& tell) {
  if (!sys::exists(kSkopeo)) {
    return fail(
        Error::unsupported("skopeo, which fetches images, is missing; apt-get install skopeo, or hutch image import "
                           "NAME FILE with the archive of a root file system"));
  }
  const std::string target = cat({"dir:", directory});
  return run_told(kSkopeo, {"skopeo", "copy", "--", reference, target}, environment, tell);
}

// skopeo looks at digests as well; what is unpacked is judged here, by the bytes themselves.
Result<std::string> small_blob(const std::string& directory, const OciBlob& blob) {
  std::string text = TRY(sys::regular_file_text(cat({directory, "/", blob.digest}), limits::kJsonBytesMax));
  Sha256 sum;
  sum.add(text);
  if (sum.finish() == blob.digest) return text;
  return fail(Error::invalid(cat({"the image's configuration is not what its digest says, sha256:", blob.digest})));
}

Status add_layer(FilledImage& image, const std::string& directory, const OciBlob& layer, const ImagePlace& place) {
  const UniqueFd archive = TRY(sys::open(cat({directory, "/", layer.digest}), sys::Open::kRead));
  const Unpacked unpacked = TRY_CTX(unpack_layer(archive.get(), place.files, place.ids), "layer " + layer.digest);
  if (unpacked.digest != cat({"sha256:", layer.digest})) {
    return fail(Error::invalid(cat({"layer ", layer.digest, " is not what its digest says, but ", unpacked.digest})));
  }
  image.entries += unpacked.entries;
  image.bytes += unpacked.bytes;
  image.special += unpacked.special;
  if (image.entries <= kImageEntriesMax && image.bytes <= kImageBytesMax) return {};
  return fail(Error::invalid(cat({"the image's layers hold more than ", std::to_string(kImageEntriesMax),
                                  " entries or ", std::to_string(kImageBytesMax >> 30), " GiB"})));
}

}  // namespace

Result<OciManifest> fetch_image(const std::string& reference, const std::string& directory, const std::string& scratch,
                                std::uint32_t uid, const TellImage& tell) {
  TRY(fetch(reference, directory, skopeo_environment(uid, scratch), tell));
  return parse_oci_manifest(TRY(sys::regular_file_text(directory + "/manifest.json", limits::kJsonBytesMax)));
}

Result<FilledImage> fill_by_skopeo(const std::string& reference, const ImagePlace& place, std::uint32_t uid,
                                   const TellImage& tell) {
  const std::string directory = cat({place.scratch, "/blobs"});
  TRY(sys::make_private_directories(directory));
  const OciManifest manifest = TRY(fetch_image(reference, directory, place.scratch, uid, tell));
  FilledImage image;
  Sha256 sum;
  sum.add(TRY(sys::regular_file_text(directory + "/manifest.json", limits::kJsonBytesMax)));
  image.digest = cat({"sha256:", sum.finish()});
  const std::string config = TRY(small_blob(directory, manifest.config));
  image.environment = TRY(parse_oci_environment(config));
  for (std::size_t i = 0; i < manifest.layers.size(); ++i) {
    tell(cat({"unpacking layer ", std::to_string(i + 1), " of ", std::to_string(manifest.layers.size())}));
    TRY(add_layer(image, directory, manifest.layers[i], place));
  }
  return image;
}

Result<store::ImageManifest> pull_image(const PullRequest& request, const plan::HostFacts& facts,
                                        const TellImage& tell) {
  const std::string reference = TRY(with_transport(request.reference));
  const bool named = !request.name.empty();
  const std::string name = TRY(named ? store::image_name(request.name) : name_of_reference(request.reference));
  const auto fill = [&](const ImagePlace& place) { return fill_by_skopeo(reference, place, facts.uid, tell); };
  auto made = fill_image(name, fill, IfThere::kError, facts, tell);
  if (made || made.error().code == Code::kConflict) return made;
  return fail(std::move(made).error().with_context(cat({"pull ", printable(request.reference, 200)})));
}

}  // namespace hutch::service
