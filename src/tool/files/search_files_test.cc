// sandbox_search_files with the real ripgrep, and the reader of its output with hostile ones.
#include <gtest/gtest.h>

#include <filesystem>

#include "tool/files/matches.h"
#include "tool/place_testing.h"

namespace hutch::tool {
namespace {

bool has_text(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

class SearchFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    const Result<CommandEnd> end = place_.run({.arguments = {"rg", "--version"}, .cwd = place_.home("")});
    ASSERT_TRUE(end && end->exit_code == 0) << "these tests need ripgrep (Debian: ripgrep)";
    place_.commands.clear();
  }
  std::string matches(Value::Object arguments) {
    return text_of(caller_.result("sandbox_search_files", arguments), "matches");
  }

  TestPlace place_;
  Caller caller_{place_};
};

TEST_F(SearchFilesTest, MatchingLinesByFile) {
  place_.put(place_.home("b.txt"), "x\nfoo 1\n");
  place_.put(place_.home("a.txt"), "Foo\nfoo 2\n");
  const Value::Object result = caller_.result("sandbox_search_files", {{"pattern", "fo+ [0-9]"}});
  EXPECT_EQ(text_of(result, "matches"), place_.home("a.txt:2:foo 2\n") + place_.home("b.txt:2:foo 1\n"));
  EXPECT_EQ(number_of(result, "match_count"), 2);
  EXPECT_FALSE(truth_of(result, "truncated"));
  EXPECT_EQ(matches({{"pattern", "^FOO$"}, {"case_insensitive", true}}), place_.home("a.txt:1:Foo\n"));
  EXPECT_EQ(matches({{"pattern", "foo"}, {"include", "b*"}}), place_.home("b.txt:2:foo 1\n"));
  EXPECT_EQ(matches({{"pattern", "foo"}, {"path", "b.txt"}}), place_.home("b.txt:2:foo 1\n"));
  EXPECT_EQ(number_of(caller_.result("sandbox_search_files", {{"pattern", "nothing"}}), "match_count"), 0);
}

TEST_F(SearchFilesTest, ContextAndGaps) {
  place_.put(place_.home("f"), "1\nfoo\n3\n4\n5\n6\nfoo\n");
  const std::string f = place_.home("f");
  EXPECT_EQ(matches({{"pattern", "foo"}, {"context_lines", 1}}),
            f + "-1-1\n" + f + ":2:foo\n" + f + "-3-3\n--\n" + f + "-6-6\n" + f + ":7:foo\n");
}

TEST_F(SearchFilesTest, ResultsAreCountedInMatches) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "foo\nbar\n";
  for (const char* name : {"a", "b", "c"}) place_.put(place_.home(name), text);
  const Value::Object result =
      caller_.result("sandbox_search_files", {{"pattern", "foo"}, {"max_results", 5}, {"context_lines", 2}});
  EXPECT_EQ(number_of(result, "match_count"), 5);
  EXPECT_TRUE(truth_of(result, "truncated"));
  EXPECT_EQ(number_of(caller_.result("sandbox_search_files", {{"pattern", "foo"}}), "match_count"), 100);
  EXPECT_EQ(
      number_of(caller_.result("sandbox_search_files", {{"pattern", "foo"}, {"max_results", 9999}}), "match_count"),
      500);
  place_.put(place_.home("exact/f"), "foo\nfoo\n");
  const Value::Object exact =
      caller_.result("sandbox_search_files", {{"pattern", "foo"}, {"path", "exact"}, {"max_results", 2}});
  EXPECT_EQ(number_of(exact, "match_count"), 2);
  EXPECT_FALSE(truth_of(exact, "truncated"));
}

