// The kernel's refusals of lists, named as they were made.
#include "sys/files/acl.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/unique_fd.h"
#include "sys/files/files.h"

namespace hutch::sys {
namespace {

// Procfs keeps no lists, whoever asks.
UniqueFd opened(int flags) {
  return UniqueFd(::open("/proc/self/attr", flags | O_DIRECTORY | O_CLOEXEC));  // NOLINT: the only call
}

TEST(AclTest, ErrorNamesTheCallAndTheFile) {
  const struct {
    int flags;
    const char* name;
    const char* get;
    const char* set;
    const char* remove;
  } rows[] = {
      {O_RDONLY, "", "fgetxattr(/proc/", "fsetxattr(/proc/", "fremovexattr(/proc/"},
      {O_PATH, "", "getxattr(/proc/", "setxattr(/proc/", "removexattr(/proc/"},
      {O_RDONLY, "exec", "lgetxattr(exec,", "lsetxattr(exec,", "lremovexattr(exec,"},
  };
  for (const auto& row : rows) {
    const UniqueFd directory = opened(row.flags);
    ASSERT_TRUE(directory);
    const auto got = acl_attribute(directory.get(), row.name, AclKind::kAccess);
    const auto set = set_acl_attribute(directory.get(), row.name, AclKind::kDefault, "");
    const auto removed = remove_acl_attribute(directory.get(), row.name, AclKind::kAccess);
    ASSERT_FALSE(got);
    ASSERT_FALSE(set);
    ASSERT_FALSE(removed);
    EXPECT_TRUE(got.error().message.starts_with(row.get)) << got.error().message;
    EXPECT_TRUE(set.error().message.starts_with(row.set)) << set.error().message;
    EXPECT_TRUE(removed.error().message.starts_with(row.remove)) << removed.error().message;
    EXPECT_NE(set.error().message.find("system.posix_acl_default"), std::string::npos) << set.error().message;
  }
}

}  // namespace
}  // namespace hutch::sys
