// Messages of channels across the boundary of a machine.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "wire/channels.h"

// They come out the same whether the bytes come at once or one by one, and each as it was written.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  hutch::wire::ChannelReader at_once;
  hutch::wire::ChannelReader by_bytes;
  at_once.add(bytes);
  std::string all;
  for (;;) {
    const auto message = at_once.next();
    if (!message || !*message) break;
    all += encode(**message);
  }
  if (!bytes.starts_with(all)) std::abort();
  std::string again;
  for (const char byte : bytes) {
    by_bytes.add(std::string_view(&byte, 1));
    const auto message = by_bytes.next();
    if (!message) break;
    if (*message) again += encode(**message);
  }
  if (all != again) std::abort();
  return 0;
}
