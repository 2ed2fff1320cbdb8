// SQLite: one database file, its connection and its statements. sqlite.org/c3ref.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace hutch::store {

// One statement on its way: bound, stepped, read. Valid as long as its database.
class Statement {
 public:
  // Parameters are counted from 1, columns from 0.
  Statement& bind(int parameter, std::string_view text);
  Statement& bind(int parameter, std::int64_t number);

  // Whether there is a row now.
  Result<bool> step();
  // For one that gives no rows.
  Status run();

  std::string text(int column) const;
  std::int64_t number(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// In write-ahead mode, so that a kill at any moment loses nothing that was committed (sqlite.org/wal.html). One thread
// at a time may use it.
class Database {
 public:
  // Makes the file, and its directory with mode 0700, where they are absent.
  static Result<Database> open(const std::string& path);

  Result<Statement> prepare(std::string_view sql);
  // Several statements without parameters.
  Status execute(const std::string& sql);
  int changes() const;  // rows of the last statement

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit Database(sqlite3* database) : database_(database) {}
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace hutch::store
