// HTTP/2 on both ends: a server's session towards the client, a client's towards the server, streams one to one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "inspect/conversation.h"
#include "inspect/http2_session.h"

namespace hutch::inspect {

// One direction of a request and its response: what one end has sent and the other has not taken yet.
struct Half {
  explicit Half(Budget& heads) : held(heads) {}

  Headers headers;
  Headers trailers;
  std::size_t header_bytes = 0;
  Share held;              // of those bytes
  bool too_much = false;   // there was no share for all of them, and what there is of them is of no use
  bool headers_done = false;
  std::string body;
  bool ended = false;
  bool is_ours = false;  // hutch's own answer: no window has to be opened for its bytes
};

// A request and its response: a stream towards the client (`down`) and one towards the server (`up`).
struct Pair {
  explicit Pair(Budget& heads) : request(heads), response(heads) {}

  std::int32_t down = 0;
  std::int32_t up = 0;
  bool down_open = true;
  bool up_open = false;
  bool is_echoed = false;
  bool is_last = false;  // after its answer the client is sent away
  std::size_t unread = 0;  // of the request, after its answer
  Half request;
  Half response;
};

class Http2 {
 public:
  Http2(const Conversation& conversation, Stream& client, Stream& upstream);
  void serve();

  // What nghttp2 tells of, by way of the callbacks. Of a stream that is not known any more, nothing.
  struct End {
    Http2& owner;
    Role role;
    Side side;
    Session session = nullptr;
  };
  int on_begin_request(std::int32_t stream);
  int on_header(End& end, const nghttp2_frame& frame, Header header);
  void on_headers(End& end, const nghttp2_frame& frame);
  void on_data(End& end, std::int32_t stream, std::string_view bytes);
  void on_end(End& end, std::int32_t stream);
  void on_closed(End& end, std::int32_t stream, std::uint32_t error);
  void on_goaway();
  void on_answered(std::int32_t stream);
  void on_malformed(const End& end);
  ssize_t take_body(End& to, std::int32_t stream, std::span<std::uint8_t> into, std::uint32_t& flags);

 private:
  bool receive(End& end);
  bool produce(End& end);
  bool finished() const;
  void lose_upstream();
  void stop_accepting();

  Pair* find(const End& end, std::int32_t stream);
  End& other(const End& end) { return &end == &down_ ? up_ : down_; }
  void begin_request(Pair& pair);
  void forward_request(Pair& pair, const Judgement& judgement);
  void begin_response(Pair& pair);
  void answer(Pair& pair, const Refusal& refusal);
  void forget_body(Pair& pair, std::size_t size);
  void reset(End& end, Pair& pair, std::uint32_t error);
  void resume(End& to, const Pair& pair);
  void forget(Pair& pair);

  const Conversation& conversation_;
  Share windows_;
  End down_;
  End up_;
  std::map<std::int32_t, std::unique_ptr<Pair>> pairs_;  // by `down`
  std::map<std::int32_t, Pair*> by_up_;
  bool stopping_ = false;         // the client has been sent away
  bool upstream_leaves_ = false;  // the server takes no more requests
};

}  // namespace hutch::inspect
