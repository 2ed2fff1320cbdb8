// Small values of agents.
#include "store/host_data.h"

#include "base/text.h"
#include "base/utf8.h"

namespace hutch::store {

namespace {

constexpr const char* kHostDataSchema =
    "CREATE TABLE IF NOT EXISTS config (agent TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,"
    " PRIMARY KEY (agent, key)) STRICT;";

Status check_key(const std::string& key) {
  if (!key.empty() && key.size() <= kConfigKeyBytesMax && is_utf8(key) && !key.contains('\0')) return {};
  return fail(Error::invalid(cat({"a key is text of at most ", std::to_string(kConfigKeyBytesMax), " bytes"})));
}

// A function of its own: while the statement is under way SQLite copies nothing of its log into the database
// (sqlite.org/wal.html, 6), and what is written next would be appended for ever.
Result<std::int64_t> count_others(Database& database, const std::string& agent, const std::string& key) {
  Statement count = TRY(database.prepare("SELECT COUNT(*) FROM config WHERE agent = ?1 AND key != ?2"));
  count.bind(1, agent).bind(2, key);
  TRY(count.step());
  return count.number(0);
}

}  // namespace

Result<std::unique_ptr<HostData>> HostData::open(const std::string& data) {
  Database database = TRY(Database::open(cat({data, "/bridge.db"})));
  TRY(database.execute(kHostDataSchema));
  return std::make_unique<HostData>(std::move(database));
}

Result<std::optional<std::string>> HostData::config(const std::string& agent, const std::string& key) {
  TRY(check_key(key));
  const std::scoped_lock lock(mutex_);
  Statement select = TRY(database_.prepare("SELECT value FROM config WHERE agent = ?1 AND key = ?2"));
  select.bind(1, agent).bind(2, key);
  if (!TRY(select.step())) return std::optional<std::string>();
  return std::optional(select.text(0));
}

Status HostData::set_config(const std::string& agent, const std::string& key, const std::string& value) {
  TRY(check_key(key));
  if (value.size() > kConfigValueBytesMax || !is_utf8(value) || value.contains('\0')) {
    return fail(Error::invalid(cat({"a value is text of at most ", std::to_string(kConfigValueBytesMax), " bytes"})));
  }
  const std::scoped_lock lock(mutex_);
  if (TRY(count_others(database_, agent, key)) >= kConfigKeysMax) {
    return fail(Error{.code = Code::kConflict,
                      .message = cat({"the agent keeps ", std::to_string(kConfigKeysMax), " values already"})});
  }
  Statement insert = TRY(database_.prepare("INSERT OR REPLACE INTO config (agent, key, value) VALUES (?1, ?2, ?3)"));
  return insert.bind(1, agent).bind(2, key).bind(3, value).run();
}

Result<std::vector<HostData::Entry>> HostData::list(const std::string& agent, const std::string& prefix) {
  const std::scoped_lock lock(mutex_);
  Statement select = TRY(database_.prepare(
      "SELECT key, value FROM config WHERE agent = ?1 AND substr(key, 1, length(?2)) = ?2 ORDER BY key"));
  select.bind(1, agent).bind(2, prefix);
  std::vector<Entry> entries;
  while (TRY(select.step())) entries.push_back({select.text(0), select.text(1)});
  return entries;
}

Status HostData::forget_below(const std::string& agent, const std::string& prefix) {
  const std::scoped_lock lock(mutex_);
  Statement remove = TRY(database_.prepare("DELETE FROM config WHERE agent = ?1 AND substr(key, 1, length(?2)) = ?2"));
  return remove.bind(1, agent).bind(2, prefix).run();
}

Status HostData::forget(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  Statement remove = TRY(database_.prepare("DELETE FROM config WHERE agent = ?1"));
  return remove.bind(1, agent).run();
}

}  // namespace hutch::store
