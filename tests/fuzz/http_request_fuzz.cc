// Requests of an HTTP client, one after another, in pieces of any size: what is taken does not depend on the pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "server/http/routes.h"
#include "server/protocol/http_guard.h"
#include "server/protocol/http_reader.h"

namespace {

using namespace hutch::server::http;

constexpr std::size_t kRequestsMax = 64;

// Every request of `bytes` as text, up to the first that is refused or not whole. Comes in pieces of `size`.
std::vector<std::string> read_all(std::string_view bytes, std::size_t size) {
  std::vector<std::string> all;
  std::string buffer;
  RequestReader reader;
  while (all.size() < kRequestsMax) {
    const auto taken = reader.take(buffer);
    if (!taken) {
      CHECK(taken.error().status >= 400 && taken.error().status < 600);
      return all;
    }
    CHECK(*taken <= buffer.size());
    buffer.erase(0, *taken);
    const Request& request = reader.request();
    CHECK(request.body.size() <= kBodyBytesMax && request.fields.size() <= kFieldsMax);
    if (reader.done()) {
      all.push_back(request.method + " " + request.target + "\n" + request.body);
      reader = RequestReader();
      continue;
    }
    if (*taken > 0) continue;
    if (bytes.empty()) return all;
    const std::size_t count = std::min(size, bytes.size());
    buffer += bytes.substr(0, count);
    bytes.remove_prefix(count);
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  CHECK(read_all(bytes, bytes.size() + 1) == read_all(bytes, 1 + data[0] % 64));
  const auto target = parse_target(bytes);
  if (target) (void)choose_route("GET", *target);
  Request request;
  request.fields = {
      {"host", std::string(bytes)}, {"origin", std::string(bytes)}, {"authorization", std::string(bytes)}};
  const Guard guard{.token = "0123456789abcdef", .loopback = true};
  CHECK(check_guard(request, &guard).has_value());
  (void)parse_listen(bytes);
  return 0;
}
