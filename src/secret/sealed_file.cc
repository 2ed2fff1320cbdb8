// Sealing by libsodium.
#include "secret/sealed_file.h"

#include <sodium.h>

#include "base/text.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/tree.h"
#include "sys/files/whole_file.h"
#include "sys/io.h"

namespace hutch::secret {

namespace {

constexpr std::string_view kMagic = "hutch-sealed-1\n";
constexpr std::size_t kNonceBytes = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t kTagBytes = crypto_aead_xchacha20poly1305_ietf_ABYTES;
static_assert(kKeyBytes == crypto_aead_xchacha20poly1305_ietf_KEYBYTES);

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

Status begin_sodium() {
  if (sodium_init() >= 0) return {};
  return fail(Error{.code = Code::kSystem, .message = "sodium_init() failed: no randomness"});
}

std::string bound(std::string_view label) { return cat({kMagic, label}); }

}  // namespace

Result<std::string> load_key(const std::string& path) {
  TRY(begin_sodium());
  if (!TRY(sys::status_of(path))) {
    std::string key(kKeyBytes, '\0');
    randombytes_buf(key.data(), key.size());
    TRY_CTX(sys::replace_file(path, key), "make the key of secrets");
    return key;
  }
  const auto status = TRY(sys::status_of(path));
  if (status->kind != sys::EntryKind::kFile || status->uid != sys::user_id() || (status->mode & 077) != 0) {
    return fail(Error{.code = Code::kPermissionDenied,
                      .message = cat({printable(path),
                                      ": the key of secrets has to be a file of your own that nobody else may "
                                      "read: chmod 600 ",
                                      shell_word(path)})});
  }
  std::string key = TRY(sys::regular_file_text(path, kKeyBytes + 1));
  if (key.size() == kKeyBytes) return key;
  return fail(Error::invalid(cat({path, ": is no key; what it sealed is lost without it"})));
}

std::string text_of_key(std::string_view key) {
  std::string text(2 * key.size() + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), bytes_of(key), key.size());
  text.pop_back();
  return text;
}

Result<std::string> key_of_text(std::string_view text) {
  std::string key(kKeyBytes, '\0');
  std::size_t size = 0;
  const char* end = nullptr;
  const int read = sodium_hex2bin(bytes_of(key), key.size(), text.data(), text.size(), nullptr, &size, &end);
  if (read == 0 && size == kKeyBytes && end == text.data() + text.size()) return key;
  return fail(Error::invalid("what is kept as the key of secrets is none; what it sealed is lost without it"));
}

Result<std::string> seal(std::string_view plain, std::string_view key, std::string_view label) {
  TRY(begin_sodium());
  if (key.size() != kKeyBytes) return fail(Error::invalid("the key has another length"));
  const std::string with = bound(label);
  std::string nonce(kNonceBytes, '\0');
  randombytes_buf(nonce.data(), nonce.size());
  std::string sealed(plain.size() + kTagBytes, '\0');
  unsigned long long size = 0;
  crypto_aead_xchacha20poly1305_ietf_encrypt(bytes_of(sealed), &size, bytes_of(plain), plain.size(), bytes_of(with),
                                             with.size(), nullptr, bytes_of(nonce), bytes_of(key));
  sealed.resize(size);
  return cat({kMagic, nonce, sealed});
}

Result<std::string> open_sealed(std::string_view sealed, std::string_view key, std::string_view label) {
  TRY(begin_sodium());
  const std::size_t before = kMagic.size() + kNonceBytes;
  if (key.size() != kKeyBytes) return fail(Error::invalid("the key has another length"));
  if (!sealed.starts_with(kMagic) || sealed.size() < before + kTagBytes) {
    return fail(Error::invalid("is no sealed file of this version"));
  }
  const std::string with = bound(label);
  const std::string_view nonce = sealed.substr(kMagic.size(), kNonceBytes);
  const std::string_view body = sealed.substr(before);
  std::string plain(body.size() - kTagBytes, '\0');
  unsigned long long size = 0;
  const int opened =
      crypto_aead_xchacha20poly1305_ietf_decrypt(bytes_of(plain), &size, nullptr, bytes_of(body), body.size(),
                                                 bytes_of(with), with.size(), bytes_of(nonce), bytes_of(key));
  if (opened != 0) return fail(Error::invalid("was changed, or sealed by another key"));
  plain.resize(size);
  return plain;
}

void wipe(std::string& text) {
  sodium_memzero(text.data(), text.size());
  text.clear();
}

}  // namespace hutch::secret
