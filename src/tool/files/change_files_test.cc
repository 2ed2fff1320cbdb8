// sandbox_write_file, _edit_file, _move, _delete: what is changed, and that nothing else is.
#include <gtest/gtest.h>

#include <filesystem>

#include "tool/place_testing.h"

namespace hutch::tool {
namespace {

namespace fs = std::filesystem;

class ChangeFilesTest : public testing::Test {
 protected:
  Value::Object edit(std::string_view old_text, std::string_view new_text) {
    return caller_.call("sandbox_edit_file", {{"path", "f"}, {"old_string", old_text}, {"new_string", new_text}});
  }

  TestPlace place_;
  Caller caller_{place_};
};

TEST_F(ChangeFilesTest, WritesExactly) {
  const std::string content = std::string("a\\n\n\0b", 6) + "\u20ac";
  const Value::Object result = caller_.result("sandbox_write_file", {{"path", "new/dir/f"}, {"content", content}});
  EXPECT_EQ(place_.get(place_.home("new/dir/f")), content);
  EXPECT_EQ(number_of(result, "size"), 7);
  EXPECT_EQ(text_of(result, "path"), place_.home("new/dir/f"));
  caller_.result("sandbox_write_file", {{"path", "new/dir/f"}, {"content", ""}});
  EXPECT_EQ(place_.get(place_.home("new/dir/f")), "");
}

TEST_F(ChangeFilesTest, WhatCannotBeWritten) {
  fs::create_directory(place_.home("d"));
  const Value::Object directory = caller_.call("sandbox_write_file", {{"path", "d"}, {"content", "x"}});
  EXPECT_EQ(text_of(directory, "kind"), "execution_error");
  EXPECT_TRUE(truth_of(directory, "retryable"));
  fs::create_directory_symlink(place_.path(""), place_.home("out"));
  EXPECT_EQ(text_of(caller_.call("sandbox_write_file", {{"path", "out/x"}, {"content", "x"}}), "kind"),
            "execution_error");
  EXPECT_FALSE(fs::exists(place_.path("x")));
  const std::string large((4 << 20) + 1, 'x');
  EXPECT_EQ(text_of(caller_.call("sandbox_write_file", {{"path", "f"}, {"content", large}}), "field"), "content");
  EXPECT_FALSE(fs::exists(place_.home("f")));
  EXPECT_EQ(text_of(caller_.call("sandbox_write_file", {{"path", "f"}}), "message"),
            "Missing required argument `content` (string).");
}

TEST_F(ChangeFilesTest, EditsOnePlace) {
  place_.put(place_.home("f"), "one\ntwo\nthree\n");
  fs::permissions(place_.home("f"), fs::perms(0751));
  const Value::Object envelope = edit("two\nthree", "2");
  ASSERT_TRUE(truth_of(envelope, "ok")) << json_text(Value(envelope));
  EXPECT_EQ(place_.get(place_.home("f")), "one\n2\n");
  EXPECT_NE(json_text(Value(envelope)).find("replaced 2 line(s) with 1 line(s)"), std::string::npos);
  EXPECT_EQ(fs::status(place_.home("f")).permissions(), fs::perms(0751));
  EXPECT_TRUE(truth_of(edit("one\n", ""), "ok"));
  EXPECT_EQ(place_.get(place_.home("f")), "2\n");
}

TEST_F(ChangeFilesTest, EditsNothingThatIsNotUnique) {
  place_.put(place_.home("f"), "aXa\naaa");
  for (const auto& [old_text, message] : std::vector<std::pair<std::string, std::string>>{
           {"zzz", "ERROR: old_string not found in file"},
           {"aa", "ERROR: old_string matches 2 locations — include more context to make it unique"}}) {
    const Value::Object envelope = edit(old_text, "b");
    EXPECT_EQ(text_of(envelope, "message"), message);
    EXPECT_EQ(text_of(envelope, "kind"), "execution_error");
    EXPECT_FALSE(truth_of(envelope, "retryable"));
  }
  EXPECT_EQ(text_of(edit("", "b"), "field"), "old_string");
  EXPECT_EQ(place_.get(place_.home("f")), "aXa\naaa");
}

TEST_F(ChangeFilesTest, AnEditLosesToWhoWroteMeanwhile) {
  place_.put(place_.home("f"), "one\n");
  place_.scripted_file = [&](const wire::FileRequest& request) -> std::optional<Result<wire::FileReply>> {
    if (std::holds_alternative<wire::WriteFile>(request)) place_.put(place_.home("f"), "one, by somebody else\n");
    return std::nullopt;
  };
  const Value::Object envelope = edit("one", "two");
  EXPECT_EQ(text_of(envelope, "kind"), "execution_error");
  EXPECT_TRUE(truth_of(envelope, "retryable"));
  EXPECT_NE(text_of(envelope, "message").find("meanwhile"), std::string::npos);
  EXPECT_EQ(place_.get(place_.home("f")), "one, by somebody else\n");
}

TEST_F(ChangeFilesTest, WhatCannotBeEdited) {
  EXPECT_TRUE(text_of(edit("a", "b"), "message").starts_with("Failed to edit `f`: "));
  place_.put(place_.home("f"), std::string((4 << 20) + 1, 'x') + "needle");
  EXPECT_NE(text_of(edit("needle", "b"), "message").find("bytes"), std::string::npos);
  place_.put(place_.home("f"), std::string((4 << 20) - 1, 'x') + "n");
  EXPECT_EQ(text_of(edit("n", "bbb"), "field"), "new_string");
}

TEST_F(ChangeFilesTest, Moves) {
  place_.put(place_.home("-a *"), "x");
  const Value::Object result = caller_.result("sandbox_move", {{"source", "-a *"}, {"destination", "new/b"}});
  EXPECT_EQ(text_of(result, "destination"), place_.home("new/b"));
  EXPECT_EQ(place_.get(place_.home("new/b")), "x");
  fs::create_directory(place_.home("d"));
  EXPECT_EQ(text_of(caller_.result("sandbox_move", {{"source", "new/b"}, {"destination", "d"}}), "destination"),
            place_.home("d/b"));
  EXPECT_EQ(text_of(caller_.result("sandbox_move", {{"source", "d/b"}, {"destination", place_.path("shared")}}),
                    "destination"),
            place_.path("shared/b"));
}

TEST_F(ChangeFilesTest, WhatCannotBeMoved) {
  EXPECT_EQ(text_of(caller_.call("sandbox_move", {{"source", "/etc/passwd"}, {"destination", "p"}}), "field"),
            "source");
  EXPECT_EQ(text_of(caller_.call("sandbox_move", {{"source", "a"}, {"destination", "../p"}}), "field"), "destination");
  EXPECT_EQ(text_of(caller_.call("sandbox_move", {{"source", "~"}, {"destination", "p"}}), "field"), "source");
  EXPECT_EQ(text_of(caller_.call("sandbox_move", {{"source", "nope"}, {"destination", "p"}}), "kind"),
            "execution_error");
  place_.scripted_file = [](const wire::FileRequest&) {
    return wire::FileReply(wire::FileMoved{{"/etc", "elsewhere"}});
  };
  EXPECT_EQ(text_of(caller_.result("sandbox_move", {{"source", "a"}, {"destination", "b"}}), "destination"),
            place_.home("b"));
}

TEST_F(ChangeFilesTest, Deletes) {
  place_.put(place_.home("*"), "x");
  place_.put(place_.home("keep"), "x");
  const Value::Object result = caller_.result("sandbox_delete", {{"path", "*"}});
  EXPECT_EQ(text_of(result, "deleted"), place_.home("*"));
  EXPECT_FALSE(truth_of(result, "recursive"));
  EXPECT_TRUE(fs::exists(place_.home("keep")));
  const Value::Object again = caller_.call("sandbox_delete", {{"path", "*"}});
  EXPECT_TRUE(truth_of(again, "ok"));
  EXPECT_NE(text_of(again, "warnings"), "(absent)");
}

TEST_F(ChangeFilesTest, ADirectoryIsDeletedWhenAskedTo) {
  place_.put(place_.home("d/x"), "x");
  const Value::Object refused = caller_.call("sandbox_delete", {{"path", "d"}});
  EXPECT_EQ(text_of(refused, "kind"), "execution_error");
  EXPECT_FALSE(truth_of(refused, "retryable"));
  EXPECT_TRUE(truth_of(caller_.result("sandbox_delete", {{"path", "d"}, {"recursive", "yes"}}), "recursive"));
  EXPECT_FALSE(fs::exists(place_.home("d")));
}

TEST_F(ChangeFilesTest, ALinkIsDeletedAndNotWhatItNames) {
  place_.put(place_.path("outside"), "x");
  fs::create_symlink(place_.path("outside"), place_.home("link"));
  caller_.result("sandbox_delete", {{"path", "link"}, {"recursive", true}});
  EXPECT_TRUE(fs::exists(place_.path("outside")));
}

TEST_F(ChangeFilesTest, NoRootIsDeleted) {
  for (const std::string& root : {std::string("."), std::string("~"), place_.path("shared"), place_.path("output/")}) {
    EXPECT_EQ(text_of(caller_.call("sandbox_delete", {{"path", root}, {"recursive", true}}), "field"), "path") << root;
    EXPECT_TRUE(fs::exists(place_.path("shared")));
  }
}

}  // namespace
}  // namespace hutch::tool
