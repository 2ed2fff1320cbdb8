// What agents have shared with their people (share_artifact), in the database: the hash as it was then, since the file
// itself stays where its agent can change it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/database.h"

namespace hutch::store {

struct Artifact {
  std::string agent{};
  std::string name{};    // in the agent's output directory
  std::uint64_t size = 0;
  std::string sha256{};  // in hexadecimal
  std::string type{};    // of its media, by its name
  std::string description{};
  std::string shared{};  // format_time
  bool operator==(const Artifact&) const = default;
};

// So many are kept of an agent, the last ones.
inline constexpr std::int64_t kArtifactsOfAgentMax = 1000;

// Any thread may use it.
class Artifacts {
 public:
  // The database of `data`, as Agents has it.
  static Result<std::unique_ptr<Artifacts>> open(const std::string& data);
  explicit Artifacts(Database database) : database_(std::move(database)) {}

  // In place of the one of that name.
  Status put(const Artifact& artifact);
  // The last one first.
  Result<std::vector<Artifact>> list(const std::string& agent);
  Result<std::optional<Artifact>> find(const std::string& agent, const std::string& name);
  // The agent is removed.
  Status forget(const std::string& agent);

 private:
  std::mutex mutex_;
  Database database_;
};

}  // namespace hutch::store
