// Events of two looks at a directory, and a watch of answers that a test gives.
#include "server/e2b/directory_watch.h"

#include <gtest/gtest.h>

namespace hutch::server {
namespace {

wire::FileStat file(std::uint64_t inode, std::uint64_t size = 0, std::int64_t modified = 1, std::uint32_t mode = 0644) {
  return {.kind = wire::FileKind::kRegular,
          .mode = mode,
          .modified_ns = modified,
          .version = {inode, size, modified},
          .target = {}};
}

std::string told(const Listing& before, const Listing& after) {
  static constexpr const char* kNames[] = {"created", "written", "removed", "renamed", "mode"};
  std::string text;
  for (const WatchEvent& event : changes_between(before, after)) {
    text += (text.empty() ? "" : ", ") + event.name + " " + kNames[static_cast<int>(event.change)];
  }
  return text;
}

TEST(DirectoryWatch, TellsEachKindOfChange) {
  EXPECT_EQ(told({}, {}), "");
  EXPECT_EQ(told({}, {{"a", file(1)}}), "a created");
  EXPECT_EQ(told({}, {{"a", file(1, 5)}}), "a created, a written");
  EXPECT_EQ(told({{"a", file(1)}}, {}), "a removed");
  EXPECT_EQ(told({{"a", file(1)}}, {{"a", file(1, 3, 2)}}), "a written");
  EXPECT_EQ(told({{"a", file(1, 3, 1)}}, {{"a", file(1, 3, 2)}}), "a written");
  EXPECT_EQ(told({{"a", file(1)}}, {{"a", file(1, 0, 1, 0600)}}), "a mode");
  EXPECT_EQ(told({{"a", file(1, 3)}}, {{"b", file(1, 3)}}), "a renamed, b created");
  // A file that is put in another's place, as an editor does it.
  EXPECT_EQ(told({{"a", file(1, 3)}}, {{"a", file(2, 3)}}), "a written");
  EXPECT_EQ(told({{"a", file(1, 3)}, {"a~", file(2, 4)}}, {{"a", file(2, 4)}}), "a~ renamed, a written");
}

TEST(DirectoryWatch, LooksAgain) {
  wire::FileEntries answer{.entries = {{"a", file(1)}}, .found = 1};
  const DirectoryWatch::Ask ask = [&](const wire::FileRequest& request) -> Result<wire::FileReply> {
    EXPECT_EQ(std::get<wire::ListDirectory>(request).depth_max, 1U);
    return wire::FileReply(answer);
  };
  auto watch = DirectoryWatch::begin(ask, {"/", "tmp"}, DirectoryWatch::Depth::kDirectory);
  ASSERT_TRUE(watch.has_value());
  EXPECT_TRUE(watch->look(ask)->empty());
  answer.entries.push_back({"b", file(2)});
  answer.found = 2;
  EXPECT_EQ(watch->look(ask)->size(), 1U);
  EXPECT_TRUE(watch->look(ask)->empty());
  answer.found = 3;
  EXPECT_EQ(watch->look(ask).error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace hutch::server
