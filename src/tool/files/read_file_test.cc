// sandbox_read_file: which lines, how many characters, and what is refused.
#include <gtest/gtest.h>

#include <filesystem>

#include "tool/place_testing.h"

namespace hutch::tool {
namespace {

class ReadFileTest : public testing::Test {
 protected:
  Value::Object read(Value::Object arguments) {
    arguments.emplace("path", "f");
    return caller_.result("sandbox_read_file", arguments);
  }
  std::string content(Value::Object arguments) { return text_of(read(std::move(arguments)), "content"); }

  TestPlace place_;
  Caller caller_{place_};
};

TEST_F(ReadFileTest, AllOfIt) {
  place_.put(place_.home("f"), "one\ntwo\n\u20ac");
  const Value::Object result = read({});
  EXPECT_EQ(json_text(Value(result)),
            "{\"content\":\"one\\ntwo\\n\u20ac\",\"path\":\"" + place_.home("f") + "\",\"size\":9}");
}

TEST_F(ReadFileTest, Lines) {
  place_.put(place_.home("f"), "1\n2\n3\n4\n5\n");
  EXPECT_EQ(content({{"start_line", 2}, {"line_count", 2}}), "2\n3\n");
  EXPECT_EQ(content({{"start_line", 4}}), "4\n5\n");
  EXPECT_EQ(content({{"start_line", 5}, {"line_count", 99}}), "5\n");
  EXPECT_EQ(content({{"start_line", 6}}), "");
  EXPECT_EQ(content({{"line_count", 1}}), "1\n");
  EXPECT_EQ(content({{"start_line", -3}, {"tail_lines", -1}, {"max_chars", -1}}), "1\n2\n3\n4\n5\n");
  const Value::Object result = read({{"start_line", "2"}, {"line_count", 0}});
  EXPECT_EQ(text_of(result, "content"), "2\n");
  EXPECT_EQ(number_of(result, "start_line"), 2);
  EXPECT_EQ(number_of(result, "line_count"), 1);
}

TEST_F(ReadFileTest, TheTailWins) {
  place_.put(place_.home("f"), "1\n2\n3");
  EXPECT_EQ(content({{"tail_lines", 2}, {"start_line", 1}}), "2\n3");
  EXPECT_EQ(content({{"tail_lines", 9}}), "1\n2\n3");
  place_.put(place_.home("f"), "1\n\n2\n\n");
  EXPECT_EQ(content({{"tail_lines", 2}}), "2\n\n");
  EXPECT_EQ(content({{"tail_lines", 1}}), "\n");
  place_.put(place_.home("f"), "");
  EXPECT_EQ(content({{"tail_lines", 3}}), "");
}

TEST_F(ReadFileTest, CharactersAreCutWhole) {
  place_.put(place_.home("f"), "\u20ac\u20ac\u20ac\n");
  const Value::Object result = read({{"max_chars", 2}});
  EXPECT_EQ(text_of(result, "content"), "\u20ac\u20ac");
  EXPECT_EQ(number_of(result, "size"), 2);
  EXPECT_EQ(number_of(result, "max_chars"), 2);
  EXPECT_TRUE(truth_of(result, "truncated"));
  EXPECT_FALSE(read({{"max_chars", 4}}).contains("truncated"));
}

TEST_F(ReadFileTest, ALargeFileIsCutWithoutBeingAsked) {
  std::string text;
  for (int line = 1; text.size() < 9'000'000; ++line) text += "line " + std::to_string(line) + "\n";
  place_.put(place_.home("f"), text);
  const Value::Object whole = read({});
  EXPECT_EQ(number_of(whole, "size"), 100'000);
  EXPECT_TRUE(truth_of(whole, "truncated"));
  EXPECT_EQ(content({{"start_line", 600'000}, {"line_count", 2}}), "line 600000\nline 600001\n");
  const std::string last = text.substr(text.rfind('\n', text.size() - 2) + 1);
  EXPECT_EQ(content({{"tail_lines", 1}}), last);
  EXPECT_TRUE(truth_of(read({{"start_line", 10}}), "truncated"));
  EXPECT_TRUE(truth_of(read({{"tail_lines", 400'000}}), "truncated"));
}

TEST_F(ReadFileTest, WhatIsNoTextIsTold) {
  place_.put(place_.home("f"), std::string_view("\x7f"
                                                "ELF\0\0",
                                                6));
  const Value::Object binary = caller_.call("sandbox_read_file", {{"path", "f"}});
  EXPECT_EQ(text_of(binary, "kind"), "execution_error");
  EXPECT_FALSE(truth_of(binary, "retryable"));
  EXPECT_NE(text_of(binary, "message").find("binary"), std::string::npos);
  place_.put(place_.home("f"), "caf\xe9\n");
  const Value::Object latin = caller_.call("sandbox_read_file", {{"path", "f"}});
  EXPECT_TRUE(truth_of(latin, "ok"));
  EXPECT_NE(text_of(latin, "warnings").find("UTF-8"), std::string::npos);
}

TEST_F(ReadFileTest, WhatIsNotThere) {
  const Value::Object missing = caller_.call("sandbox_read_file", {{"path", "f"}});
  EXPECT_EQ(text_of(missing, "kind"), "execution_error");
  EXPECT_FALSE(truth_of(missing, "retryable"));
  EXPECT_TRUE(text_of(missing, "message").starts_with("Failed to read `f`: ")) << text_of(missing, "message");
  EXPECT_EQ(text_of(missing, "tool"), "sandbox_read_file");
  std::filesystem::create_directory(place_.home("f"));
  EXPECT_EQ(text_of(caller_.call("sandbox_read_file", {{"path", "f"}}), "kind"), "execution_error");
}

TEST_F(ReadFileTest, PathsAreHeldToTheirRoots) {
  place_.put(place_.path("agents/alice2/secret"), "s");
  std::filesystem::create_symlink(place_.path("agents/alice2"), place_.home("link"));
  const Value::Object beside = caller_.call("sandbox_read_file", {{"path", place_.path("agents/alice2/secret")}});
  EXPECT_EQ(text_of(beside, "kind"), "invalid_args");
  EXPECT_EQ(text_of(beside, "field"), "path");
  EXPECT_EQ(text_of(beside, "message"), "Argument `path` rejected: absolute path is outside the agent home and `" +
                                            place_.path("shared") + "`. Got `" + place_.path("agents/alice2/secret") +
                                            "`.");
  EXPECT_EQ(text_of(beside, "expected"), "path under the agent home (relative or absolute under `" +
                                             place_.home("").substr(0, place_.home("").size() - 1) + "`)");
  EXPECT_EQ(text_of(caller_.call("sandbox_read_file", {{"path", "link/secret"}}), "kind"), "execution_error");
  EXPECT_EQ(text_of(caller_.call("sandbox_read_file", {{"path", "../alice2/secret"}}), "kind"), "invalid_args");
  const Value::Object empty = caller_.call("sandbox_read_file", {{"path", ""}});
  EXPECT_EQ(text_of(empty, "message"), "Argument `path` rejected: path is empty. Got ``.");
}

TEST_F(ReadFileTest, WhatNoRequestCanHold) {
  std::string deep = "d";
  while (deep.size() < 5000) deep += "/d";
  for (const char* tool : {"sandbox_read_file", "sandbox_list_directory", "sandbox_delete"}) {
    const Value::Object envelope = caller_.call(tool, {{"path", deep}});
    EXPECT_EQ(text_of(envelope, "field"), "path") << tool;
    EXPECT_NE(text_of(envelope, "message").find("path is too long"), std::string::npos) << tool;
  }
  const Value::Object pattern = caller_.call("sandbox_find_files", {{"pattern", std::string(5000, '?')}});
  EXPECT_EQ(text_of(pattern, "field"), "pattern");
  EXPECT_EQ(text_of(caller_.call("sandbox_exec", {{"command", "true"}, {"cwd", deep}}), "field"), "cwd");
}

TEST_F(ReadFileTest, NamesThatAShellWouldRead) {
  for (const char* name : {"a b", "it's", "\"q\"", "$(id)", "`id`", "-rf", "*", "a;b", "#x", "~x"}) {
    place_.put(place_.home(name), name);
    EXPECT_EQ(text_of(caller_.result("sandbox_read_file", {{"path", name}}), "content"), name);
  }
}

TEST_F(ReadFileTest, ASandboxThatIsNotUp) {
  place_.scripted_file = [](const wire::FileRequest&) {
    return fail(Error{Code::kTimeout, 0, "Sandbox is still initializing."});
  };
  const Value::Object envelope = caller_.call("sandbox_read_file", {{"path", "f"}});
  EXPECT_EQ(text_of(envelope, "kind"), "unavailable");
  EXPECT_TRUE(truth_of(envelope, "retryable"));
}

TEST_F(ReadFileTest, AnAnswerToSomethingElse) {
  place_.scripted_file = [](const wire::FileRequest&) { return wire::FileReply(wire::FileDone{}); };
  const Value::Object envelope = caller_.call("sandbox_read_file", {{"path", "f"}});
  EXPECT_NE(text_of(envelope, "message").find("something else"), std::string::npos);
  place_.scripted_file = [](const wire::FileRequest&) {
    return wire::FileReply(wire::FileFailed{Error::not_found("a\x1b[2Jb")});
  };
  EXPECT_EQ(text_of(caller_.call("sandbox_read_file", {{"path", "f"}}), "message"), "Failed to read `f`: a\\x1b[2Jb");
}

}  // namespace
}  // namespace hutch::tool
