// A tree that comes entry by entry: where it may be put, and that nothing is left of one that is not.
#include "guest/file/incoming_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/directory_testing.h"
#include "sys/io.h"

namespace hutch::guest {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using wire::AddToTree;
using wire::BeginTree;
using wire::EndTree;
using wire::FileKind;

constexpr const char* kTemporary = ".on-its-way";

class IncomingTreeTest : public testing::Test {
 protected:
  BeginTree at(std::string path) const { return {{root_, std::move(path)}, kTemporary}; }

  void add(IncomingTree& tree, const AddToTree& entry, std::string_view content = {}) {
    const auto added = tree.add(entry);
    ASSERT_TRUE(added.has_value()) << added.error().message;
    if (entry.kind == FileKind::kRegular) {
      ASSERT_TRUE(sys::write_all(tree.file(), content).has_value());
    }
  }

  void add_some(IncomingTree& tree) {
    add(tree, {"", FileKind::kDirectory, 0555, 0, ""});
    add(tree, {"file", FileKind::kRegular, 0640, 5'000'000'000, ""}, "content");
    add(tree, {"sub", FileKind::kDirectory, 0500, 7'000'000'000, ""});
    add(tree, {"sub/link", FileKind::kSymlink, 0777, 0, "../file"});
  }

  std::string error_of(const Result<wire::FileReply>& reply) { return reply ? "done" : reply.error().message; }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(root_)) found.push_back(entry.path());
    return found;
  }

  const TestDirectory directory_{"incoming"};
  const std::string root_ = directory_.path();
};

TEST_F(IncomingTreeTest, TakesItsPlaceWhole) {
  IncomingTree tree;
  ASSERT_TRUE(tree.begin(at("a/b/c")).has_value());
  add_some(tree);
  EXPECT_FALSE(fs::exists(root_ + "/a"));
  const auto put = tree.end({EndTree::Then::kPut});
  ASSERT_TRUE(put.has_value()) << put.error().message;
  const std::string top = root_ + "/a/b/c";
  struct stat info{};
  ASSERT_EQ(::stat((top + "/file").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0640U);
  EXPECT_EQ(info.st_mtim.tv_sec, 5);
  ASSERT_EQ(::stat((top + "/sub").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0500U);
  EXPECT_EQ(info.st_mtim.tv_sec, 7);
  ASSERT_EQ(::stat(top.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0555U);
  EXPECT_EQ(fs::read_symlink(top + "/sub/link"), "../file");
  EXPECT_FALSE(fs::exists(root_ + "/" + kTemporary));
}

TEST_F(IncomingTreeTest, WhatIsNotPutIsGone) {
  {
    IncomingTree tree;
    ASSERT_TRUE(tree.begin(at("a/b")).has_value());
    add_some(tree);
    ASSERT_TRUE(tree.end({EndTree::Then::kDrop}).has_value());
    EXPECT_THAT(names(), IsEmpty());
    ASSERT_TRUE(tree.begin(at("a/b")).has_value());
    add(tree, {"", FileKind::kRegular, 0600, 0, ""}, "x");
    EXPECT_EQ(names().size(), 1U);
  }
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(IncomingTreeTest, NothingIsReplacedAndNoLinkFollowed) {
  fs::create_directories(root_ + "/there/outside");
  fs::create_symlink(root_ + "/there/outside", root_ + "/link");
  std::ofstream(root_ + "/file") << "x";
  IncomingTree tree;
  EXPECT_THAT(error_of(tree.begin(at("there"))), HasSubstr("something already"));
  EXPECT_THAT(error_of(tree.begin(at("link"))), HasSubstr("something already"));
  EXPECT_THAT(error_of(tree.begin(at("link/x"))), HasSubstr("symbolic link"));
  EXPECT_THAT(error_of(tree.begin(at("file/x"))), HasSubstr("not a directory"));
  EXPECT_THAT(error_of(tree.add({"a", FileKind::kRegular, 0600, 0, ""})), HasSubstr("no tree"));
  // What came in the way since it began.
  ASSERT_TRUE(tree.begin(at("new/deep/x")).has_value());
  add(tree, {"", FileKind::kDirectory, 0700, 0, ""});
  fs::create_directory(root_ + "/new");
  fs::create_symlink(root_ + "/there/outside", root_ + "/new/deep");
  EXPECT_THAT(error_of(tree.end({EndTree::Then::kPut})), HasSubstr("symbolic link"));
  EXPECT_FALSE(fs::exists(root_ + "/" + kTemporary));
  EXPECT_TRUE(fs::is_empty(root_ + "/there/outside"));
}

TEST_F(IncomingTreeTest, ADirectoryOfItThatBecomesALinkEndsIt) {
  fs::create_directories(root_ + "/outside");
  IncomingTree tree;
  ASSERT_TRUE(tree.begin(at("x")).has_value());
  add(tree, {"", FileKind::kDirectory, 0700, 0, ""});
  add(tree, {"sub", FileKind::kDirectory, 0700, 0, ""});
  fs::remove(root_ + "/" + kTemporary + "/sub");
  fs::create_symlink(root_ + "/outside", root_ + "/" + kTemporary + "/sub");
  EXPECT_NE(error_of(tree.add({"sub/file", FileKind::kRegular, 0600, 0, ""})), "done");
  EXPECT_NE(error_of(tree.end({EndTree::Then::kPut})), "done");
  EXPECT_TRUE(fs::is_empty(root_ + "/outside"));
  EXPECT_FALSE(fs::exists(root_ + "/" + kTemporary) || fs::exists(root_ + "/x"));
}

}  // namespace
}  // namespace hutch::guest
