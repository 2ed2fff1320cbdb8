// SHA-1, as Boost.Beast has it for WebSockets: a header, so that no cryptography library is needed.
#include "base/sha1.h"

#include <boost/beast/core/detail/sha1.hpp>

namespace hutch {

std::string sha1(std::string_view bytes) {
  namespace beast = boost::beast::detail;
  beast::sha1_context context;
  beast::init(context);
  beast::update(context, bytes.data(), bytes.size());
  std::string digest(beast::sha1_context::digest_size, '\0');
  beast::finish(context, digest.data());
  return digest;
}

}  // namespace hutch
