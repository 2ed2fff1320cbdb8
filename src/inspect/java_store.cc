// Certificates as Java keeps those that it trusts.
#include "inspect/java_store.h"

#include <openssl/evp.h>

#include <array>
#include <chrono>
#include <cstdint>

#include "base/text.h"
#include "inspect/openssl_error.h"

namespace hutch::inspect {

namespace {

// sun.security.provider.JavaKeyStore; integers are big-endian.
constexpr std::uint32_t kMagic = 0xfeedfeed;
constexpr std::uint32_t kVersion = 2;
constexpr std::uint32_t kTrustedCertificate = 2;
constexpr std::string_view kPassword = "changeit";
constexpr std::string_view kWhitener = "Mighty Aphrodite";

void put(std::string& out, std::uint64_t value, unsigned bytes) {
  for (unsigned i = bytes; i-- > 0;) out += static_cast<char>(value >> 8 * i);
}

void put_text(std::string& out, std::string_view ascii) {
  put(out, ascii.size(), 2);
  out += ascii;
}

Result<std::string> digest(std::string_view content) {
  std::string keyed;
  for (const char character : kPassword) put(keyed, static_cast<unsigned char>(character), 2);
  keyed += kWhitener;
  keyed += content;
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned size = 0;
  if (EVP_Digest(keyed.data(), keyed.size(), hash.data(), &size, EVP_sha1(), nullptr) != 1) {
    return fail(openssl_error("EVP_Digest"));
  }
  return std::string(reinterpret_cast<const char*>(hash.data()), size);
}

}  // namespace

Result<std::string> java_store(std::span<const std::string> certificates) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto made = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
  std::string out;
  put(out, kMagic, 4);
  put(out, kVersion, 4);
  put(out, certificates.size(), 4);
  for (std::size_t i = 0; i < certificates.size(); ++i) {
    put(out, kTrustedCertificate, 4);
    put_text(out, cat({"authority", std::to_string(i)}));
    put(out, made, 8);
    put_text(out, "X.509");
    put(out, certificates[i].size(), 4);
    out += certificates[i];
  }
  out += TRY(digest(out));
  return out;
}

}  // namespace hutch::inspect
