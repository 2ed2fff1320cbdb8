// What a sandbox may ask of the host's bridge: a method, a path and a body, parted by NUL.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "bridge/call.h"
#include "server/protocol/http_message.h"
#include "wire/json_guard.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hutch;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t first = bytes.find('\0');
  const std::size_t second = first == std::string_view::npos ? first : bytes.find('\0', first + 1);
  if (second == std::string_view::npos) return 0;
  const auto target = server::http::parse_target(bytes.substr(first + 1, second - first - 1));
  if (!target) return 0;
  const std::vector<std::string> types;
  const auto call = bridge::read_call({bytes.substr(0, first), target->segments, types, bytes.substr(second + 1)});
  if (!call) {
    CHECK(call.error().status >= 400 && call.error().status < 500);
    CHECK(wire::check_json_shape(bridge::fault_json(call.error()), bytes.size() * 8 + 1024).has_value());
    return 0;
  }
  CHECK(!bridge::name_of(call->service).empty());
  if (call->service == bridge::Service::kLog) CHECK(call->text.size() <= bridge::kMessageBytesMax);
  if (call->service == bridge::Service::kEmit) CHECK(call->text.size() <= bridge::kPayloadBytesMax);
  return 0;
}
