// A plan as arguments of bubblewrap: each kind of step, in order.
#include "backend/bwrap/bwrap_arguments.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"

namespace hutch::backend {
namespace {

plan::MountStep step(plan::MountKind kind, std::string target, std::string source = "") {
  plan::MountStep made;
  made.kind = kind;
  made.target = std::move(target);
  made.source = std::move(source);
  return made;
}

std::string text_of(const plan::SandboxPlan& plan) {
  const auto arguments = bwrap_arguments(plan, 7);
  return arguments ? join(arguments->words, " ") : "error: " + arguments.error().message;
}

TEST(BwrapArguments, EveryNamespaceAndNoCapability) {
  plan::SandboxPlan plan;
  plan.uid = 1000;
  plan.gid = 100;
  const std::string text = text_of(plan);
  for (const char* wanted : {"--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
                             "--unshare-cgroup", "--cap-drop ALL", "--uid 1000 --gid 100"}) {
    EXPECT_NE(text.find(wanted), std::string::npos) << wanted;
  }
  EXPECT_EQ(text.find("--cap-add"), std::string::npos);
  EXPECT_EQ(text.find("--die-with-parent"), std::string::npos);
}

TEST(BwrapArguments, StepsInOrder) {
  plan::SandboxPlan plan;
  plan.uid = 1000;
  plan.mounts.push_back(step(plan::MountKind::kTmpfs, "/"));
  plan.mounts.push_back(step(plan::MountKind::kBind, "/usr", "/usr"));
  plan.mounts.push_back(step(plan::MountKind::kSymlink, "/bin", "usr/bin"));
  plan.mounts.push_back(step(plan::MountKind::kTmpfs, "/tmp"));
  plan.mounts.back().mode = 01777;
  plan.mounts.back().size_bytes = 4096;
  plan.mounts.push_back(step(plan::MountKind::kBind, "/p", "/q"));
  plan.mounts.back().access = plan::Access::kReadWrite;
  plan.mounts.push_back(step(plan::MountKind::kHideFile, "/p/secret"));
  plan.mounts.push_back(step(plan::MountKind::kProc, "/proc"));
  plan.mounts.push_back(step(plan::MountKind::kDevices, "/dev"));
  plan.mounts.push_back(step(plan::MountKind::kSeal, "/dev"));
  EXPECT_NE(text_of(plan).find("--ro-bind /usr /usr --symlink usr/bin /bin --perms 1777 --size 4096 --tmpfs /tmp "
                               "--bind /q /p --ro-bind /dev/null /p/secret --proc /proc --dev /dev "),
            std::string::npos)
      << text_of(plan);
}

TEST(BwrapArguments, AFileOfThePlansOwn) {
  plan::SandboxPlan plan;
  plan.mounts.push_back(step(plan::MountKind::kFile, "/.hutch/a", "content"));
  plan.mounts.back().mode = 0444;
  plan.mounts.push_back(step(plan::MountKind::kFile, "/.hutch/b", std::string("\0", 1)));
  plan.mounts.push_back(step(plan::MountKind::kCover, "/etc/a", "/.hutch/a"));
  EXPECT_NE(text_of(plan).find("--perms 0444 --file 7 /.hutch/a --perms 0755 --file 8 /.hutch/b "
                               "--perms 0444 --ro-bind-data 9 /etc/a"),
            std::string::npos)
      << text_of(plan);
  const auto arguments = bwrap_arguments(plan, 7);
  ASSERT_TRUE(arguments.has_value());
  EXPECT_EQ(arguments->files, (std::vector<std::string_view>{"content", std::string_view("\0", 1), "content"}));
  plan.mounts.push_back(step(plan::MountKind::kCover, "/etc/c", "/.hutch/c"));
  EXPECT_FALSE(bwrap_arguments(plan, 7).has_value());
}

TEST(BwrapArguments, MoreThanBwrapTakes) {
  plan::SandboxPlan plan;
  plan.mounts.assign(2000, step(plan::MountKind::kBind, "/a", "/a"));
  EXPECT_TRUE(bwrap_arguments(plan, 7).has_value());
  plan.mounts.assign(3000, step(plan::MountKind::kBind, "/a", "/a"));
  const auto arguments = bwrap_arguments(plan, 7);
  ASSERT_FALSE(arguments.has_value());
  EXPECT_NE(arguments.error().message.find("--deny-write"), std::string::npos);
}

TEST(BwrapArguments, ANulByteCannotSplitAnArgument) {
  plan::SandboxPlan plan;
  plan.mounts.push_back(step(plan::MountKind::kBind, std::string("/a\0--bind", 9), "/a"));
  EXPECT_FALSE(bwrap_arguments(plan, 7).has_value());
}

}  // namespace
}  // namespace hutch::backend
