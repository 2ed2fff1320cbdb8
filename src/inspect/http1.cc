// HTTP/1: one request after another, each read, judged, written anew and sent on.
#include <optional>
#include <utility>

#include "base/text.h"
#include "inspect/conversation.h"
#include "inspect/forward.h"
#include "inspect/limits.h"
#include "inspect/message_parser.h"
#include "inspect/swap.h"
#include "inspect/target.h"
#include "sys/net/sockets.h"

namespace hutch::inspect {

namespace {

enum class Next { kGoOn, kAnother, kEnd };

// A request that has been allowed, and its response as far as it has come.
struct Exchange {
  MessageParser request{MessageKind::kRequest};
  MessageParser response{MessageKind::kResponse};
  std::string held;  // of its body
  bool request_sent = false;
  bool response_started = false;  // its head is on its way to the client
  Persistence persistence = Persistence::kKeep;
  Upgrading upgrading = Upgrading::kNo;
  Framing to_client = Framing::kNone;
};

class Http1 {
 public:
  Http1(const Conversation& conversation, Stream& client, Stream& upstream)
      : conversation_(conversation), client_(client), upstream_(upstream) {
    // There is nothing to wait for then.
    if (conversation.unusable) upstream_.failed = upstream_.ended = true;
  }

  void serve() {
    while (serve_one() == Next::kAnother) {}
    close_gently(client_);
    upstream_.stream.finish();
  }

 private:
  Next serve_one();
  std::optional<std::size_t> await_head();
  Next begin(Exchange& exchange);
  void forward_head(Exchange& exchange, const Judgement& judgement);

  Next pump(Exchange& exchange);
  Next move_request(Exchange& exchange);
  const Placeholders& put_in(const Exchange& exchange) const;
  std::string swapped_body(Exchange& exchange);
  Next move_response(Exchange& exchange);
  Next start_response(Exchange& exchange);
  Next accept_response(Exchange& exchange);
  Next tunnel();
  bool move_bytes(Side& from, Side& to);

  Next refuse(const Refusal& refusal, WithBody body);
  Next fail_upstream(const Exchange& exchange, std::string_view error, std::string_view text);
  Next abandon();

