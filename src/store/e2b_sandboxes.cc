// The sandboxes of the E2B-compatible API in the database.
#include "store/e2b_sandboxes.h"

#include "base/text.h"

namespace hutch::store {

namespace {

constexpr const char* kE2bSchema =
    "CREATE TABLE IF NOT EXISTS e2b_sandboxes (id TEXT PRIMARY KEY, owner TEXT NOT NULL, template TEXT NOT NULL,"
    " token TEXT NOT NULL, started_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL, paused INTEGER NOT NULL,"
    " pauses_at_end INTEGER NOT NULL, resumes INTEGER NOT NULL, metadata TEXT NOT NULL, variables TEXT NOT NULL)"
    " STRICT;";

}  // namespace

Result<std::unique_ptr<E2bSandboxes>> E2bSandboxes::open(const std::string& data) {
  Database database = TRY(Database::open(cat({data, "/hutch.db"})));
  TRY(database.execute(kE2bSchema));
  return std::make_unique<E2bSandboxes>(std::move(database));
}

Status E2bSandboxes::put(const E2bRecord& record) {
  const std::scoped_lock lock(mutex_);
  Statement insert = TRY(database_.prepare(
      "INSERT OR REPLACE INTO e2b_sandboxes (id, owner, template, token, started_ms, end_ms, paused, pauses_at_end,"
      " resumes, metadata, variables) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)"));
  insert.bind(1, record.id).bind(2, record.owner).bind(3, record.template_name).bind(4, record.token);
  insert.bind(5, record.started_ms).bind(6, record.end_ms).bind(7, record.paused ? 1 : 0);
  insert.bind(8, record.pauses_at_end ? 1 : 0).bind(9, record.resumes_by_itself ? 1 : 0);
  return insert.bind(10, record.metadata).bind(11, record.variables).run();
}

Status E2bSandboxes::remove(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  Statement remove = TRY(database_.prepare("DELETE FROM e2b_sandboxes WHERE id = ?1"));
  return remove.bind(1, id).run();
}

Result<std::vector<E2bRecord>> E2bSandboxes::list() {
  const std::scoped_lock lock(mutex_);
  Statement select = TRY(database_.prepare(
      "SELECT id, owner, template, token, started_ms, end_ms, paused, pauses_at_end, resumes, metadata, variables"
      " FROM e2b_sandboxes ORDER BY started_ms, id"));
  std::vector<E2bRecord> all;
  while (TRY(select.step())) {
    all.push_back({.id = select.text(0),
                   .owner = select.text(1),
                   .template_name = select.text(2),
                   .token = select.text(3),
                   .started_ms = select.number(4),
                   .end_ms = select.number(5),
                   .paused = select.number(6) != 0,
                   .pauses_at_end = select.number(7) != 0,
                   .resumes_by_itself = select.number(8) != 0,
                   .metadata = select.text(9),
                   .variables = select.text(10)});
  }
  return all;
}

}  // namespace hutch::store
