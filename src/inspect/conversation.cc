// One connection from its first byte to its end.
#include "inspect/conversation.h"

#include "inspect/limits.h"
#include "sys/io.h"
#include "sys/net/sockets.h"

namespace hutch::inspect {

namespace {

void serve_protocol(const Conversation& conversation, Protocol protocol, Stream& client, Stream& upstream) {
  if (protocol == Protocol::kHttp2) {
    serve_http2(conversation, client, upstream);
  } else {
    serve_http1(conversation, client, upstream);
  }
}

}  // namespace

Transferred converse(const wire::Inspect& connection, const Ends& ends, const Common& common,
                     std::function<void(const Refusal&)> report) {
  for (const int fd : {ends.client, ends.upstream}) {
    if (!sys::set_nonblocking(fd)) return {};
    sys::disable_nagle(fd);
  }
  Stream client(ends.client);
  Stream upstream(ends.upstream);
  Conversation conversation{connection, common.memory, std::move(report), std::nullopt};
  if (!connection.tls) {
    serve_protocol(conversation, Protocol::kHttp1, client, upstream);
  } else if (std::expected<Opened, Tls::Failure> opened = common.tls.open(connection, client, upstream)) {
    conversation.unusable = std::move(opened->unusable);
    serve_protocol(conversation, opened->protocol, client, upstream);
  } else if (opened.error().refusal) {
    conversation.report(*opened.error().refusal);
  }
  return {upstream.bytes_written(), client.bytes_written()};
}

}  // namespace hutch::inspect
