// HTTP/2 on both ends.
#include "inspect/http2.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "inspect/http2_callbacks.h"
#include "inspect/limits.h"
#include "inspect/swap.h"

namespace hutch::inspect {

namespace {

const std::string* pseudo(const Headers& headers, std::string_view name);
Headers forwarded(const Headers& headers);
int status_of(const Headers& headers);
void lower_names(Headers& headers);
std::uint32_t error_or(std::uint32_t error, std::uint32_t otherwise);
Refusal overloaded();

}  // namespace

Http2::Http2(const Conversation& conversation, Stream& client, Stream& upstream)
    : conversation_(conversation),
      windows_(conversation.memory.windows),
      down_{*this, Role::kServer, Side(client)},
      up_{*this, Role::kClient, Side(upstream)} {}

void Http2::serve() {
  const Callbacks callbacks = make_callbacks();
  if (!callbacks) return;
  const bool wide = windows_.take(std::size_t{2} * limits::kConnectionWindowBytes);
  const int window = wide ? limits::kConnectionWindowBytes : limits::kSmallestWindowBytes;
  down_.session = make_session(Role::kServer, callbacks.get(), &down_, window);
  up_.session = make_session(Role::kClient, callbacks.get(), &up_, window);
  if (!down_.session || !up_.session) return;
  Deadline deadline = deadline_in(limits::kIdleTime);
  for (;;) {
    bool moved = receive(down_);
    moved = receive(up_) || moved;
    moved = produce(down_) || moved;
    moved = produce(up_) || moved;
    moved = down_.side.flush() || moved;
    moved = up_.side.flush() || moved;
    if (finished()) break;
    if (moved) {
      deadline = deadline_in(limits::kIdleTime);
    } else if (wait(down_.side, up_.side, deadline) == Waited::kTimeout) {
      break;
    }
  }
  for (End* end : {&down_, &up_}) {
    (void)nghttp2_session_terminate_session(end->session.get(), NGHTTP2_NO_ERROR);
    (void)produce(*end);
  }
  (void)up_.side.flush();
  close_gently(down_.side);
  up_.side.stream.finish();
}

bool Http2::receive(End& end) {
  const bool moved = end.side.fill();
  if (!end.side.in.empty()) {
    const std::string bytes = std::exchange(end.side.in, {});
    const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    const ssize_t used = nghttp2_session_mem_recv(end.session.get(), data, bytes.size());
    if (used < 0) end.side.ended = true;
  }
  if (&end == &up_ && end.side.ended) lose_upstream();
  // After the requests that the server has given back: some clients listen to nothing behind a GOAWAY.
  if (upstream_leaves_) stop_accepting();
  return moved;
}

bool Http2::produce(End& end) {
  bool moved = false;
  while (end.side.has_room()) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(end.session.get(), &bytes);
    if (size < 0) end.side.ended = true;
    if (size <= 0) break;
    end.side.out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    moved = true;
  }
  return moved;
}

bool Http2::finished() const {
  if (down_.side.failed || down_.side.ended) return true;
  if (!down_.side.out.empty() || nghttp2_session_want_write(down_.session.get()) != 0) return false;
  if (nghttp2_session_want_read(down_.session.get()) == 0) return true;
  return stopping_ && pairs_.empty();
}

// No request can be forwarded any more, and those under way have lost their answer; one that has come whole is still
// delivered.
void Http2::lose_upstream() {
  up_.side.failed = true;
  while (!by_up_.empty()) on_closed(up_, by_up_.begin()->first, NGHTTP2_NO_ERROR);
  stop_accepting();
}

// The client is told which of its requests were the last; it makes a new connection for others.
void Http2::stop_accepting() {
  if (std::exchange(stopping_, true)) return;
  nghttp2_session* const session = down_.session.get();
  (void)nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session),
                              NGHTTP2_NO_ERROR, nullptr, 0);
}

Pair* Http2::find(const End& end, std::int32_t stream) {
  if (&end == &up_) {
    const auto found = by_up_.find(stream);
    return found == by_up_.end() ? nullptr : found->second;
  }
  const auto found = pairs_.find(stream);
  return found == pairs_.end() ? nullptr : found->second.get();
}

