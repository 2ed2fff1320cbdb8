// SHA-1 (FIPS 180-4), where a format of others asks for it: RFC 6455, git.
#pragma once

#include <string>
#include <string_view>

namespace hutch {

// Its 20 bytes.
std::string sha1(std::string_view bytes);

}  // namespace hutch
