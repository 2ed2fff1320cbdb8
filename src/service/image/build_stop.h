// Ends a build of an image, or the wait for one. In a header of its own: others only name it.
#pragma once

#include <stop_token>

namespace hutch::service {

struct BuildStop {
  std::stop_token token;
};

}  // namespace hutch::service