  const Conversation& conversation_;
  Side client_;
  Side upstream_;
  std::string body_;
  std::size_t answered_ = 0;  // requests of this connection
  bool moved_ = false;  // whether this turn of the loop has changed anything
};

Next Http1::serve_one() {
  const std::optional<std::size_t> size = await_head();
  if (!size) return Next::kEnd;
  Exchange exchange;
  const Status read = exchange.request.read_head(std::string_view(client_.in).substr(0, *size));
  client_.in.erase(0, *size);
  if (!read) return refuse(malformed_request(read.error().message), WithBody::kYes);
  const Next next = begin(exchange);
  return next == Next::kGoOn ? pump(exchange) : next;
}

// The size of the next request's head; absent when there is none, or a malformed one has been answered.
std::optional<std::size_t> Http1::await_head() {
  Deadline deadline = deadline_in(client_.in.empty() ? limits::kIdleTime : limits::kHeadTime);
  for (;;) {
    const Result<std::optional<std::size_t>> size = measure_head(client_.in, MessageKind::kRequest);
    if (!size) {
      refuse(malformed_request(size.error().message), WithBody::kYes);
      return std::nullopt;
    }
    if (*size) return *size;
    // A server may close a connection on which nothing is under way at any time, and so may a client.
    if (client_.ended || client_.failed) return std::nullopt;
    if (client_.in.empty() && upstream_.ended && !conversation_.unusable) return std::nullopt;
    const bool was_idle = client_.in.empty();
    bool moved = client_.flush();
    moved = client_.fill() || moved;
    moved = upstream_.fill() || moved;
    if (was_idle && !client_.in.empty()) deadline = deadline_in(limits::kHeadTime);
    if (!moved && wait(client_, upstream_, deadline) == Waited::kTimeout) return std::nullopt;
    // Bytes that answer no request: whatever they are, the next response would not be the next request's.
    if (!upstream_.in.empty()) return std::nullopt;
  }
}

Next Http1::begin(Exchange& exchange) {
  const Head& head = exchange.request.head();
  const WithBody body = head.method == "HEAD" ? WithBody::kNo : WithBody::kYes;
  const wire::Inspect& connection = conversation_.connection;
  if (conversation_.unusable) return refuse(*conversation_.unusable, body);
  const Result<RequestTarget> target = read_target(head, connection);
  if (!target) return refuse(malformed_request(target.error().message), body);
  RequestView view{head.method, target->path, {}};
  if (target->authority) view.authorities.push_back(*target->authority);
  if (const std::string* host = find_header(head.headers, "Host")) view.authorities.push_back(*host);
  const Judgement judgement = judge(connection, view);
  if (judgement.refusal) return refuse(*judgement.refusal, body);
  forward_head(exchange, judgement);
  return Next::kGoOn;
}

void Http1::forward_head(Exchange& exchange, const Judgement& judgement) {
  const Head& head = exchange.request.head();
  const bool close = head.version < 11 || has_token(head.headers, "Connection", "close") ||
                     conversation_.connection.form == wire::InspectForm::kProxy;
  exchange.persistence = close ? Persistence::kClose : Persistence::kKeep;
  const bool upgrade = head.version >= 11 && head.method == "GET" && exchange.request.framing() == Framing::kNone &&
                       has_token(head.headers, "Connection", "upgrade") &&
                       has_token(head.headers, "Upgrade", "websocket");
  exchange.upgrading = upgrade ? Upgrading::kWebSocket : Upgrading::kNo;
  const std::string* host = find_header(head.headers, "Host");
  RequestOut out;
  const Placeholders& placeholders = put_in(exchange);
  const std::string forwarded = swap_target(placeholders, judgement.target);
  Head sent = head;
  swap_headers(placeholders, sent.headers);
  out.target = forwarded;
  const std::string own_host = host_field(conversation_.connection);
  out.host = host != nullptr ? *host : own_host;
  out.rule = judgement.rule;
  out.framing = exchange.request.framing();
  out.persistence = exchange.persistence;
  out.upgrading = exchange.upgrading;
  upstream_.out += request_head(sent, out);
  exchange.request_sent = exchange.request.done();
  const bool no_body = head.method == "HEAD";
  exchange.response = MessageParser(no_body ? MessageKind::kResponseToHead : MessageKind::kResponse);
}

// Both directions at once: a server may answer before it has read everything.
Next Http1::pump(Exchange& exchange) {
  Deadline deadline = deadline_in(limits::kIdleTime);
  for (;;) {
    moved_ = client_.flush();
    moved_ = upstream_.flush() || moved_;
    Next next = move_response(exchange);
    if (next == Next::kGoOn) next = move_request(exchange);
    if (next != Next::kGoOn) return next;
    if (client_.failed) return abandon();
    moved_ = client_.fill() || moved_;
    moved_ = upstream_.fill() || moved_;
    if (moved_) {
      deadline = deadline_in(limits::kIdleTime);
    } else if (wait(client_, upstream_, deadline) == Waited::kTimeout) {
      return fail_upstream(exchange, "timeout", "nothing has come for too long");
    }
  }
}

Next Http1::move_request(Exchange& exchange) {
  if (exchange.request_sent || upstream_.failed || !upstream_.has_room()) return Next::kGoOn;
  body_.clear();
  const Result<std::size_t> used = exchange.request.read_body(client_.in, body_);
  if (!used) {
    if (exchange.response_started) return abandon();
    return refuse(malformed_request(used.error().message), WithBody::kYes);
  }
  client_.in.erase(0, *used);
  const Framing framing = exchange.request.framing();
  append_body(upstream_.out, swapped_body(exchange), framing);
  if (exchange.request.done()) {
    append_end(upstream_.out, exchange.request.trailers(), framing);
    exchange.request_sent = true;
  } else if (*used == 0) {
    if (client_.ended) return abandon();
    if (client_.in.size() >= limits::kBufferBytes) {
      return refuse(malformed_request("the head of a chunk is too large"), WithBody::kYes);
    }
    return Next::kGoOn;
  }
  moved_ = true;
  return Next::kGoOn;
}

const Placeholders& Http1::put_in(const Exchange& exchange) const {
  static const Placeholders kNone;
  return is_echoed(exchange.request.head().method) ? kNone : conversation_.connection.placeholders;
}

// What goes on of the body now: what may be the beginning of a placeholder waits.
std::string Http1::swapped_body(Exchange& exchange) {
  const Placeholders& placeholders = put_in(exchange);
  if (placeholders.empty()) return body_;
  std::string body = std::exchange(exchange.held, {}) + body_;
  swap_in_place(placeholders, body);
  if (exchange.request.done()) return body;
  const std::size_t kept = begun_at_end(placeholders, body);
  exchange.held = body.substr(body.size() - kept);
  body.resize(body.size() - kept);
  return body;
}

Next Http1::move_response(Exchange& exchange) {
  if (!client_.has_room()) return Next::kGoOn;
  if (!exchange.response_started) {
    const Next next = start_response(exchange);
    if (next != Next::kGoOn || !exchange.response_started) return next;
  }
  if (!exchange.response.done()) {
    body_.clear();
    const Result<std::size_t> used = exchange.response.read_body(upstream_.in, body_);
    if (!used) return abandon();
    upstream_.in.erase(0, *used);
    append_body(client_.out, body_, exchange.to_client);
    if (*used > 0) moved_ = true;
    if (*used == 0 && upstream_.in.size() >= limits::kBufferBytes) return abandon();
    if (*used == 0 && upstream_.ended && !exchange.response.done()) {
      if (upstream_.failed || !exchange.response.end()) return abandon();
      return Next::kEnd;
    }
  }
  if (!exchange.response.done()) return Next::kGoOn;
  Headers trailers = exchange.response.trailers();
  hide_values(conversation_.connection.placeholders, trailers);
  append_end(client_.out, trailers, exchange.to_client);
  // What the client still sends of a request that has its answer cannot be told from another request.
  ++answered_;
  const bool keep = exchange.request_sent && exchange.persistence == Persistence::kKeep;
  return keep ? Next::kAnother : Next::kEnd;
}

Next Http1::start_response(Exchange& exchange) {
  const MessageKind kind = MessageKind::kResponse;
  const Result<std::optional<std::size_t>> size = measure_head(upstream_.in, kind);
  if (!size) return fail_upstream(exchange, "upstream-malformed", cat({"the server's answer: ", size.error().message}));
  if (!*size) {
    if (!upstream_.ended && !upstream_.failed) return Next::kGoOn;
    // A server may close a connection just when the next request is on its way. A client knows that and asks again, if
    // it sees the same; an answer it would believe.
    if (answered_ > 0 && upstream_.in.empty()) return Next::kEnd;
    return fail_upstream(exchange, "upstream-closed", "the server closed the connection without an answer");
  }
  const Status read = exchange.response.read_head(std::string_view(upstream_.in).substr(0, **size));
  upstream_.in.erase(0, **size);
  if (!read) return fail_upstream(exchange, "upstream-malformed", cat({"the server's answer: ", read.error().message}));
  moved_ = true;
  return accept_response(exchange);
}

Next Http1::accept_response(Exchange& exchange) {
  Head head = exchange.response.head();
  hide_values(conversation_.connection.placeholders, head.headers);
  if (head.status == 101) {
    const bool agreed = exchange.upgrading == Upgrading::kWebSocket &&
                        has_token(head.headers, "Connection", "upgrade") &&
                        has_token(head.headers, "Upgrade", "websocket");
    if (!agreed) {
      return fail_upstream(exchange, "upstream-malformed", "the server changed to a protocol that was not asked for");
    }
    client_.out += response_head(head, {Framing::kNone, Persistence::kKeep, Upgrading::kWebSocket});
    return tunnel();
  }
  if (head.status < 200) {
    if (exchange.request.head().version >= 11) client_.out += response_head(head, {});
    exchange.response =
        MessageParser(exchange.request.head().method == "HEAD" ? MessageKind::kResponseToHead : MessageKind::kResponse);
    return Next::kGoOn;
  }
  exchange.to_client = exchange.response.framing();
  const bool plain_client = exchange.request.head().version < 11;
  if (exchange.to_client == Framing::kChunked && plain_client) exchange.to_client = Framing::kUntilEnd;
  const bool close = exchange.to_client == Framing::kUntilEnd || head.version < 11 || !exchange.request_sent ||
                     has_token(head.headers, "Connection", "close");
  if (close) exchange.persistence = Persistence::kClose;
  client_.out += response_head(head, {exchange.to_client, exchange.persistence, Upgrading::kNo});
  exchange.response_started = true;
  return Next::kGoOn;
}

// Bytes as they are, each direction to its own end.
Next Http1::tunnel() {
  Deadline deadline = deadline_in(limits::kIdleTime);
  bool client_finished = false;
  bool upstream_finished = false;
  for (;;) {
    bool moved = move_bytes(client_, upstream_);
    moved = move_bytes(upstream_, client_) || moved;
    moved = client_.flush() || moved;
    moved = upstream_.flush() || moved;
    moved = client_.fill() || moved;
    moved = upstream_.fill() || moved;
    if (client_.failed || upstream_.failed) return abandon();
    if (client_.gone() && upstream_.out.empty() && !std::exchange(upstream_finished, true)) upstream_.stream.finish();
    if (upstream_.gone() && client_.out.empty() && !std::exchange(client_finished, true)) client_.stream.finish();
    if (client_finished && upstream_finished) return Next::kEnd;
    if (moved) {
      deadline = deadline_in(limits::kIdleTime);
    } else if (wait(client_, upstream_, deadline) == Waited::kTimeout) {
      return Next::kEnd;
    }
  }
}

bool Http1::move_bytes(Side& from, Side& to) {
  if (from.in.empty() || !to.has_room()) return false;
  to.out += from.in;
  from.in.clear();
  return true;
}

Next Http1::refuse(const Refusal& refusal, WithBody body) {
  conversation_.report(refusal);
  client_.out += refusal_message(refusal, body);
  return Next::kEnd;
}

Next Http1::fail_upstream(const Exchange& exchange, std::string_view error, std::string_view text) {
  if (exchange.response_started) return abandon();
  const bool head = exchange.request.head().method == "HEAD";
  client_.out += refusal_message(upstream_failure(error, text), head ? WithBody::kNo : WithBody::kYes);
  return Next::kEnd;
}

// Neither side may take what it has got for a whole message.
Next Http1::abandon() {
  client_.out.clear();
  client_.failed = true;
  sys::reset_on_close(client_.stream.fd());
  sys::reset_on_close(upstream_.stream.fd());
  return Next::kEnd;
}

}  // namespace

void serve_http1(const Conversation& conversation, Stream& client, Stream& upstream) {
  Http1(conversation, client, upstream).serve();
}

}  // namespace hutch::inspect
