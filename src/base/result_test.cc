// Results: values and errors pass through TRY, context comes first.
#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace hutch {
namespace {

Result<std::unique_ptr<int>> make(int value) {
  if (value < 0) return fail(Error::invalid("negative"));
  return std::make_unique<int>(value);
}

Result<int> doubled(int value) {
  const auto made = TRY_CTX(make(value), "double");
  return *made * 2;
}

Status nothing(int value) {
  TRY(doubled(value));
  return {};
}

TEST(Result, ValuesPass) {
  EXPECT_EQ(*doubled(4), 8);
  EXPECT_TRUE(nothing(1).has_value());
}

TEST(Result, ErrorsPassWithContextFirst) {
  const auto failed = nothing(-1);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().message, "double: negative");
  EXPECT_EQ(failed.error().code, Code::kInvalidArgument);
}

TEST(Error, NamesTheCallAndTheReason) {
  const Error error = Error::from_errno("open(/etc/x)", EACCES);
  EXPECT_EQ(error.message, "open(/etc/x): Permission denied");
  EXPECT_EQ(error.code, Code::kPermissionDenied);
  EXPECT_EQ(error.sys_errno, EACCES);
}

}  // namespace
}  // namespace hutch
