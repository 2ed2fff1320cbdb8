// SQLite: one database file.
#include "store/database.h"

#include <sqlite3.h>

#include <cerrno>

#include "base/text.h"
#include "sys/files/files.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"

namespace hutch::store {

namespace {

constexpr int kBusyMilliseconds = 10'000;
// One large commit makes the log as large; what is beyond this is given back to the file system once it was copied.
constexpr const char* kSettings =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA trusted_schema=OFF; PRAGMA journal_size_limit=4194304;";

// What the kernel said, as far as SQLite keeps it.
int errno_of(sqlite3* database, int code) {
  switch (code) {
    case SQLITE_FULL: return ENOSPC;
    case SQLITE_READONLY: return EROFS;
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR: return sqlite3_system_errno(database);
    default: return 0;
  }
}

Error error_of(sqlite3* database, std::string_view what) {
  const int code = sqlite3_extended_errcode(database);
  const Code kind = (code & 0xff) == SQLITE_CONSTRAINT ? Code::kConflict : Code::kSystem;
  return {kind, errno_of(database, code & 0xff), cat({what, ": ", sqlite3_errmsg(database)})};
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

// What cannot be bound, for want of memory, is told by the step.
Statement& Statement::bind(int parameter, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), parameter, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind(int parameter, std::int64_t number) {
  sqlite3_bind_int64(statement_.get(), parameter, number);
  return *this;
}

Result<bool> Statement::step() {
  const int answer = sqlite3_step(statement_.get());
  if (answer == SQLITE_ROW) return true;
  if (answer == SQLITE_DONE) return false;
  return fail(error_of(sqlite3_db_handle(statement_.get()), "database"));
}

Status Statement::run() {
  while (TRY(step())) {}
  return {};
}

std::string Statement::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (text == nullptr || size <= 0) return {};
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)};
}

std::int64_t Statement::number(int column) const { return sqlite3_column_int64(statement_.get(), column); }

Result<Database> Database::open(const std::string& path) {
  TRY(sys::make_private_directories(path.substr(0, path.rfind('/'))));
  // SQLite gives the files beside it the mode that this one has. One that is there is not opened here: to close it
  // would drop the locks of every other connection of this process (fcntl(2), sqlite.org/howtocorrupt.html, 2.2), and
  // the next process to leave would take away the log that they write to.
  if (!sys::exists(path)) TRY(sys::open_journal(path));
  sqlite3* opened = nullptr;
  const int answer = sqlite3_open_v2(
      path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_FULLMUTEX,
      nullptr);
  Database database(opened);
  if (answer != SQLITE_OK) return fail(error_of(opened, cat({"open ", path})));
  sqlite3_busy_timeout(opened, kBusyMilliseconds);
  TRY_CTX(database.execute(kSettings), path);
  return database;
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int answer = sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (answer != SQLITE_OK) return fail(error_of(database_.get(), "database"));
  return Statement(statement);
}

Status Database::execute(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return fail(error_of(database_.get(), "database"));
}

int Database::changes() const { return sqlite3_changes(database_.get()); }

}  // namespace hutch::store
