// Fuzzes what is read of an image's manifest and configuration: digests name files of one directory and nothing else,
// there are not too many layers, and variables are such.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "service/image/oci_image.h"

namespace {

using namespace hutch;

void require(bool condition) {
  if (!condition) std::abort();
}

void require_blob(const service::OciBlob& blob) {
  require(blob.digest.size() == 64 && blob.digest.find_first_not_of("0123456789abcdef") == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto manifest = service::parse_oci_manifest(text)) {
    require(!manifest->layers.empty() && manifest->layers.size() <= service::kOciLayersMax);
    require_blob(manifest->config);
    for (const service::OciBlob& layer : manifest->layers) require_blob(layer);
  }
  if (const auto environment = service::parse_oci_environment(text)) {
    for (const std::string& entry : *environment) {
      require(entry.find('=') > 0 && entry.find('=') != std::string::npos && !entry.contains('\0'));
    }
  }
  if (const auto reference = service::with_transport(text)) require(!reference->starts_with('-'));
  return 0;
}
