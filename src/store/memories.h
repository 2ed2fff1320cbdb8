// What agents remember: texts, found again by their words. A database of its own for each agent, so that no query can
// find another's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/database.h"

namespace hutch::store {

inline constexpr std::size_t kMemoryBytesMax = 64 << 10;
inline constexpr std::int64_t kMemoriesMax = 200'000;  // of an agent; the oldest go
inline constexpr std::size_t kMemoriesFoundMax = 50;
inline constexpr double kUsualSalience = 0.7;

struct Memory {
  std::int64_t id = 0;
  std::string content;
  double salience = kUsualSalience;  // 0 to 1
  std::int64_t created = 0;          // milliseconds since 1970
  std::string source;                // who wrote it down: "sandbox", "user"
};

// Any thread may use it.
class Memories {
 public:
  explicit Memories(std::string directory) : directory_(std::move(directory)) {}

  Result<std::int64_t> add(const std::string& agent, const Memory& memory);
  // The best first: by how well the words fit, how new it is, and how salient, among the 2000 that the rarest of the
  // words find. What has no word in it finds the newest.
  Result<std::vector<Memory>> find(const std::string& agent, std::string_view words, std::size_t most,
                                   std::int64_t now);
  Result<std::vector<Memory>> newest(const std::string& agent, std::size_t most);
  Result<bool> remove(const std::string& agent, std::int64_t id);
  Result<std::int64_t> count(const std::string& agent);
  // The agent is removed, and its database.
  Status forget(const std::string& agent);

 private:
  Result<Database*> database_of(const std::string& agent);
  static Result<std::string> telling_query(Database& database, std::string_view words);
  std::string path_of(const std::string& agent) const;

  const std::string directory_;
  std::mutex mutex_;
  std::map<std::string, Database> open_;
};

// The words of a text, each as a phrase of FTS5: nothing of its syntax is taken as such.
std::vector<std::string> memory_words(std::string_view words);

// Between 0 and 1: `fit` of the best is 1.
double memory_score(double fit, double salience, std::int64_t age_ms);

}  // namespace hutch::store
