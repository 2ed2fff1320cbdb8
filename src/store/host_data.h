// Small values that an agent keeps by the host's bridge, in the database.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/database.h"

namespace hutch::store {

inline constexpr std::size_t kConfigKeyBytesMax = 192;
inline constexpr std::size_t kConfigValueBytesMax = 64 << 10;
inline constexpr std::int64_t kConfigKeysMax = 1000;  // of an agent

// Any thread may use it.
class HostData {
 public:
  static Result<std::unique_ptr<HostData>> open(const std::string& data);
  explicit HostData(Database database) : database_(std::move(database)) {}

  Result<std::optional<std::string>> config(const std::string& agent, const std::string& key);
  // Code::kInvalidArgument for what is too long, kConflict where there are too many keys.
  Status set_config(const std::string& agent, const std::string& key, const std::string& value);
  struct Entry {
    std::string key;
    std::string value;
  };
  // Those whose key begins so, in the order of keys.
  Result<std::vector<Entry>> list(const std::string& agent, const std::string& prefix);
  Status forget_below(const std::string& agent, const std::string& prefix);
  // The agent is removed.
  Status forget(const std::string& agent);

 private:
  std::mutex mutex_;
  Database database_;
};

}  // namespace hutch::store
