// Shared files in the database.
#include "store/artifacts.h"

#include "base/text.h"

namespace hutch::store {

namespace {

constexpr const char* kArtifactsSchema =
    "CREATE TABLE IF NOT EXISTS artifacts (number INTEGER PRIMARY KEY, agent TEXT NOT NULL, name TEXT NOT NULL,"
    " size INTEGER NOT NULL, sha256 TEXT NOT NULL, type TEXT NOT NULL, description TEXT NOT NULL,"
    " shared TEXT NOT NULL, UNIQUE (agent, name)) STRICT;";

Artifact read_artifact(const Statement& row) {
  return {.agent = row.text(0),
          .name = row.text(1),
          .size = static_cast<std::uint64_t>(row.number(2)),
          .sha256 = row.text(3),
          .type = row.text(4),
          .description = row.text(5),
          .shared = row.text(6)};
}

}  // namespace

Result<std::unique_ptr<Artifacts>> Artifacts::open(const std::string& data) {
  Database database = TRY(Database::open(cat({data, "/hutch.db"})));
  TRY(database.execute(kArtifactsSchema));
  return std::make_unique<Artifacts>(std::move(database));
}

Status Artifacts::put(const Artifact& artifact) {
  const std::scoped_lock lock(mutex_);
  // The number of a row that is replaced goes with it, so that the last shared is the highest.
  Statement insert = TRY(database_.prepare(
      "INSERT OR REPLACE INTO artifacts (number, agent, name, size, sha256, type, description, shared) VALUES"
      " ((SELECT COALESCE(MAX(number), 0) + 1 FROM artifacts), ?1, ?2, ?3, ?4, ?5, ?6, ?7)"));
  insert.bind(1, artifact.agent).bind(2, artifact.name).bind(3, static_cast<std::int64_t>(artifact.size));
  insert.bind(4, artifact.sha256).bind(5, artifact.type).bind(6, artifact.description).bind(7, artifact.shared);
  TRY(insert.run());
  Statement forget =
      TRY(database_.prepare("DELETE FROM artifacts WHERE agent = ?1 AND number NOT IN"
                            " (SELECT number FROM artifacts WHERE agent = ?1 ORDER BY number DESC LIMIT ?2)"));
  return forget.bind(1, artifact.agent).bind(2, kArtifactsOfAgentMax).run();
}

Result<std::vector<Artifact>> Artifacts::list(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  Statement select = TRY(
      database_.prepare("SELECT agent, name, size, sha256, type, description, shared FROM artifacts WHERE agent = ?1"
                        " ORDER BY number DESC"));
  select.bind(1, agent);
  std::vector<Artifact> all;
  while (TRY(select.step())) all.push_back(read_artifact(select));
  return all;
}

Result<std::optional<Artifact>> Artifacts::find(const std::string& agent, const std::string& name) {
  const std::scoped_lock lock(mutex_);
  Statement select = TRY(database_.prepare(
      "SELECT agent, name, size, sha256, type, description, shared FROM artifacts WHERE agent = ?1 AND name = ?2"));
  select.bind(1, agent).bind(2, name);
  if (!TRY(select.step())) return std::optional<Artifact>();
  return std::optional(read_artifact(select));
}

Status Artifacts::forget(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  Statement remove = TRY(database_.prepare("DELETE FROM artifacts WHERE agent = ?1"));
  return remove.bind(1, agent).run();
}

}  // namespace hutch::store
