// What a server in a sandbox answers, in pieces of any size: one answer goes on, and what a client reads of it is that.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "server/http/port_answer.h"

namespace {

using namespace hutch::server::http;

struct Passed {
  std::string text;
  bool is_right = true;
  bool is_done = false;
  bool is_raw = false;
};

Passed pass(const Request& request, std::string_view bytes, std::size_t size) {
  PortAnswer answer(request);
  Passed passed;
  while (!bytes.empty() && passed.is_right) {
    const std::size_t count = std::min(size, bytes.size());
    passed.is_right = answer.take(bytes.substr(0, count), passed.text).has_value();
    bytes.remove_prefix(count);
  }
  if (passed.is_right) passed.is_right = answer.end(passed.text).has_value();
  passed.is_done = answer.is_done();
  passed.is_raw = answer.is_raw();
  return passed;
}

// Lines that every reader ends at the same place.
void check_head(std::string_view text) {
  CHECK(text.starts_with("HTTP/1.1 "));
  const std::size_t end = text.find("\r\n\r\n");
  CHECK(end != std::string_view::npos);
  std::string_view head = text.substr(0, end);
  CHECK(!head.contains('\0'));
  while (!head.empty()) {
    const std::size_t line = std::min(head.find("\r\n"), head.size());
    CHECK(!head.substr(0, line).contains('\r') && !head.substr(0, line).contains('\n'));
    head.remove_prefix(std::min(line + 2, head.size()));
  }
}

bool says(std::string_view answer, std::string_view line) {
  return answer.substr(0, answer.find("\r\n\r\n") + 2).contains(line);
}

}  // namespace

// The first byte is the request, the second the size of the pieces.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  Request request;
  request.method = (data[0] & 1) != 0 ? "HEAD" : "GET";
  request.minor_version = (data[0] & 2) != 0 ? 0 : 1;
  if ((data[0] & 4) != 0) request.fields = {{"connection", "Upgrade"}, {"upgrade", "websocket"}};
  const Passed whole = pass(request, bytes, bytes.size() + 1);
  const Passed slow = pass(request, bytes, 1 + data[1] % 64);
  CHECK(whole.is_right == slow.is_right && whole.is_done == slow.is_done && whole.is_raw == slow.is_raw);
  // A piece may hold one byte, and then a chunk has one.
  CHECK(whole.text.size() <= bytes.size() + 512 && slow.text.size() <= 8 * bytes.size() + 512);
  if (whole.text.empty()) return 0;
  check_head(whole.text);
  if (whole.is_raw || !whole.is_right) return 0;
  // Read again without chunks it is the same, and its end is the end.
  Request plain = request;
  plain.minor_version = 0;
  const std::string wanted = pass(plain, bytes, bytes.size() + 1).text;
  for (const std::string* one : {&whole.text, &slow.text}) {
    const Passed again = pass(plain, *one + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged", bytes.size() + 4096);
    const bool is_framed = says(*one, "\r\nTransfer-Encoding: chunked\r\n") || says(*one, "\r\nContent-Length: ");
    CHECK(again.is_right && again.is_done);
    CHECK(!is_framed || again.text == wanted);
  }
  return 0;
}
