// The tests of what a kernel begins with.
#include "backend/vm/initramfs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <vector>

namespace hutch::backend::vm {
namespace {

TEST(Initramfs, IsWhatTheKernelReads) {
  const std::vector<BootFile> files = {{"d", S_IFDIR | 0755, ""}, {"d/init", S_IFREG | 0755, "12345"}};
  const std::string archive = initramfs(files);
  const std::string first =
      "07070100000001000041ED000000000000000000000001000000000000000000000000000000000000000000000000"
      "0000000200000000";
  EXPECT_EQ(archive.substr(0, first.size()), first);
  EXPECT_EQ(archive.substr(first.size(), 2), std::string("d\0", 2));
  EXPECT_EQ(archive.size() % 4, 0U);
  const std::size_t name = archive.find(std::string("d/init\0", 7));
  ASSERT_NE(name, std::string::npos);
  const std::size_t bytes = (name + 7 + 3) / 4 * 4;
  EXPECT_EQ(archive.substr(bytes, 5), "12345");
  EXPECT_EQ(archive.substr(bytes + 8, 6), "070701") << "what follows begins at a multiple of four";
  EXPECT_NE(archive.find(std::string("TRAILER!!!\0", 11)), std::string::npos);
}

}  // namespace
}  // namespace hutch::backend::vm
