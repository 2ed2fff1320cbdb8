// Names of an archive's entries: which are plain, and what a layer's whiteouts mean.
#include "unpack/names.h"

#include <gtest/gtest.h>

namespace hutch::unpack {
namespace {

TEST(PlainName, IsWithoutDotsAndSlashes) {
  EXPECT_EQ(*plain_name("./a//b/./c/"), "a/b/c");
  EXPECT_EQ(*plain_name("./"), "");
  for (const char* bad : {"/a", "../a", "a/../b", "a/.."}) EXPECT_FALSE(plain_name(bad)) << bad;
  EXPECT_FALSE(plain_name(std::string(256, 'x')));
  EXPECT_EQ(directory_of("a/b/c"), "a/b");
  EXPECT_EQ(last_part("a/b/c"), "c");
}

TEST(Whiteout, TakesAnEntryOrAllOfADirectory) {
  const auto entry = whiteout_of("a/.wh.b");
  ASSERT_TRUE(entry && *entry);
  EXPECT_EQ((*entry)->what, Whiteout::What::kEntry);
  EXPECT_EQ((*entry)->name, "a/b");
  EXPECT_EQ((*whiteout_of(".wh.b"))->name, "b");
  const auto content = whiteout_of("a/b/.wh..wh..opq");
  ASSERT_TRUE(content && *content);
  EXPECT_EQ((*content)->what, Whiteout::What::kContent);
  EXPECT_EQ((*content)->name, "a/b");
  EXPECT_EQ((*whiteout_of(".wh..wh..opq"))->name, "");
}

TEST(Whiteout, IsNoOrdinaryName) {
  for (const char* name : {"", "a", "a/b", ".wh", "a/x.wh.b", ".whx"}) {
    const auto none = whiteout_of(name);
    ASSERT_TRUE(none) << name;
    EXPECT_FALSE(*none) << name;
  }
}

TEST(Whiteout, OfNothingThatHasANameIsRefused) {
  for (const char* name : {".wh.", ".wh..", ".wh...", "a/.wh.", ".wh..wh.plnk", ".wh.a/b", "x/.wh.a/.wh.b"}) {
    EXPECT_FALSE(whiteout_of(name)) << name;
  }
}

}  // namespace
}  // namespace hutch::unpack
