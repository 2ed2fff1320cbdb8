// The sanitizer: each reason, and everything that is none.
#include "tool/paths.h"

#include <gtest/gtest.h>

namespace hutch::tool {
namespace {

Layout alice() {
  return {.agent = "alice",
          .home = "/workspace/agents/alice",
          .shared = "/workspace/shared",
          .output = "/output",
          .base = "/workspace/agents/alice",
          .roots = {"/workspace/agents/alice", "/workspace/shared", "/output"}};
}

std::string located(std::string_view path, const Layout& layout = alice()) {
  const auto found = locate_path(layout, path);
  return found ? found->place.root + " | " + found->place.path + " | " + found->absolute : found.error().text;
}

PathReason reason(std::string_view path) {
  const auto found = locate_path(alice(), path);
  EXPECT_FALSE(found) << path;
  return found ? PathReason::kEmpty : found.error().reason;
}

TEST(Paths, RelativeOnesBeginAtTheBase) {
  EXPECT_EQ(located("a/b"), "/workspace/agents/alice | a/b | /workspace/agents/alice/a/b");
  EXPECT_EQ(located("./a//b/./"), "/workspace/agents/alice | a/b | /workspace/agents/alice/a/b");
  EXPECT_EQ(located("."), "/workspace/agents/alice | . | /workspace/agents/alice");
}

TEST(Paths, TildeIsTheHomeAndOnlyInFront) {
  EXPECT_EQ(located("~"), "/workspace/agents/alice | . | /workspace/agents/alice");
  EXPECT_EQ(located("~/x"), "/workspace/agents/alice | x | /workspace/agents/alice/x");
  EXPECT_EQ(located("~bob/x"), "/workspace/agents/alice | ~bob/x | /workspace/agents/alice/~bob/x");
  EXPECT_EQ(located("a/~"), "/workspace/agents/alice | a/~ | /workspace/agents/alice/a/~");
}

TEST(Paths, AbsoluteOnesAreHeldToTheRootsByComponent) {
  EXPECT_EQ(located("/workspace/shared/x"), "/workspace/shared | x | /workspace/shared/x");
  EXPECT_EQ(located("/output"), "/output | . | /output");
  for (const char* outside : {"/workspace/agents/alice2/x", "/workspace/shared-evil", "/workspace", "/", "/etc/passwd",
                              "/workspace/agents", "//etc"}) {
    EXPECT_EQ(reason(outside), PathReason::kOutsideRoots) << outside;
  }
  EXPECT_EQ(located("/etc"), "absolute path is outside the agent home and `/workspace/shared`");
}

TEST(Paths, DotDotIsAComponent) {
  for (const char* path : {"..", "a/../b", "../x", "/workspace/agents/alice/..", "~/.."}) {
    EXPECT_EQ(reason(path), PathReason::kTraversal) << path;
  }
  EXPECT_EQ(located("../x"), "path contains `..` (path traversal not allowed)");
  EXPECT_TRUE(locate_path(alice(), "a..b"));
  EXPECT_TRUE(locate_path(alice(), "...") && locate_path(alice(), "..a/b.."));
}

TEST(Paths, EmptyAndNul) {
  EXPECT_EQ(reason(""), PathReason::kEmpty);
  EXPECT_EQ(located(""), "path is empty");
  EXPECT_EQ(reason(std::string_view("a\0b", 3)), PathReason::kNullByte);
  EXPECT_EQ(located(std::string_view("a\0b", 3)), "path contains a NUL byte");
}

TEST(Paths, ControlCharactersAreDangerousAndNothingElse) {
  EXPECT_EQ(reason("a\nb"), PathReason::kDangerousCharacter);
  EXPECT_EQ(located("a\nb"), "path contains the disallowed character `\\x0a`");
  for (const char* path : {"a\x1b[2J", "a\x7f", "\t", "a\xc2\x9b"}) {
    EXPECT_EQ(reason(path), PathReason::kDangerousCharacter) << path;
  }
  for (const char* path : {"a b", "it's", "\"q\"", "$HOME", "`id`", "a;b|c&d", "(x){y}", "*", "?", "[a]", "-rf", "<>#!",
                           "\\", "caf\xc3\xa9", "\xc2\xa0"}) {
    EXPECT_TRUE(locate_path(alice(), path)) << path;
  }
}

TEST(Paths, TheOutermostRootHoldsIt) {
  Layout layout = alice();
  layout.base = "/home/u/project/sub";
  layout.roots = {"/home/u/project/sub", "/home/u/project", "/workspace/shared"};
  EXPECT_EQ(located("x", layout), "/home/u/project | sub/x | /home/u/project/sub/x");
  EXPECT_EQ(located("/etc", layout), "absolute path is outside the project, the agent home and `/workspace/shared`");
  EXPECT_EQ(expected_path(layout),
            "path under the project (relative or absolute under `/home/u/project/sub`), or "
            "absolute under `/workspace/agents/alice`");
  EXPECT_EQ(expected_path(alice()), "path under the agent home (relative or absolute under `/workspace/agents/alice`)");
}

TEST(Paths, TheRootDirectoryCanBeARoot) {
  Layout layout = alice();
  layout.roots = {"/"};
  EXPECT_EQ(located("/etc/x", layout), "/ | etc/x | /etc/x");
  EXPECT_EQ(located("/", layout), "/ | . | /");
}

}  // namespace
}  // namespace hutch::tool
