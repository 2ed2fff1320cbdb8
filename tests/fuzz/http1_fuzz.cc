// An HTTP/1 message from a sandbox or a server, as far as the inspector would forward it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "inspect/forward.h"
#include "inspect/head.h"
#include "inspect/judge.h"
#include "inspect/message_parser.h"
#include "inspect/target.h"
#include "policy/network/rules.h"

namespace {

using namespace hutch;
using namespace hutch::inspect;

// What is sent on is one message, which the same strict eye takes, with the same body.
void check_forwarded(const std::string& head, MessageKind kind, Framing framing, std::string_view body) {
  const auto size = measure_head(head, kind);
  CHECK(size && *size && **size == head.size());
  MessageParser again(kind);
  CHECK(again.read_head(head).has_value());
  if (framing != Framing::kChunked) return;
  std::string chunks;
  append_body(chunks, body, framing);
  append_end(chunks, {}, framing);
  std::string read;
  const auto used = again.read_body(chunks, read);
  CHECK(used && *used == chunks.size() && again.done() && read == body);
}

void run(std::string_view bytes, MessageKind kind) {
  const auto size = measure_head(bytes, kind);
  if (!size || !*size) return;
  MessageParser parser(kind);
  if (!parser.read_head(bytes.substr(0, **size))) return;
  std::string body;
  const auto used = parser.read_body(bytes.substr(**size), body);
  CHECK(!used || *used <= bytes.size() - **size);
  if (kind == MessageKind::kResponse) {
    if (parser.head().status >= 200) {
      check_forwarded(response_head(parser.head(), {parser.framing(), Persistence::kKeep, Upgrading::kNo}), kind,
                      parser.framing(), body);
    }
    return;
  }
  wire::Inspect connection;
  connection.host = "a.b";
  connection.port = 80;
  policy::HttpRule rule;
  rule.paths = {"/p/**"};
  connection.rules = {rule};
  const auto target = read_target(parser.head(), connection);
  if (!target) return;
  RequestView view{parser.head().method, target->path, {}};
  if (const std::string* host = find_header(parser.head().headers, "Host")) view.authorities.push_back(*host);
  const Judgement judgement = judge(connection, view);
  if (judgement.refusal) return;
  CHECK(judgement.target == "/p" || judgement.target.starts_with("/p/") || judgement.target.starts_with("/p?"));
  RequestOut out;
  out.target = judgement.target;
  out.host = "a.b";
  out.framing = parser.framing();
  check_forwarded(request_head(parser.head(), out), kind, parser.framing(), body);
}

}  // namespace

// The first byte chooses between a request and a response.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  run(bytes, data[0] % 2 == 0 ? MessageKind::kRequest : MessageKind::kResponse);
  if (const auto normal = policy::normal_target(bytes)) CHECK(policy::normal_target(*normal) == normal);
  return 0;
}
