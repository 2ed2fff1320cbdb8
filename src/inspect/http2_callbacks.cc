// What nghttp2 calls while it reads and writes.
#include "inspect/http2_callbacks.h"

#include <utility>

namespace hutch::inspect {

namespace {

Http2::End& end_of(void* user_data) { return *static_cast<Http2::End*>(user_data); }

std::string text(const std::uint8_t* bytes, std::size_t size) { return {reinterpret_cast<const char*>(bytes), size}; }

int on_begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
  Http2::End& end = end_of(user_data);
  const bool request = frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
  return end.role == Role::kServer && request ? end.owner.on_begin_request(frame->hd.stream_id) : 0;
}

int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
              const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user_data) {
  if (frame->hd.type != NGHTTP2_HEADERS) return 0;
  Http2::End& end = end_of(user_data);
  return end.owner.on_header(end, *frame, {text(name, name_size), text(value, value_size)});
}

// A field that nghttp2 would leave out in silence makes the whole message malformed.
int on_invalid_header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t*, std::size_t, const std::uint8_t*,
                      std::size_t, std::uint8_t, void*) {
  return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
  Http2::End& end = end_of(user_data);
  if (frame->hd.type == NGHTTP2_GOAWAY) {
    if (end.role == Role::kClient) end.owner.on_goaway();
    return 0;
  }
  if (frame->hd.type == NGHTTP2_HEADERS) end.owner.on_headers(end, *frame);
  const bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (frame->hd.type == NGHTTP2_DATA && ends) end.owner.on_end(end, frame->hd.stream_id);
  return 0;
}

int on_invalid_frame(nghttp2_session*, const nghttp2_frame* frame, int, void* user_data) {
  Http2::End& end = end_of(user_data);
  if (frame->hd.type == NGHTTP2_HEADERS) end.owner.on_malformed(end);
  return 0;
}

int on_chunk(nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* bytes, std::size_t size,
             void* user_data) {
  Http2::End& end = end_of(user_data);
  end.owner.on_data(end, stream, {reinterpret_cast<const char*>(bytes), size});
  return 0;
}

int on_close(nghttp2_session*, std::int32_t stream, std::uint32_t error, void* user_data) {
  Http2::End& end = end_of(user_data);
  end.owner.on_closed(end, stream, error);
  return 0;
}

int on_sent(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
  Http2::End& end = end_of(user_data);
  const bool carries = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
  const bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (end.role == Role::kServer && carries && ends) end.owner.on_answered(frame->hd.stream_id);
  return 0;
}

// A request that was given up before it was sent.
int on_not_sent(nghttp2_session*, const nghttp2_frame* frame, int, void* user_data) {
  Http2::End& end = end_of(user_data);
  if (end.role == Role::kClient && frame->hd.type == NGHTTP2_HEADERS) {
    end.owner.on_closed(end, frame->hd.stream_id, NGHTTP2_REFUSED_STREAM);
  }
  return 0;
}

ssize_t read_body(nghttp2_session*, std::int32_t stream, std::uint8_t* buffer, std::size_t size, std::uint32_t* flags,
                  nghttp2_data_source* source, void*) {
  Http2::End& to = end_of(source->ptr);
  return to.owner.take_body(to, stream, {buffer, size}, *flags);
}

}  // namespace

Callbacks make_callbacks() {
  nghttp2_session_callbacks* made = nullptr;
  if (nghttp2_session_callbacks_new(&made) != 0) return nullptr;
  nghttp2_session_callbacks_set_on_begin_headers_callback(made, on_begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(made, on_header);
  nghttp2_session_callbacks_set_on_invalid_header_callback(made, on_invalid_header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(made, on_frame);
  nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(made, on_invalid_frame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, on_chunk);
  nghttp2_session_callbacks_set_on_stream_close_callback(made, on_close);
  nghttp2_session_callbacks_set_on_frame_send_callback(made, on_sent);
  nghttp2_session_callbacks_set_on_frame_not_send_callback(made, on_not_sent);
  return Callbacks(made);
}

nghttp2_data_provider body_source(Http2::End& to) {
  nghttp2_data_provider provider{};
  provider.source.ptr = &to;
  provider.read_callback = read_body;
  return provider;
}

}  // namespace hutch::inspect
