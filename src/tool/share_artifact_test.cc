// share_artifact: what reaches the output directory, under which name.
#include <gtest/gtest.h>

#include <filesystem>

#include "tool/place_testing.h"

namespace hutch::tool {
namespace {

namespace fs = std::filesystem;

class ShareArtifactTest : public testing::Test {
 protected:
  Value::Object share(const Value::Object& arguments) { return caller_.result("share_artifact", arguments); }
  std::string refused(const Value::Object& arguments) {
    const Value::Object envelope = caller_.call("share_artifact", arguments);
    EXPECT_FALSE(truth_of(envelope, "ok"));
    return text_of(envelope, "field");
  }

  TestPlace place_;
  Caller caller_{place_};
};

TEST_F(ShareArtifactTest, AFile) {
  place_.put(place_.home("build/prog"), std::string("\x7f"
                                                    "ELF\0",
                                                    5));
  fs::permissions(place_.home("build/prog"), fs::perms(04755));
  const Value::Object result = share({{"path", "build/prog"}, {"description", "The program."}});
  EXPECT_EQ(place_.get(place_.path("output/prog")), place_.get(place_.home("build/prog")));
  EXPECT_EQ(fs::status(place_.path("output/prog")).permissions(), fs::perms(0755));
  EXPECT_EQ(text_of(result, "text"),
            "Artifact shared:\n- Filename: prog\n- Type: application/octet-stream\n- Description: The program.");
  EXPECT_EQ(text_of(result, "filename"), "prog");
  EXPECT_EQ(text_of(result, "path"), place_.path("output/prog"));
  EXPECT_EQ(text_of(result, "description"), "The program.");
  EXPECT_EQ(number_of(result, "size"), 5);
}

TEST_F(ShareArtifactTest, ATextAsItIs) {
  const std::string content = "printf(\"a\\n\\t\");\n---SHARED_ARTIFACT_END---\n";
  const Value::Object result = share({{"content", content}, {"filename", "dir\\..\\/x/main.c"}});
  EXPECT_EQ(place_.get(place_.path("output/main.c")), content);
  EXPECT_EQ(text_of(result, "type"), "text/x-c");
  EXPECT_FALSE(result.contains("description"));
  share({{"content", ""}, {"filename", "main.c"}});
  EXPECT_EQ(place_.get(place_.path("output/main.c")), "");
}

TEST_F(ShareArtifactTest, AFileUnderAnotherName) {
  place_.put(place_.home("a.md"), "# a");
  EXPECT_EQ(text_of(share({{"path", "~/a.md"}, {"filename", "re port.md"}}), "filename"), "re port.md");
  EXPECT_EQ(place_.get(place_.path("output/re port.md")), "# a");
}

TEST_F(ShareArtifactTest, WhatIsInTheOutputAlready) {
  place_.put(place_.path("output/log.txt"), "x");
  EXPECT_EQ(number_of(share({{"path", place_.path("output/log.txt")}}), "size"), 1);
  EXPECT_EQ(place_.get(place_.path("output/log.txt")), "x");
}

TEST_F(ShareArtifactTest, ALargeFile) {
  const std::string large((9 << 20) + 7, 'x');
  place_.put(place_.home("large.bin"), large);
  EXPECT_EQ(number_of(share({{"path", "large.bin"}}), "size"), (9 << 20) + 7);
  EXPECT_EQ(place_.get(place_.path("output/large.bin")), large);
  fs::create_directory(place_.path("output/dir"));
  EXPECT_EQ(text_of(caller_.call("share_artifact", {{"path", "large.bin"}, {"filename", "dir"}}), "kind"),
            "execution_error");
  EXPECT_TRUE(fs::is_empty(place_.path("output/dir")));
  CommandEnd full;
  full.exit_code = 1;
  full.error.head = "No space left on device";
  place_.scripted_run = [&](const Command&) { return full; };
  EXPECT_EQ(text_of(caller_.call("share_artifact", {{"path", "large.bin"}}), "message"),
            "Failed to share `large.bin`: cp: No space left on device");
  int files = 0;
  for (const auto& entry : fs::directory_iterator(place_.path("output"))) files += entry.exists() ? 1 : 0;
  EXPECT_EQ(files, 2);
}

TEST_F(ShareArtifactTest, WhatIsMissing) {
  const Value::Object nothing = caller_.call("share_artifact", {});
  EXPECT_EQ(text_of(nothing, "kind"), "invalid_args");
  EXPECT_TRUE(text_of(nothing, "message").starts_with("At least one of `path` or `content` must be provided. "));
  const Value::Object unnamed = caller_.call("share_artifact", {{"content", "x"}});
  EXPECT_EQ(text_of(unnamed, "field"), "filename");
  EXPECT_EQ(text_of(unnamed, "message"), "`filename` is required when using `content` mode.");
  EXPECT_EQ(refused({{"content", "x"}, {"path", "y"}}), "content");
}

TEST_F(ShareArtifactTest, NamesThatAreNone) {
  for (const char* name : {".", "..", "a/..", "dir/", "\n", "\\", "-rf", "a/-rf", "\x1b[31mx", "re\nport.md",
                           "\xc2\x9bx", "\xe2\x80\xaex"}) {
    EXPECT_EQ(refused({{"content", "x"}, {"filename", name}}), "filename") << name;
  }
  EXPECT_EQ(refused({{"content", "x"}, {"filename", std::string(256, 'x')}}), "filename");
  EXPECT_EQ(refused({{"path", "~"}}), "path");
  EXPECT_TRUE(fs::is_empty(place_.path("output")));
}

TEST_F(ShareArtifactTest, NothingOfOthers) {
  place_.put(place_.path("agents/alice2/key"), "secret");
  fs::create_symlink(place_.path("agents/alice2/key"), place_.home("link"));
  EXPECT_EQ(refused({{"path", place_.path("agents/alice2/key")}}), "path");
  EXPECT_EQ(refused({{"path", "../alice2/key"}}), "path");
  EXPECT_EQ(text_of(caller_.call("share_artifact", {{"path", "link"}}), "kind"), "execution_error");
  fs::create_directory(place_.home("d"));
  const Value::Object directory = caller_.call("share_artifact", {{"path", "./d"}});
  EXPECT_EQ(text_of(directory, "kind"), "execution_error");
  EXPECT_TRUE(text_of(directory, "message").starts_with("Failed to share `./d`: ")) << text_of(directory, "message");
  EXPECT_TRUE(fs::is_empty(place_.path("output")));
}

}  // namespace
}  // namespace hutch::tool
