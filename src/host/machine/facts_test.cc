// The facts of the machine that the test runs on, against what can be seen by other means.
#include "host/machine/facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace hutch::host {
namespace {

namespace fs = std::filesystem;

TEST(Facts, AgreeWithThisMachine) {
  Result<plan::HostFacts> facts = probe_facts();
  ASSERT_TRUE(facts) << facts.error().message;
  add_cgroup_facts(*facts);
  EXPECT_EQ(facts->uid, ::getuid());
  EXPECT_EQ(facts->gid, ::getgid());
  EXPECT_EQ(facts->cwd, fs::current_path().string());
  EXPECT_FALSE(facts->user.empty());
  EXPECT_FALSE(facts->kernel.empty());
  EXPECT_FALSE(facts->cgroup_note.empty());
  EXPECT_TRUE(facts->home.starts_with('/'));
  EXPECT_NE(facts->home, "/");
  EXPECT_GE(facts->store_dirs.size(), 3u);
}

TEST(Facts, ListTheRoot) {
  const Result<plan::HostFacts> facts = probe_facts();
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->root.size(), static_cast<std::size_t>(std::distance(fs::directory_iterator("/"), {})));
  for (const plan::RootEntry& entry : facts->root) {
    const fs::path path = fs::path("/") / entry.name;
    EXPECT_EQ(entry.type == plan::FileType::kSymlink, fs::is_symlink(path)) << path;
    EXPECT_EQ(entry.type == plan::FileType::kDirectory, fs::symlink_status(path).type() == fs::file_type::directory);
    EXPECT_EQ(entry.link, fs::is_symlink(path) ? fs::read_symlink(path).string() : "") << path;
  }
}

TEST(Facts, ListProcWithoutProcesses) {
  const Result<plan::HostFacts> facts = probe_facts();
  ASSERT_TRUE(facts) << facts.error().message;
  if (facts->uid == 0) {
    EXPECT_THAT(facts->proc_names, testing::IsSupersetOf({"sys", "cpuinfo", "self", "mounts"}));
  }
  for (const std::string& name : facts->proc_names) EXPECT_FALSE(std::isdigit(name.front())) << name;
}

}  // namespace
}  // namespace hutch::host
