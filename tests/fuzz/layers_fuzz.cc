// Layers of images, which become one archive, and kernels of files.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "service/image/layer_merge.h"
#include "service/vm/kernel_image.h"

namespace {

// The second half lies below the first; absent where one of them is refused.
std::string merged(std::string_view bytes, std::size_t piece) {
  std::string out;
  hutch::service::LayerMerge merge([&](std::string_view more) {
    out += more;
    return hutch::Status();
  });
  const std::size_t half = bytes.size() / 1024 * 512;
  for (std::string_view layer : {bytes.substr(0, half), bytes.substr(half)}) {
    for (std::size_t at = 0; at < layer.size(); at += piece) {
      if (!merge.add(layer.substr(at, piece))) return "refused";
    }
    if (!merge.end_layer()) return "refused";
  }
  if (!merge.end()) std::abort();
  return out;
}

}  // namespace

// It comes out the same in whatever pieces it comes, and all of it is of one of the two.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string all = merged(bytes, 1 << 20);
  if (all != merged(bytes, 7) || all != merged(bytes, 513)) std::abort();
  if (all.size() > size + 1024) std::abort();
  const auto release = hutch::service::kernel_release(bytes);
  if (release && (release->empty() || release->find('/') != release->npos)) std::abort();
  return 0;
}
