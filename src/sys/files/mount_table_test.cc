// The kernel's list of mounts: what each field says, and which mounts a path leads to.
#include "sys/files/mount_table.h"

#include <gtest/gtest.h>

namespace hutch::sys {
namespace {

constexpr std::string_view kTable =
    "20 1 0:30 / / ro,nosuid - tmpfs none rw\n"
    "21 20 8:1 /home/u/p /home/u/p rw - ext4 /dev/sda rw\n"
    "22 21 8:1 /home/u/p/a\\040b /home/u/p/a\\040b ro master:1 - ext4 /dev/sda rw\n"
    "23 21 0:40 / /home/u/p/sub rw - tmpfs none rw\n"
    "24 23 8:2 /x /home/u/p/sub/deep rw - ext4 /dev/sdb rw\n"
    "no line\n"
    "25 20 8:2 /y /y rw - ext4 /dev/sdb rw\n"
    "26 25 0:41 / /y rw - tmpfs none rw\n"
    "27 21 0:42 / /home/u/p/sub rw - tmpfs none rw\n";

TEST(MountTable, Fields) {
  const auto table = parse_mount_table(kTable);
  ASSERT_EQ(table.size(), 8u);
  EXPECT_EQ(table[2].id, 22u);
  EXPECT_EQ(table[2].parent, 21u);
  EXPECT_EQ(table[2].device, "8:1");
  EXPECT_EQ(table[2].root, "/home/u/p/a b");
  EXPECT_EQ(table[2].point, "/home/u/p/a b");
}

TEST(MountTable, WhoMountedIt) {
  const auto table = parse_mount_table(
      "20 1 0:30 / /a rw shared:3 master:1 - fuse.x\\040- a\\040-\\040b rw,user_id=1001,group_id=7\n"
      "21 1 0:31 / /b rw - ext4 /dev/sda rw,user_id=1001\n"
      "22 1 0:32 / /c rw - fuse\n");
  EXPECT_EQ(table[0].type, "fuse.x -");
  EXPECT_EQ(table[0].user, 1001u);
  EXPECT_EQ(table[1].user, std::nullopt);
  EXPECT_EQ(table[2].user, std::nullopt);
}

TEST(MountTable, WhatAPathLeadsTo) {
  const auto table = parse_mount_table(kTable);
  EXPECT_TRUE(is_reachable(table, table[0]));
  EXPECT_TRUE(is_reachable(table, table[1]));
  EXPECT_TRUE(is_reachable(table, table[2]));
  EXPECT_FALSE(is_reachable(table, table[5])) << "another one lies on it";
  EXPECT_TRUE(is_reachable(table, table[6]));
  // Of two on one place one is found, and what is in the other is not.
  EXPECT_NE(is_reachable(table, table[3]), is_reachable(table, table[7]));
  EXPECT_EQ(is_reachable(table, table[4]), is_reachable(table, table[3]));
  EXPECT_FALSE(is_reachable({}, table[0]));
}

TEST(MountTable, OnTheRoot) {
  const auto table = parse_mount_table(
      "20 1 0:30 / / ro - tmpfs none rw\n"
      "21 20 0:31 / / ro - tmpfs none rw\n"
      "22 20 0:32 / /a ro - tmpfs none rw\n"
      "23 21 0:33 / /a ro - tmpfs none rw\n");
  EXPECT_FALSE(is_reachable(table, table[0]));
  EXPECT_TRUE(is_reachable(table, table[1]));
  EXPECT_FALSE(is_reachable(table, table[2]));
  EXPECT_TRUE(is_reachable(table, table[3]));
}

}  // namespace
}  // namespace hutch::sys
