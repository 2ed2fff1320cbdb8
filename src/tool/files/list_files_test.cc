// sandbox_list_directory and sandbox_find_files: what is listed, how names are shown, where it ends.
#include <gtest/gtest.h>

#include <filesystem>

#include "tool/place_testing.h"

namespace hutch::tool {
namespace {

class ListFilesTest : public testing::Test {
 protected:
  TestPlace place_;
  Caller caller_{place_};
};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST_F(ListFilesTest, ADirectory) {
  place_.put(place_.home("sub/deep/x"), "123");
  place_.put(place_.home("file"), "12345");
  std::filesystem::permissions(place_.home("file"), std::filesystem::perms(0640));
  std::filesystem::create_symlink("file", place_.home("link"));
  const Value::Object result = caller_.result("sandbox_list_directory", {});
  const std::string entries = text_of(result, "entries");
  EXPECT_TRUE(contains(entries, "-rw-r-----          5 2")) << entries;
  EXPECT_TRUE(contains(entries, " sub/\n")) << entries;
  EXPECT_TRUE(contains(entries, " link -> file\n")) << entries;
  EXPECT_TRUE(contains(entries, "lrwxrwxrwx")) << entries;
  EXPECT_FALSE(contains(entries, "deep")) << entries;
  EXPECT_EQ(number_of(result, "count"), 3);
  EXPECT_FALSE(truth_of(result, "truncated"));
  EXPECT_EQ(text_of(result, "path") + "/", place_.home(""));
}

TEST_F(ListFilesTest, ThreeLevelsDeep) {
  place_.put(place_.home("a/b/c/d"), "");
  const std::string entries =
      text_of(caller_.result("sandbox_list_directory", {{"path", "~"}, {"recursive", true}}), "entries");
  EXPECT_TRUE(contains(entries, " a/b/c/\n")) << entries;
  EXPECT_FALSE(contains(entries, "a/b/c/d")) << entries;
}

TEST_F(ListFilesTest, AMissingOneIsAnError) {
  const Value::Object missing = caller_.call("sandbox_list_directory", {{"path", "nope"}});
  EXPECT_EQ(text_of(missing, "kind"), "execution_error");
  EXPECT_FALSE(truth_of(missing, "retryable"));
  EXPECT_TRUE(text_of(missing, "message").starts_with("Failed to list `nope`: "));
}

TEST_F(ListFilesTest, ANameCannotPassForAnotherLine) {
  place_.put(place_.home("evil\ndrwxr-xr-x fake"), "");
  std::filesystem::create_directory(place_.home("esc\x1b[2J"));
  const std::string entries = text_of(caller_.result("sandbox_list_directory", {}), "entries");
  EXPECT_EQ(std::count(entries.begin(), entries.end(), '\n'), 2) << entries;
  EXPECT_TRUE(contains(entries, "evil\\x0adrwx")) << entries;
  EXPECT_FALSE(contains(entries, "\x1b")) << entries;
}

TEST_F(ListFilesTest, ManyEntriesAreCountedAndCut) {
  for (int i = 0; i < 1005; ++i) place_.put(place_.home("d/f" + std::to_string(i)), "");
  const Value::Object result = caller_.result("sandbox_list_directory", {{"path", "d"}});
  EXPECT_EQ(number_of(result, "count"), 1005);
  EXPECT_TRUE(truth_of(result, "truncated"));
  const Value::Object found = caller_.result("sandbox_find_files", {{"pattern", "f*"}});
  EXPECT_EQ(number_of(found, "count"), 1005);
  EXPECT_TRUE(truth_of(found, "truncated"));
  const std::string files = text_of(found, "files");
  EXPECT_EQ(std::count(files.begin(), files.end(), '\n'), 200);
}

TEST_F(ListFilesTest, ALiarsEntriesAreCutToTheBudget) {
  place_.scripted_file = [](const wire::FileRequest&) {
    wire::FileEntries many;
    wire::FileStat stat;
    stat.modified_ns = std::numeric_limits<std::int64_t>::min();
    stat.kind = wire::FileKind::kOther;
    for (int i = 0; i < 3000; ++i) many.entries.push_back({std::string(4000, 'x'), stat});
    return wire::FileReply(std::move(many));
  };
  const Value::Object result = caller_.result("sandbox_list_directory", {});
  EXPECT_TRUE(truth_of(result, "truncated"));
  EXPECT_EQ(number_of(result, "count"), 3000);
  EXPECT_LT(text_of(result, "entries").size(), 60'000U);
}

TEST_F(ListFilesTest, DirectoriesThatAreClosedAreTold) {
  place_.scripted_file = [](const wire::FileRequest&) { return wire::FileReply(wire::FileEntries{{}, 0, 2}); };
  const Value::Object envelope = caller_.call("sandbox_find_files", {{"pattern", "*"}});
  EXPECT_TRUE(truth_of(envelope, "ok"));
  EXPECT_TRUE(text_of(envelope, "warnings").find("2 directories are closed") != std::string::npos);
}

TEST_F(ListFilesTest, FilesByName) {
  place_.put(place_.home("src/a.py"), "");
  place_.put(place_.home("src/sub/b.py"), "");
  place_.put(place_.home("src/c.txt"), "");
  place_.put(place_.home("src/new\nline.py"), "");
  std::filesystem::create_directory(place_.home("src/dir.py"));
  const Value::Object result = caller_.result("sandbox_find_files", {{"pattern", "*.py"}, {"path", "src"}});
  EXPECT_EQ(text_of(result, "files"), place_.home("src/a.py") + "\n" + place_.home("src/new\\x0aline.py") + "\n" +
                                          place_.home("src/sub/b.py") + "\n");
  EXPECT_EQ(number_of(result, "count"), 3);
  EXPECT_EQ(text_of(result, "pattern"), "*.py");
  EXPECT_EQ(text_of(caller_.result("sandbox_find_files", {{"pattern", "-*; id"}}), "files"), "");
}

TEST_F(ListFilesTest, APatternIsForNames) {
  const Value::Object slash = caller_.call("sandbox_find_files", {{"pattern", "src/*.py"}});
  EXPECT_EQ(text_of(slash, "field"), "pattern");
  EXPECT_EQ(text_of(slash, "kind"), "invalid_args");
  EXPECT_EQ(text_of(caller_.call("sandbox_find_files", {{"pattern", "*"}, {"path", "nope"}}), "kind"),
            "execution_error");
  std::filesystem::remove_all(place_.home(""));
  EXPECT_TRUE(text_of(caller_.call("sandbox_find_files", {{"pattern", "*"}}), "message")
                  .starts_with("Failed to look for files in `/"));
  EXPECT_EQ(text_of(caller_.call("sandbox_find_files", {{"pattern", "*"}, {"path", "/etc"}}), "field"), "path");
}

}  // namespace
}  // namespace hutch::tool
