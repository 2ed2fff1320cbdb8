// SHA-1 (FIPS 180-4), for formats that require it: RFC 6455, git.
#pragma once

#include <string>
#include <string_view>

namespace hutch {

// Returns the 20 bytes of the sum.
std::string sha1(std::string_view bytes);

}  // namespace hutch
