// Files that only their key opens: XChaCha20-Poly1305 by libsodium, each bound to what it is called.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hutch::secret {

inline constexpr std::size_t kKeyBytes = 32;
inline constexpr std::size_t kSealedBytesMax = 32 << 20;

// The key in `path`; made, mode 0600, where there is none. A file that others may read or write, a link, or one of
// another length is an error.
Result<std::string> load_key(const std::string& path);

// A key as hexadecimal digits, for keepers of texts.
std::string text_of_key(std::string_view key);
Result<std::string> key_of_text(std::string_view text);

// What `open_sealed` takes back with the same key and label alone. Pure but for the nonce.
Result<std::string> seal(std::string_view plain, std::string_view key, std::string_view label);
Result<std::string> open_sealed(std::string_view sealed, std::string_view key, std::string_view label);

// Overwrites what it held.
void wipe(std::string& text);

}  // namespace hutch::secret