TEST_F(SearchFilesTest, ABadPatternIsTold) {
  const Value::Object envelope = caller_.call("sandbox_search_files", {{"pattern", "fo("}});
  EXPECT_EQ(text_of(envelope, "kind"), "invalid_args");
  EXPECT_EQ(text_of(envelope, "field"), "pattern");
  EXPECT_TRUE(has_text(text_of(envelope, "message"), "unclosed group")) << text_of(envelope, "message");
  EXPECT_EQ(text_of(caller_.call("sandbox_search_files", {{"pattern", "x"}, {"include", "{a"}}), "field"), "include");
  EXPECT_EQ(text_of(caller_.call("sandbox_search_files", {{"pattern", "a\\nb"}}), "field"), "pattern");
}

TEST_F(SearchFilesTest, PatternsAndNamesAreNoOptions) {
  place_.put(place_.home("-e"), "--files\n$(touch x); `id`\n");
  EXPECT_EQ(matches({{"pattern", "--files"}}), place_.home("-e:1:--files\n"));
  EXPECT_EQ(matches({{"pattern", "\\$\\(touch x\\); `id`"}, {"path", "-e"}}), place_.home("-e:2:$(touch x); `id`\n"));
  EXPECT_FALSE(std::filesystem::exists(place_.home("x")));
  EXPECT_EQ(matches({{"pattern", "x"}, {"include", "--pre=id"}}), "");
}

TEST_F(SearchFilesTest, NamesThatAreNoText) {
  place_.put(place_.home("new\nline:7:x"), "foo\n");
  place_.put(place_.home("i\xffnv"), "foo \xff\n");
  const std::string text = matches({{"pattern", "foo"}});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
  EXPECT_TRUE(has_text(text, "new\\x0aline:7:x:1:foo\n")) << text;
  EXPECT_TRUE(has_text(text, "i\\xffnv:1:foo \uFFFD\n")) << text;
}

TEST_F(SearchFilesTest, ALongLineIsCut) {
  place_.put(place_.home("long"), "foo" + std::string(5000, 'x') + "\n");
  place_.put(place_.home("longer"), "foo" + std::string(3 << 20, 'y') + "\nfoo z\n");
  const Value::Object result = caller_.result("sandbox_search_files", {{"pattern", "foo"}});
  EXPECT_TRUE(has_text(text_of(result, "matches"), " [... 4003 more characters]\n"));
  EXPECT_TRUE(has_text(text_of(result, "matches"), place_.home("longer:?:(a very long line)\n")));
  EXPECT_EQ(number_of(result, "match_count"), 3);
}

TEST_F(SearchFilesTest, WhereItMaySearch) {
  EXPECT_EQ(text_of(caller_.call("sandbox_search_files", {{"pattern", "x"}, {"path", "/etc"}}), "field"), "path");
  std::filesystem::create_directory_symlink("/etc", place_.home("link"));
  EXPECT_EQ(text_of(caller_.call("sandbox_search_files", {{"pattern", "x"}, {"path", "link/ssl"}}), "kind"),
            "execution_error");
  EXPECT_EQ(text_of(caller_.call("sandbox_search_files", {{"pattern", "root"}, {"path", "link"}}), "kind"),
            "execution_error");
  EXPECT_TRUE(text_of(caller_.call("sandbox_search_files", {{"pattern", "x"}, {"path", "nope"}}), "message")
                  .starts_with("Failed to search `nope`: "));
  EXPECT_TRUE(place_.commands.empty());
}

TEST_F(SearchFilesTest, NoRipgrepInTheSandbox) {
  place_.scripted_run = [](const Command&) {
    CommandEnd end;
    end.exit_code = 127;
    return end;
  };
  const Value::Object envelope = caller_.call("sandbox_search_files", {{"pattern", "x"}});
  EXPECT_EQ(text_of(envelope, "kind"), "unavailable");
  EXPECT_FALSE(truth_of(envelope, "retryable"));
  EXPECT_TRUE(has_text(text_of(envelope, "message"), "ripgrep"));
}

