// nghttp2's sessions as owned objects.
#include "inspect/http2_session.h"

#include "inspect/limits.h"

namespace hutch::inspect {

namespace {

struct OptionDeleter {
  void operator()(nghttp2_option* option) const { nghttp2_option_del(option); }
};
using Option = std::unique_ptr<nghttp2_option, OptionDeleter>;

Option make_options() {
  nghttp2_option* made = nullptr;
  if (nghttp2_option_new(&made) != 0) return nullptr;
  Option options(made);
  // The window opens when bytes have gone on to the other end, so that what waits here is bounded.
  nghttp2_option_set_no_auto_window_update(made, 1);
  // Streams that were closed are of no interest; priorities have no meaning in between two peers.
  nghttp2_option_set_no_closed_streams(made, 1);
  nghttp2_option_set_peer_max_concurrent_streams(made, limits::kStreamsMax);
  nghttp2_option_set_max_send_header_block_length(made, 2 * limits::kHeadBytesMax);
  return options;
}

}  // namespace

Session make_session(Role role, const nghttp2_session_callbacks* callbacks, void* user_data, int window) {
  const Option options = make_options();
  if (!options) return nullptr;
  nghttp2_session* made = nullptr;
  const int failed = role == Role::kServer ? nghttp2_session_server_new2(&made, callbacks, user_data, options.get())
                                           : nghttp2_session_client_new2(&made, callbacks, user_data, options.get());
  if (failed != 0) return nullptr;
  Session session(made);
  std::vector<nghttp2_settings_entry> settings = {
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits::kStreamWindowBytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(limits::kHeadBytesMax)},
  };
  if (role == Role::kServer) {
    settings.push_back({NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits::kStreamsMax});
  } else {
    settings.push_back({NGHTTP2_SETTINGS_ENABLE_PUSH, 0});
  }
  const bool ready = nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings.data(), settings.size()) == 0 &&
                     nghttp2_session_set_local_window_size(made, NGHTTP2_FLAG_NONE, 0, window) == 0;
  return ready ? std::move(session) : nullptr;
}

std::vector<nghttp2_nv> name_values(Headers& headers) {
  std::vector<nghttp2_nv> list;
  list.reserve(headers.size());
  for (Header& header : headers) {
    list.push_back({reinterpret_cast<std::uint8_t*>(header.name.data()),
                    reinterpret_cast<std::uint8_t*>(header.value.data()), header.name.size(), header.value.size(),
                    NGHTTP2_NV_FLAG_NONE});
  }
  return list;
}

}  // namespace hutch::inspect
