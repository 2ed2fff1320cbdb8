// Reads the file of further API keys.
#include "server/e2b/keys.h"

#include <cstddef>

#include "base/text.h"
#include "server/protocol/http_guard.h"
#include "sys/files/tree.h"

namespace hutch::server::e2b {

namespace {

constexpr std::size_t kKeysBytesMax = 1 << 20;
constexpr std::size_t kKeyCharactersMin = 16;

}  // namespace

std::vector<NamedKey> keys_in(std::string_view text) {
  std::vector<NamedKey> keys;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || space == 0 || line.front() == '#') continue;
    std::string_view key = line.substr(space + 1);
    while (key.ends_with('\r') || key.ends_with(' ')) key.remove_suffix(1);
    while (key.starts_with(' ')) key.remove_prefix(1);
    if (key.size() < kKeyCharactersMin) continue;
    keys.push_back({std::string(line.substr(0, space)), std::string(key)});
  }
  return keys;
}

Keys keys_beside(const std::string& config_directory) {
  const std::string path = config_directory + "/api-keys";
  const auto status = sys::status_of(path);
  if (!status || !*status) return {};
  const auto text = sys::regular_file_text(path, kKeysBytesMax);
  if (!text) return {};
  return {((*status)->mode & 0077) == 0, keys_in(*text)};
}

std::optional<std::string> owner_of_key(const std::string& config_directory, std::string_view key) {
  const Keys found = keys_beside(config_directory);
  if (!found.count) return std::nullopt;
  std::optional<std::string> owner;
  for (const NamedKey& one : found.keys) {
    if (http::is_token(key, one.key)) owner = one.owner;
  }
  return owner;
}

}  // namespace hutch::server::e2b