TEST_F(SearchFilesTest, OtherEndsOfRipgrep) {
  CommandEnd end;
  place_.scripted_run = [&](const Command&) { return end; };
  end.timed_out = true;
  EXPECT_EQ(text_of(caller_.call("sandbox_search_files", {{"pattern", "x"}}), "kind"), "timeout");
  end = {};
  end.exit_code = 2;
  end.error.head = "x: Permission denied";
  const Value::Object nothing = caller_.call("sandbox_search_files", {{"pattern", "x"}});
  EXPECT_EQ(text_of(nothing, "kind"), "execution_error");
  EXPECT_FALSE(has_text(text_of(nothing, "message"), "``")) << text_of(nothing, "message");
  place_.scripted_run = [&](const Command& command) {
    command.on_output(Stream::kOutput, R"({"type":"match","data":{"path":{"text":"p"},"lines":{"text":"x"},)"
                                       "\"line_number\":1}}\n");
    return end;
  };
  const Value::Object partial = caller_.call("sandbox_search_files", {{"pattern", "x"}});
  EXPECT_TRUE(truth_of(partial, "ok"));
  EXPECT_TRUE(has_text(text_of(partial, "warnings"), "Permission denied"));
}

// What it says at its end tells a pattern that it cannot read from a file that it cannot.
TEST_F(SearchFilesTest, AFileThatCannotBeRead) {
  std::string error;
  place_.scripted_run = [&](const Command& command) {
    CommandEnd end;
    end.exit_code = 2;
    end.error.head = error;
    command.on_output(Stream::kOutput, R"({"data":{"stats":{}},"type":"summary"})"
                                       "\n");
    return end;
  };
  for (const char* prefix : {"", "rg: "}) {
    error = prefix + place_.home("regex: Permission denied (os error 13)\n");
    const Value::Object envelope = caller_.call("sandbox_search_files", {{"pattern", "x"}});
    EXPECT_TRUE(truth_of(envelope, "ok"));
    EXPECT_TRUE(has_text(text_of(envelope, "warnings"), "Not all could be read: /")) << text_of(envelope, "warnings");
    place_.put(place_.home("regex"), "");
    const Value::Object alone = caller_.call("sandbox_search_files", {{"pattern", "x"}, {"path", "regex"}});
    EXPECT_EQ(text_of(alone, "kind"), "execution_error");
    EXPECT_TRUE(has_text(text_of(alone, "message"), "Permission denied"));
  }
}

TEST(Matches, HostileOutput) {
  Matches matches(10);
  for (const char* line : {"", "x", "{", "[]", "{\"type\":1}", "{\"type\":\"match\"}",
                           "{\"type\":\"match\",\"data\":5}", "{\"type\":\"end\",\"data\":{}}"}) {
    EXPECT_EQ(matches.feed(std::string(line) + "\n"), Matches::Enough::kNo);
  }
  EXPECT_EQ(matches.count(), 0U);
  matches.feed(
      "{\"type\":\"match\",\"data\":{\"path\":{\"bytes\":\"!\"},\"line_number\":-4,\"lines\":{\"bytes\":\"YQ==\"}}}\n");
  EXPECT_EQ(matches.count(), 1U);
  EXPECT_EQ(matches.text(100).text, ":?:a\n");
  EXPECT_FALSE(matches.text(3).whole);
  const std::string endless(1 << 20, 'x');
  for (int i = 0; i < 64; ++i) matches.feed(endless);
  EXPECT_EQ(matches.feed("\n"), Matches::Enough::kNo);
  EXPECT_EQ(matches.count(), 1U);
}

TEST(Matches, ByteByByteAndThenEnough) {
  const std::string line = R"({"type":"match","data":{"path":{"text":"p"},"lines":{"text":"a\r\n"},"line_number":1}})"
                           "\n";
  Matches matches(1);
  for (const char c : line) EXPECT_EQ(matches.feed(std::string_view(&c, 1)), Matches::Enough::kNo);
  EXPECT_EQ(matches.text(100).text, "p:1:a\n");
  EXPECT_FALSE(matches.truncated());
  EXPECT_EQ(matches.feed(line), Matches::Enough::kYes);
  EXPECT_TRUE(matches.truncated());
  EXPECT_EQ(matches.count(), 1U);
}

}  // namespace
}  // namespace hutch::tool
