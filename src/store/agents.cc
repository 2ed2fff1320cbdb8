// The agents of one user.
#include "store/agents.h"

#include "base/text.h"
#include "sys/files/journal.h"

namespace hutch::store {

namespace {

constexpr const char* kAgentsSchema =
    "CREATE TABLE IF NOT EXISTS agents (name TEXT PRIMARY KEY, folded TEXT NOT NULL UNIQUE, id TEXT NOT NULL UNIQUE,"
    " record TEXT NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS starts (name TEXT PRIMARY KEY, error TEXT NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS numbers (kind TEXT PRIMARY KEY, last INTEGER NOT NULL) STRICT;";
constexpr std::int64_t kSchemaVersion = 1;

Status prepare_schema(Database& database) {
  Statement version = TRY(database.prepare("PRAGMA user_version"));
  TRY(version.step());
  const std::int64_t found = version.number(0);
  if (found > kSchemaVersion) {
    return fail(Error::unsupported("the database was written by a newer hutch: install that one"));
  }
  TRY(database.execute(kAgentsSchema));
  return database.execute(cat({"PRAGMA user_version=", std::to_string(kSchemaVersion)}));
}

}  // namespace

Result<std::string> new_uuid() {
  std::string digits = TRY(sys::random_hex(16));
  digits[12] = '4';
  static constexpr std::string_view kVariant = "89ab";
  digits[16] = kVariant[static_cast<unsigned char>(digits[16]) % kVariant.size()];
  return cat({digits.substr(0, 8), "-", digits.substr(8, 4), "-", digits.substr(12, 4), "-", digits.substr(16, 4), "-",
              digits.substr(20)});
}

Result<std::unique_ptr<Agents>> Agents::open(const std::string& data) {
  Database database = TRY(Database::open(cat({data, "/hutch.db"})));
  TRY(prepare_schema(database));
  return std::make_unique<Agents>(std::move(database));
}

Result<AgentRecord> Agents::create(AgentRecord record) {
  TRY(check_agent_name(record.name));
  record.id = TRY(new_uuid());
  const std::string folded = folded_name(record.name);
  const std::scoped_lock lock(mutex_);
  Statement taken = TRY(database_.prepare("SELECT name FROM agents WHERE folded = ?1"));
  taken.bind(1, folded);
  if (TRY(taken.step())) {
    const std::string other = taken.text(0);
    const std::string why =
        other == record.name ? std::string("is there already") : cat({"would be taken for ", other});
    return fail({Code::kConflict, 0, cat({"agent ", record.name, " ", why})});
  }
  Statement insert = TRY(database_.prepare("INSERT INTO agents (name, folded, id, record) VALUES (?1, ?2, ?3, ?4)"));
  TRY(insert.bind(1, record.name).bind(2, folded).bind(3, record.id).bind(4, format_agent(record)).run());
  return record;
}

Result<AgentRecord> Agents::find(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  Statement select = TRY(database_.prepare("SELECT record FROM agents WHERE name = ?1"));
  select.bind(1, name);
  if (!TRY(select.step())) {
    return fail(Error::not_found(cat({"there is no agent ", printable(name, 64), "; hutch agent list shows them"})));
  }
  return parse_agent(select.text(0));
}

Result<std::vector<AgentRecord>> Agents::list() {
  const std::scoped_lock lock(mutex_);
  std::vector<AgentRecord> all;
  Statement select = TRY(database_.prepare("SELECT record FROM agents ORDER BY name"));
  while (TRY(select.step())) all.push_back(TRY(parse_agent(select.text(0))));
  return all;
}

Status Agents::update(const AgentRecord& record) {
  const std::scoped_lock lock(mutex_);
  Statement update = TRY(database_.prepare("UPDATE agents SET record = ?2 WHERE name = ?1"));
  TRY(update.bind(1, record.name).bind(2, format_agent(record)).run());
  if (database_.changes() == 1) return {};
  return fail(Error::not_found(cat({"there is no agent ", record.name})));
}

Result<bool> Agents::remove(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  Statement remove = TRY(database_.prepare("DELETE FROM agents WHERE name = ?1"));
  TRY(remove.bind(1, name).run());
  const bool was_there = database_.changes() == 1;
  Statement forget = TRY(database_.prepare("DELETE FROM starts WHERE name = ?1"));
  TRY(forget.bind(1, name).run());
  return was_there;
}

Result<std::optional<Agents::LastStart>> Agents::last_start(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  Statement select = TRY(database_.prepare("SELECT error FROM starts WHERE name = ?1"));
  select.bind(1, name);
  if (!TRY(select.step())) return std::optional<LastStart>();
  return LastStart{select.text(0)};
}

Status Agents::set_last_start(const std::string& name, const LastStart& start) {
  const std::scoped_lock lock(mutex_);
  Statement insert = TRY(database_.prepare("INSERT OR REPLACE INTO starts (name, error) VALUES (?1, ?2)"));
  return insert.bind(1, name).bind(2, start.error).run();
}

Result<std::uint32_t> Agents::last_process() {
  const std::scoped_lock lock(mutex_);
  return static_cast<std::uint32_t>(TRY(number("process")));
}

Status Agents::set_last_process(std::uint32_t last) {
  const std::scoped_lock lock(mutex_);
  return set_number("process", static_cast<std::int64_t>(last));
}

Result<Agents::Before> Agents::begin_serving() {
  const std::scoped_lock lock(mutex_);
  const Before before = TRY(number("serving")) == 0 ? Before::kEnded : Before::kKilled;
  TRY(set_number("serving", 1));
  return before;
}

Status Agents::end_serving() {
  const std::scoped_lock lock(mutex_);
  return set_number("serving", 0);
}

Result<std::int64_t> Agents::number(std::string_view kind) {
  Statement select = TRY(database_.prepare("SELECT last FROM numbers WHERE kind = ?1"));
  select.bind(1, kind);
  if (!TRY(select.step())) return std::int64_t{0};
  return select.number(0);
}

Status Agents::set_number(std::string_view kind, std::int64_t number) {
  Statement insert = TRY(database_.prepare("INSERT OR REPLACE INTO numbers (kind, last) VALUES (?1, ?2)"));
  return insert.bind(1, kind).bind(2, number).run();
}

}  // namespace hutch::store
