// The agents of one user, in the database.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/agent_record.h"
#include "store/database.h"

namespace hutch::store {

// Any thread may use it.
class Agents {
 public:
  // The database of `data`, the directory of host::StateDirs; made where it is absent.
  static Result<std::unique_ptr<Agents>> open(const std::string& data);
  explicit Agents(Database database) : database_(std::move(database)) {}

  // Gives it its id. Code::kConflict where the name, or one that would be taken for it, is there.
  Result<AgentRecord> create(AgentRecord record);
  // Code::kNotFound.
  Result<AgentRecord> find(const std::string& name);
  Result<std::vector<AgentRecord>> list();  // by name
  Status update(const AgentRecord& record);
  // Whether it was there.
  Result<bool> remove(const std::string& name);

  // How the last start of its sandbox came out; absent: it was never started.
  struct LastStart {
    std::string error;  // empty: it ran
  };
  Result<std::optional<LastStart>> last_start(const std::string& name);
  Status set_last_start(const std::string& name, const LastStart& start);

  // The number that a process was given last, of whatever agent.
  Result<std::uint32_t> last_process();
  Status set_last_process(std::uint32_t last);

  // How the daemon before this one went: kKilled where it began to serve, and never ended it.
  enum class Before { kEnded, kKilled };
  Result<Before> begin_serving();
  Status end_serving();

 private:
  // Of the table of numbers; 0 where there is none. The caller holds the lock.
  Result<std::int64_t> number(std::string_view kind);
  Status set_number(std::string_view kind, std::int64_t number);

  std::mutex mutex_;
  Database database_;
};

// A random UUID, version 4 (RFC 9562).
Result<std::string> new_uuid();

}  // namespace hutch::store
