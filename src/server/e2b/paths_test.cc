// What clients write as a path, as the sandbox sees it.
#include "server/e2b/paths.h"

#include <gtest/gtest.h>

namespace hutch::server::e2b {
namespace {

std::string of(std::string_view path) { return absolute_path("/home/user", path).value_or("an error"); }

TEST(E2bPaths, BeginAtTheHomeOrTheRoot) {
  EXPECT_EQ(of("a/b"), "/home/user/a/b");
  EXPECT_EQ(of("~/a"), "/home/user/a");
  EXPECT_EQ(of("~"), "/home/user");
  EXPECT_EQ(of("~a"), "/home/user/~a");
  EXPECT_EQ(of(""), "/home/user");
  EXPECT_EQ(of("/"), "/");
  EXPECT_EQ(of("//tmp/./x/../y/"), "/tmp/y");
  EXPECT_EQ(of("/../../etc"), "/etc");
  EXPECT_EQ(of("../../../.."), "/");
  EXPECT_EQ(of(std::string("a\0b", 3)), "an error");
  EXPECT_EQ(of(std::string(5000, 'a')), "an error");
}

TEST(E2bPaths, ArePlacesBelowTheRoot) {
  EXPECT_EQ(place_of("/"), (wire::FilePlace{"/", "."}));
  EXPECT_EQ(place_of("/tmp/x"), (wire::FilePlace{"/", "tmp/x"}));
  EXPECT_EQ(last_name("/tmp/x"), "x");
  EXPECT_EQ(join_path("/", "x"), "/x");
  EXPECT_EQ(join_path("/a", "x"), "/a/x");
}

TEST(E2bPaths, TheClientsHomeIsThatOfTheSandbox) {
  const auto there = [](std::string path) { return at_home(std::move(path), "/var/lib/x"); };
  EXPECT_EQ(there("/home/user"), "/var/lib/x");
  EXPECT_EQ(there("/home/user/a"), "/var/lib/x/a");
  for (const char* other : {"/home/user2", "/home/use", "/home", "/tmp/home/user", "a", ""}) {
    EXPECT_EQ(there(other), other);
  }
}

}  // namespace
}  // namespace hutch::server::e2b
