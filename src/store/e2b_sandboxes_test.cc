// Records of sandboxes in a database of the test's own.
#include "store/e2b_sandboxes.h"

#include <gtest/gtest.h>

#include "base/directory_testing.h"

namespace hutch::store {
namespace {

TEST(E2bSandboxes, AreThereAgain) {
  const TestDirectory directory{"e2b"};
  E2bRecord record{.id = "i1",
                   .owner = "ci",
                   .template_name = "base",
                   .token = "t",
                   .started_ms = 2,
                   .end_ms = 3,
                   .metadata = "{\"a\":\"b\"}",
                   .variables = "{}"};
  {
    auto all = E2bSandboxes::open(directory.path());
    ASSERT_TRUE(all.has_value()) << all.error().message;
    ASSERT_TRUE((*all)->put(record).has_value());
    record.paused = true;
    record.pauses_at_end = true;
    record.resumes_by_itself = true;
    ASSERT_TRUE((*all)->put(record).has_value());
    ASSERT_TRUE((*all)->put({.id = "i0", .started_ms = 1}).has_value());
  }
  auto all = E2bSandboxes::open(directory.path());
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(*(*all)->list(), (std::vector<E2bRecord>{{.id = "i0", .started_ms = 1}, record}));
  ASSERT_TRUE((*all)->remove("i0").has_value());
  ASSERT_TRUE((*all)->remove("nothing").has_value());
  EXPECT_EQ(*(*all)->list(), (std::vector<E2bRecord>{record}));
}

}  // namespace
}  // namespace hutch::store
