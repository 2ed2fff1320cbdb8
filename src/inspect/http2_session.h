// nghttp2's sessions as owned objects, and headers in its form.
#pragma once

#include <nghttp2/nghttp2.h>

#include <memory>
#include <vector>

#include "inspect/head.h"

namespace hutch::inspect {

struct SessionDeleter {
  void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
};
using Session = std::unique_ptr<nghttp2_session, SessionDeleter>;

struct CallbacksDeleter {
  void operator()(nghttp2_session_callbacks* callbacks) const { nghttp2_session_callbacks_del(callbacks); }
};
using Callbacks = std::unique_ptr<nghttp2_session_callbacks, CallbacksDeleter>;

enum class Role { kServer, kClient };

// With hutch's settings queued to be sent; null when there is no memory. `window` is of the whole connection.
Session make_session(Role role, const nghttp2_session_callbacks* callbacks, void* user_data, int window);

// Borrows the strings, which nghttp2 copies when it is given them and takes as not const.
std::vector<nghttp2_nv> name_values(Headers& headers);

}  // namespace hutch::inspect
