// The sandboxes of the E2B-compatible API that are there, in the database, so that they outlive the daemon.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/database.h"

namespace hutch::store {

struct E2bRecord {
  std::string id{};  // the agent's name is made of it
  std::string owner{};  // the API key's name; empty: the daemon's own user
  std::string template_name{};
  std::string token{};  // that calls into it show
  std::int64_t started_ms = 0;  // since the epoch
  std::int64_t end_ms = 0;
  bool paused = false;
  bool pauses_at_end = false;  // else it is killed
  bool resumes_by_itself = false;
  std::string metadata{};   // JSON, an object of texts
  std::string variables{};  // likewise: of every command
  bool operator==(const E2bRecord&) const = default;
};

// Any thread may use it.
class E2bSandboxes {
 public:
  // The database of `data`, as Agents has it.
  static Result<std::unique_ptr<E2bSandboxes>> open(const std::string& data);
  explicit E2bSandboxes(Database database) : database_(std::move(database)) {}

  Status put(const E2bRecord& record);  // in the place of the one with its id
  Status remove(const std::string& id);
  Result<std::vector<E2bRecord>> list();  // in the order of their starts

 private:
  std::mutex mutex_;
  Database database_;
};

}  // namespace hutch::store
