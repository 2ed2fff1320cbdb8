// What NativeSandbox comes to as a policy.
#include "api/native_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hutch::api {
namespace {

using policy::EntryForm;
using policy::NetworkMode;
using policy::PathEntry;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;

policy::Policy of(const NativeSandbox& native, std::uint32_t uid = 1000) {
  auto made = native_policy(native, uid, "/cwd");
  EXPECT_TRUE(made);
  return made.value_or(policy::Policy());
}

TEST(NativePolicy, HidesCredentialsAndGivesTheWorkingDirectory) {
  const policy::Policy made = of({});
  EXPECT_THAT(made.filesystem.deny_read, Contains(PathEntry{"~/.ssh"}));
  EXPECT_THAT(made.filesystem.deny_read, Not(Contains(PathEntry{"/home/*/.ssh"})));
  EXPECT_THAT(made.filesystem.deny_read, Not(Contains(PathEntry{"/usr/bin"})));
  EXPECT_THAT(made.filesystem.allow_write, ElementsAre(PathEntry{"."}));
  EXPECT_EQ(made.network.mode, NetworkMode::kNone);
}

TEST(NativePolicy, RootSeesNobodysCredentials) {
  EXPECT_THAT(of({}, 0).filesystem.deny_read, Contains(PathEntry{"/home/*/.ssh"}));
}

TEST(NativePolicy, PathsStartFromTheCallersDirectoryAndHaveNoWildcards) {
  NativeSandbox native;
  native.read_only_paths = {"a*", "/abs"};
  native.read_write_paths = {"~/w"};
  const policy::Policy made = of(native);
  const PathEntry star{"/cwd/a*", EntryForm::kLiteral};
  const PathEntry absolute{"/abs", EntryForm::kLiteral};
  const PathEntry home{"~/w", EntryForm::kLiteral};
  EXPECT_THAT(made.filesystem.allow_read, ElementsAre(PathEntry{"."}, star, absolute, home));
  EXPECT_THAT(made.filesystem.allow_write, ElementsAre(PathEntry{"."}, home));
  native.read_only_paths = {""};
  EXPECT_FALSE(native_policy(native, 1000, "/cwd"));
}

TEST(NativePolicy, NetworkAndSystemBinaries) {
  NativeSandbox native;
  native.allow_network = true;
  native.allow_system_binaries = false;
  const policy::Policy made = of(native);
  EXPECT_EQ(made.network.mode, NetworkMode::kOutbound);
  EXPECT_THAT(made.filesystem.deny_read, Contains(PathEntry{"/usr/bin"}));
}

}  // namespace
}  // namespace hutch::api
