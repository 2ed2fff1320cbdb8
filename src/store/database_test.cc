// A database that several connections of one process, and other processes, have open.
#include "store/database.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/directory_testing.h"

namespace hutch::store {
namespace {

// In another process, as a command beside the daemon does: opened, asked, and left.
int rows_seen_by_another(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    int rows = -1;
    if (auto database = Database::open(path)) {
      if (auto select = database->prepare("SELECT count(*) FROM t"); select && select->step().value_or(false)) {
        rows = static_cast<int>(select->number(0));
      }
    }
    ::_exit(rows < 0 ? 255 : rows);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WEXITSTATUS(status);
}

// Who leaves last takes the log away. A process that has two connections has to keep its locks when it gets the second.
TEST(Database, AnotherProcessThatLeavesTakesNothingAway) {
  const TestDirectory made("database");
  const std::string path = made.path() + "/data/test.db";
  auto first = Database::open(path);
  ASSERT_TRUE(first) << first.error().message;
  ASSERT_TRUE(first->execute("CREATE TABLE t (n INTEGER)"));
  auto second = Database::open(path);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(rows_seen_by_another(path), 0);
  ASSERT_TRUE(first->execute("INSERT INTO t VALUES (1)"));
  ASSERT_TRUE(second->execute("INSERT INTO t VALUES (2)"));
  EXPECT_EQ(rows_seen_by_another(path), 2);
}

}  // namespace
}  // namespace hutch::store
