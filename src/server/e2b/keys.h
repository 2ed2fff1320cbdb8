// The file of further API keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hutch::server::e2b {

struct NamedKey {
  std::string owner;
  std::string key;
  bool operator==(const NamedKey&) const = default;
};
// A line "NAME KEY" for each; what is shorter than a key is none. Pure.
std::vector<NamedKey> keys_in(std::string_view text);

struct Keys {
  bool count = false;  // false: others than its owner may read the file, which gives nobody a key
  std::vector<NamedKey> keys;
};
// Of api-keys beside config.json.
Keys keys_beside(const std::string& config_directory);

// Whose key it is; absent: nobody's. Takes as long for every wrong key.
std::optional<std::string> owner_of_key(const std::string& config_directory, std::string_view key);

}  // namespace hutch::server::e2b