int Http2::on_begin_request(std::int32_t stream) {
  if (pairs_.size() >= limits::kStreamsMax + limits::kGivenUpMax) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  auto pair = std::make_unique<Pair>(conversation_.memory.heads);
  pair->down = stream;
  pairs_.insert_or_assign(stream, std::move(pair));
  return 0;
}

int Http2::on_header(End& end, const nghttp2_frame& frame, Header header) {
  Pair* const pair = find(end, frame.hd.stream_id);
  if (pair == nullptr) return 0;
  Half& half = &end == &down_ ? pair->request : pair->response;
  Headers& headers = half.headers_done ? half.trailers : half.headers;
  const std::size_t size = header.name.size() + header.value.size() + 32;  // as RFC 9113, 6.5.2 counts
  half.header_bytes += size;
  if (half.header_bytes > limits::kHeadBytesMax || headers.size() >= limits::kHeadersMax) {
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }
  // Once here, and once in the session that sends it on.
  half.too_much = half.too_much || !half.held.take(2 * size);
  const bool is_answerable = &end == &down_ && !half.headers_done;
  if (half.too_much) return is_answerable ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  headers.push_back(std::move(header));
  return 0;
}

void Http2::on_headers(End& end, const nghttp2_frame& frame) {
  Pair* const pair = find(end, frame.hd.stream_id);
  if (pair == nullptr) return;
  Half& half = &end == &down_ ? pair->request : pair->response;
  if ((frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) half.ended = true;
  if (half.headers_done) {
    resume(other(end), *pair);
  } else if (&end == &down_) {
    half.headers_done = true;
    begin_request(*pair);
  } else {
    begin_response(*pair);
  }
}

void Http2::begin_request(Pair& pair) {
  if (pair.request.too_much) {
    pair.request.headers.clear();
    pair.request.held.give_back();
    return answer(pair, overloaded());
  }
  const Headers& headers = pair.request.headers;
  const std::string* const method = pseudo(headers, ":method");
  const std::string* const path = pseudo(headers, ":path");
  const std::string* const scheme = pseudo(headers, ":scheme");
  const std::string* const authority = pseudo(headers, ":authority");
  const std::string* const host = find_header(headers, "host");
  if (method == nullptr) return answer(pair, malformed_request("there is no method"));
  RequestView view{*method, path == nullptr ? "" : std::string_view(*path), {}};
  if (authority != nullptr) view.authorities.push_back(*authority);
  if (host != nullptr) view.authorities.push_back(*host);
  if (view.authorities.empty() || count_headers(headers, "host") > 1) {
    return answer(pair, malformed_request("no host is named, or several"));
  }
  const Judgement judgement = judge(conversation_.connection, view);
  if (judgement.refusal) {
    pair.is_last = judgement.refusal->error != "blocked-by-rule";
    return answer(pair, *judgement.refusal);
  }
  if (scheme == nullptr || *scheme != "https") return answer(pair, malformed_request("the scheme is not https"));
  forward_request(pair, judgement);
}

void Http2::forward_request(Pair& pair, const Judgement& judgement) {
  const Headers& headers = pair.request.headers;
  const std::string* const authority = pseudo(headers, ":authority");
  Headers out = {{":method", *pseudo(headers, ":method")},
                 {":scheme", "https"},
                 {":authority", authority != nullptr ? *authority : *find_header(headers, "host")},
                 {":path", judgement.target}};
  Headers plain = forwarded(headers);
  if (judgement.rule != nullptr) apply_rule(*judgement.rule, plain);
  lower_names(plain);
  pair.is_echoed = is_echoed(out.front().value);
  if (!pair.is_echoed) {
    const auto& placeholders = conversation_.connection.placeholders;
    swap_headers(placeholders, plain);
    out.back().value = swap_target(placeholders, std::move(out.back().value));
  }
  std::ranges::move(plain, std::back_inserter(out));
  const std::vector<nghttp2_nv> list = name_values(out);
  nghttp2_data_provider source = body_source(up_);
  const std::int32_t stream = up_.side.failed
                                  ? -1
                                  : nghttp2_submit_request(up_.session.get(), nullptr, list.data(), list.size(),
                                                           pair.request.ended ? nullptr : &source, nullptr);
  if (stream < 0) return reset(down_, pair, NGHTTP2_REFUSED_STREAM);
  pair.request.headers.clear();
  pair.up = stream;
  pair.up_open = true;
  by_up_[stream] = &pair;
}

void Http2::begin_response(Pair& pair) {
  Half& response = pair.response;
  pair.request.held.give_back();
  if (!pair.down_open) return;
  Headers headers = std::exchange(response.headers, {});
  hide_values(conversation_.connection.placeholders, headers);
  const std::vector<nghttp2_nv> list = name_values(headers);
  const int status = status_of(headers);
  if (status < 200) {
    (void)nghttp2_submit_headers(down_.session.get(), NGHTTP2_FLAG_NONE, pair.down, nullptr, list.data(), list.size(),
                                 nullptr);
    return;
  }
  response.headers_done = true;
  nghttp2_data_provider source = body_source(down_);
  if (nghttp2_submit_response(down_.session.get(), pair.down, list.data(), list.size(),
                              response.ended ? nullptr : &source) != 0) {
    reset(down_, pair, NGHTTP2_INTERNAL_ERROR);
  }
}

void Http2::answer(Pair& pair, const Refusal& refusal) {
  conversation_.report(refusal);
  const std::string* const method = pseudo(pair.request.headers, ":method");
  Headers headers = {{":status", std::to_string(refusal.status)},
                     {"content-type", "text/plain; charset=utf-8"},
                     {"content-length", std::to_string(refusal.text.size())},
                     {"x-proxy-error", std::string(refusal.error)}};
  const bool has_body = method == nullptr || *method != "HEAD";
  pair.response.is_ours = true;
  pair.response.ended = true;
  pair.response.headers_done = true;
  if (has_body) pair.response.body = refusal.text;
  const std::vector<nghttp2_nv> list = name_values(headers);
  nghttp2_data_provider source = body_source(down_);
  (void)nghttp2_submit_response(down_.session.get(), pair.down, list.data(), list.size(), has_body ? &source : nullptr);
}

void Http2::on_data(End& end, std::int32_t stream, std::string_view bytes) {
  Pair* const pair = find(end, stream);
  const bool wanted = pair != nullptr && (&end == &down_ ? pair->up_open : pair->down_open);
  if (!wanted) {
    (void)nghttp2_session_consume(end.session.get(), stream, bytes.size());
    if (pair != nullptr && &end == &down_) forget_body(*pair, bytes.size());
    return;
  }
  std::string& body = (&end == &down_ ? pair->request : pair->response).body;
  body += bytes;
  if (&end == &down_ && !pair->is_echoed) swap_in_place(conversation_.connection.placeholders, body);
  resume(other(end), *pair);
}

void Http2::on_end(End& end, std::int32_t stream) {
  Pair* const pair = find(end, stream);
  if (pair == nullptr) return;
  (&end == &down_ ? pair->request : pair->response).ended = true;
  resume(other(end), *pair);
}

void Http2::resume(End& to, const Pair& pair) {
  // An error means that it was not waiting.
  (void)nghttp2_session_resume_data(to.session.get(), &to == &down_ ? pair.down : pair.up);
}

ssize_t Http2::take_body(End& to, std::int32_t stream, std::span<std::uint8_t> into, std::uint32_t& flags) {
  Pair* const pair = find(to, stream);
  if (pair == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  Half& half = &to == &down_ ? pair->response : pair->request;
  // What may be the beginning of a placeholder waits for what follows.
  const bool swaps = &to == &up_ && !half.ended;
  const std::size_t waits = swaps ? begun_at_end(conversation_.connection.placeholders, half.body) : 0;
  if (half.body.size() == waits && !half.ended) return NGHTTP2_ERR_DEFERRED;
  const std::size_t size = std::min(into.size(), half.body.size() - waits);
  std::copy_n(half.body.begin(), size, into.begin());
  half.body.erase(0, size);
  End& from = other(to);
  if (!half.is_ours && size > 0) {
    (void)nghttp2_session_consume(from.session.get(), &from == &down_ ? pair->down : pair->up, size);
  }
  if (half.body.empty() && half.ended) {
    flags |= NGHTTP2_DATA_FLAG_EOF;
    if (&to == &down_) hide_values(conversation_.connection.placeholders, half.trailers);
    if (!half.trailers.empty()) {
      const std::vector<nghttp2_nv> list = name_values(half.trailers);
      if (nghttp2_submit_trailer(to.session.get(), stream, list.data(), list.size()) == 0) {
        flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      }
    }
  }
  return static_cast<ssize_t>(size);
}

void Http2::on_closed(End& end, std::int32_t stream, std::uint32_t error) {
  Pair* const pair = find(end, stream);
  if (pair == nullptr) return;
  if (&end == &down_) {
    pair->down_open = false;
    // After a whole answer the rest of the request still goes to the server, where there is a rest.
    if (pair->up_open && (error != NGHTTP2_NO_ERROR || !pair->request.ended)) {
      reset(up_, *pair, error_or(error, NGHTTP2_CANCEL));
    }
  } else {
    pair->up_open = false;
    by_up_.erase(stream);
    if (pair->down_open && (error != NGHTTP2_NO_ERROR || !pair->response.ended)) {
      reset(down_, *pair, error_or(error, NGHTTP2_INTERNAL_ERROR));
    }
  }
  if (!pair->down_open && !pair->up_open) forget(*pair);
}

void Http2::reset(End& end, Pair& pair, std::uint32_t error) {
  (void)nghttp2_submit_rst_stream(end.session.get(), NGHTTP2_FLAG_NONE, &end == &down_ ? pair.down : pair.up, error);
}

// The bytes that nobody will take any more still count against the connection's window.
void Http2::forget(Pair& pair) {
  if (!pair.request.body.empty()) {
    (void)nghttp2_session_consume_connection(down_.session.get(), pair.request.body.size());
  }
  if (!pair.response.body.empty() && !pair.response.is_ours) {
    (void)nghttp2_session_consume_connection(up_.session.get(), pair.response.body.size());
  }
  pairs_.erase(pair.down);
}

void Http2::on_goaway() { upstream_leaves_ = true; }

void Http2::on_answered(std::int32_t stream) {
  if (const Pair* const pair = find(down_, stream); pair != nullptr && pair->is_last) stop_accepting();
}

// RFC 9113, 8.1: a server that has answered asks the client to stop sending a request that it does not read. Not at
// once: there are clients (curl 7.88) that take this for an error while they still have something to send.
void Http2::forget_body(Pair& pair, std::size_t size) {
  pair.unread += size;
  if (pair.unread > limits::kLingerBytesMax) reset(down_, pair, NGHTTP2_NO_ERROR);
}

void Http2::on_malformed(const End& end) {
  if (&end == &down_) conversation_.report(malformed_request("its headers break the rules of HTTP/2"));
}

namespace {

// nghttp2 has seen to it that each is there once at most, and before all others.
const std::string* pseudo(const Headers& headers, std::string_view name) {
  const auto found = std::ranges::find(headers, name, &Header::name);
  return found == headers.end() ? nullptr : &found->value;
}

// nghttp2 refuses the fields of one connection alone; these are what a proxy answers for besides.
Headers forwarded(const Headers& headers) {
  Headers kept;
  for (const Header& header : headers) {
    const bool dropped = header.name.starts_with(':') || header.name == "host" || header.name.starts_with("proxy-") ||
                         header.name == "http2-settings" || header.name == "expect";
    if (!dropped) kept.push_back(header);
  }
  return kept;
}

int status_of(const Headers& headers) {
  const std::string* const text = pseudo(headers, ":status");
  int status = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), status);
  return status;
}

std::uint32_t error_or(std::uint32_t error, std::uint32_t otherwise) {
  return error != NGHTTP2_NO_ERROR ? error : otherwise;
}

Refusal overloaded() {
  static constexpr std::string_view kWhy = "too many large requests are under way at once";
  return {503, "overloaded", cat({"hutch: ", kWhy, "\n"}), "a request", std::string(kWhy)};
}

void lower_names(Headers& headers) {
  for (Header& header : headers) {
    for (char& letter : header.name) {
      if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter + ('a' - 'A'));
    }
  }
}

}  // namespace

void serve_http2(const Conversation& conversation, Stream& client, Stream& upstream) {
  Http2(conversation, client, upstream).serve();
}

}  // namespace hutch::inspect
