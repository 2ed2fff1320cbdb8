// Objects that git itself has stored: as files, in packs, as differences; and bytes that are none.
#include "guest/git/store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/directory_testing.h"
#include "base/text.h"
#include "guest/git/reader.h"
#include "sys/files/tree.h"
#include "sys/process/process.h"

namespace hutch::guest {
namespace {

namespace fs = std::filesystem;

class GitStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    shell(
        "git init -q -b main . && git config user.name A && git config user.email a@b.example && git config gc.auto 0 "
        "&& for i in $(seq 40); do mkdir -p d/$i && echo $i > d/$i/f && git add d && git commit -q -m $i; done "
        "&& git tag -a -m x v1");
  }

  void shell(const std::string& script) {
    const std::vector<std::string> environment = {"PATH=/usr/bin:/bin", cat({"HOME=", directory_.path()})};
    auto ran = sys::spawn("/bin/sh", {.arguments = {"sh", "-c", cat({"cd ", directory_.path(), " && ", script})},
                                      .environment = environment,
                                      .install = {{1, 1}, {2, 2}}});
    ASSERT_TRUE(ran.has_value());
    const auto status = ran->wait();
    ASSERT_TRUE(status && status->exited() && status->exit_code() == 0) << script;
  }
  std::string content(const std::string& name) const {
    std::ifstream file(fs::path(directory_.path()) / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  UniqueFd objects() const { return *sys::open_listing(cat({directory_.path(), "/.git/objects"})); }
  // Each object's name, in bytes.
  std::vector<std::string> names() {
    shell("git rev-list --objects --all --no-object-names > names");
    std::vector<std::string> found;
    const std::string text = content("names");
    for (const std::string_view line : split(text, '\n')) {
      if (const auto name = plan::git_name_of_hex(line, plan::GitHash::kSha1)) found.push_back(*name);
    }
    return found;
  }
  // How many are read, all of them with their sum.
  template <class Read>
  int count_read(Read read) {
    int count = 0;
    for (const std::string& name : names()) {
      const plan::GitObjectAnswer answer = read(name);
      EXPECT_EQ(answer.found, plan::GitObjectAnswer::Found::kYes);
      if (answer.object.kind == plan::GitObjectKind::kBlob) continue;
      EXPECT_EQ(plan::git_object_name(answer.object, plan::GitHash::kSha1), name);
      ++count;
    }
    return count;
  }
  int count() {
    GitStore store(objects());
    return count_read([&](const std::string& name) { return store.read(name, GitStore::Copies::kAllAlike); });
  }

  TestDirectory directory_{"git-store"};
  static constexpr int kAll = 40 + 40 + 40 + 40 + 1;  // commits, their trees, both directories' trees, a tag
};

TEST_F(GitStoreTest, FilesAndPacks) {
  EXPECT_EQ(count(), kAll);
  shell("git repack -q -a -d -f --depth=40 --window=40");
  EXPECT_EQ(count(), kAll);
  shell(
      "git repack -q -a -d -f --depth=40 --window=40 && cp .git/objects/pack/*.pack p && rm -f .git/objects/pack/* && "
      "git config repack.usedeltabaseoffset false && git unpack-objects -q < p && rm p && "
      "git repack -q -a -d -f --depth=40");
  EXPECT_EQ(count(), kAll);
}

TEST_F(GitStoreTest, ByAnotherProcess) {
  auto reader = GitReader::start(objects());
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  EXPECT_EQ(count_read([&](const std::string& name) { return reader->look_up(name, until); }), kAll);
  EXPECT_EQ(reader->look_up(std::string(20, 'x'), until).found, plan::GitObjectAnswer::Found::kNo);
  EXPECT_TRUE(reader->answers());
  EXPECT_EQ(reader->look_up(names().front(), std::chrono::steady_clock::now()).found,
            plan::GitObjectAnswer::Found::kUnreadable);
  EXPECT_FALSE(reader->answers());
}

// git reads the one in a pack, and other programs the other one.
TEST_F(GitStoreTest, CopiesThatDiffer) {
  std::ofstream(fs::path(directory_.path()) / "x.py") << R"(
import os, sys, zlib
name = open("tree").read().strip()
text = open("other", "rb").read() + b"x"
os.makedirs(f".git/objects/{name[:2]}", exist_ok=True)
open(f".git/objects/{name[:2]}/{name[2:]}", "wb").write(zlib.compress(b"tree %d" % len(text) + bytes(1) + text))
)";
  shell(
      "git repack -q -a -d && git rev-parse HEAD^{tree} > tree && git cat-file tree HEAD > other && "
      "/usr/bin/python3 x.py");
  const std::string tree = *plan::git_name_of_hex(content("tree").substr(0, 40), plan::GitHash::kSha1);
  GitStore store(objects());
  using enum plan::GitObjectAnswer::Found;
  EXPECT_EQ(store.read(tree, GitStore::Copies::kFirst).found, kYes);
  EXPECT_EQ(store.read(tree, GitStore::Copies::kAllAlike).found, kUnreadable);
}

// An object that is not in the store may be at a place that only git searches.
TEST_F(GitStoreTest, WhatMayBeElsewhereIsNotAbsent) {
  using enum plan::GitObjectAnswer::Found;
  const auto absent = [&] { return GitStore(objects()).read(std::string(20, 'x'), GitStore::Copies::kAllAlike).found; };
  EXPECT_EQ(absent(), kNo);
  shell("git repack -q -a -d && git multi-pack-index write");
  EXPECT_EQ(absent(), kNo);
  shell("mkdir -p other/pack && echo ../../other > .git/objects/info/alternates");
  EXPECT_EQ(absent(), kNo);
  shell("echo '\"../../other\"' > .git/objects/info/alternates");
  EXPECT_EQ(absent(), kUnreadable);
  shell("rm .git/objects/info/alternates && rm -f .git/objects/pack/*.idx");
  EXPECT_EQ(absent(), kUnreadable);
  shell("git index-pack --index-version=1 .git/objects/pack/*.pack");
  EXPECT_EQ(absent(), kUnreadable);
}

// Whatever the bytes are, nothing is read that has another sum, and nothing breaks.
TEST_F(GitStoreTest, DamagedPacks) {
  shell("git repack -q -a -d -f --depth=40 && chmod 600 .git/objects/pack/*");
  for (const auto& entry : fs::directory_iterator(cat({directory_.path(), "/.git/objects/pack"}))) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(in), {}};
    const std::vector<std::string> all = names();
    for (std::size_t at = 0; at < whole.size(); at += 97) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
      std::ofstream(entry.path(), std::ios::binary) << damaged;
      GitStore store(objects());
      for (std::size_t i = 0; i < all.size(); i += 13) (void)store.read(all[i]);
    }
    std::ofstream(entry.path(), std::ios::binary) << whole.substr(0, whole.size() / 2);
    GitStore store(objects());
    for (const std::string& name : all) (void)store.read(name);
    std::ofstream(entry.path(), std::ios::binary) << whole;
  }
  EXPECT_EQ(count(), kAll);
}

}  // namespace
}  // namespace hutch::guest
