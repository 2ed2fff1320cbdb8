// What nghttp2 calls while it reads and writes: each finds its End and tells the owner.
#pragma once

#include "inspect/http2.h"

namespace hutch::inspect {

// For both roles; null when there is no memory.
Callbacks make_callbacks();

// Where the DATA frames of a stream towards `to` come from.
nghttp2_data_provider body_source(Http2::End& to);

}  // namespace hutch::inspect
