// sandbox_run_script: which interpreter, from where, and that nothing is left behind.
#include <gtest/gtest.h>

#include <filesystem>

#include "tool/place_testing.h"

namespace hutch::tool {
namespace {

class RunScriptTest : public testing::Test {
 protected:
  Value::Object run(const Value::Object& arguments) { return caller_.result("sandbox_run_script", arguments); }
  bool nothing_left() const {
    return !std::filesystem::exists(place_.home(".tmp")) || std::filesystem::is_empty(place_.home(".tmp"));
  }

  TestPlace place_;
  Caller caller_{place_};
};

TEST_F(RunScriptTest, ByLanguage) {
  const Value::Object python = run(
      {{"language", "python"}, {"script", "import sys\nprint('a', file=sys.stderr)\nprint('it\\'s')\nsys.exit(4)"}});
  EXPECT_EQ(text_of(python, "stdout"), "it's\n");
  EXPECT_EQ(text_of(python, "stderr"), "a\n");
  EXPECT_EQ(text_of(python, "combined"), "it's\na\n");
  EXPECT_EQ(number_of(python, "exit_code"), 4);
  EXPECT_EQ(text_of(python, "language"), "python");
  EXPECT_EQ(text_of(run({{"language", "bash"}, {"script", "x=(1 2); echo ${x[1]}"}}), "stdout"), "2\n");
  EXPECT_TRUE(nothing_left());
  EXPECT_EQ(place_.commands.back().timeout, std::chrono::seconds(60));
}

TEST_F(RunScriptTest, ByTheFirstLine) {
  const Value::Object python = run({{"script", "#!/usr/bin/env python3\nprint(__file__)"}});
  EXPECT_EQ(text_of(python, "language"), "python");
  EXPECT_TRUE(text_of(python, "stdout").ends_with(".py\n"));
  const Value::Object shell = run({{"script", "#! /bin/sh  -e \nfalse\necho no"}});
  EXPECT_EQ(text_of(shell, "language"), "sh");
  EXPECT_EQ(number_of(shell, "exit_code"), 1);
  EXPECT_EQ(text_of(shell, "stdout"), "");
  const Value::Object other = run({{"script", "#!/usr/bin/env -S awk -f\nBEGIN { print 6 * 7 }"}});
  EXPECT_EQ(text_of(other, "language"), "awk");
  EXPECT_EQ(text_of(other, "stdout"), "42\n");
  EXPECT_TRUE(nothing_left());
}

TEST_F(RunScriptTest, ByTheFilesName) {
  place_.put(place_.home("-x y.py"), "print(1)");
  const Value::Object python = run({{"path", "-x y.py"}});
  EXPECT_EQ(text_of(python, "stdout"), "1\n");
  EXPECT_EQ(text_of(python, "language"), "python");
  EXPECT_TRUE(std::filesystem::exists(place_.home("-x y.py")));
  place_.put(place_.home("s.sh"), "echo ${BASH_VERSION:+bash}");
  EXPECT_EQ(text_of(run({{"path", "s.sh"}}), "stdout"), "bash\n");
  place_.put(place_.home("t.sh"), "#!/bin/sh\necho $0");
  EXPECT_EQ(text_of(run({{"path", "t.sh"}}), "stdout"), place_.home("t.sh\n"));
  EXPECT_EQ(text_of(run({{"path", "s.sh"}, {"language", "sh"}}), "language"), "sh");
  place_.system_root = place_.path("system");
  EXPECT_EQ(text_of(run({{"path", "s.sh"}}), "language"), "sh");
}

TEST_F(RunScriptTest, NobodyKnowsWhatItIs) {
  place_.put(place_.home("noext"), "echo x");
  for (const Value::Object& arguments :
       {Value::Object{{"script", "echo x"}}, Value::Object{{"path", "noext"}}, Value::Object{{"script", "#!\nx"}}}) {
    const Value::Object envelope = caller_.call("sandbox_run_script", arguments);
    EXPECT_EQ(text_of(envelope, "kind"), "invalid_args");
    EXPECT_EQ(text_of(envelope, "field"), "language");
  }
  EXPECT_EQ(text_of(caller_.call("sandbox_run_script", {{"script", "x"}, {"language", "ruby"}}), "field"), "language");
}

TEST_F(RunScriptTest, EitherTextOrFile) {
  EXPECT_EQ(text_of(caller_.call("sandbox_run_script", {{"language", "sh"}}), "field"), "script");
  EXPECT_EQ(text_of(caller_.call("sandbox_run_script", {{"script", "x"}, {"path", "x"}}), "field"), "script");
  EXPECT_EQ(text_of(caller_.call("sandbox_run_script", {{"script", ""}}), "field"), "script");
  EXPECT_EQ(text_of(caller_.call("sandbox_run_script", {{"path", "/etc/passwd"}}), "field"), "path");
  EXPECT_EQ(text_of(caller_.call("sandbox_run_script", {{"path", "nope.py"}}), "kind"), "execution_error");
  EXPECT_EQ(
      text_of(caller_.call("sandbox_run_script", {{"script", "x"}, {"language", "sh"}, {"cwd", "nope"}}), "field"),
      "cwd");
  EXPECT_TRUE(place_.commands.empty());
}

TEST_F(RunScriptTest, AScriptMayReadItsInput) {
  EXPECT_EQ(text_of(run({{"language", "bash"}, {"script", "read x; echo \"<$x>\"; echo end"}}), "stdout"), "<>\nend\n");
}

TEST_F(RunScriptTest, ATimeoutLeavesNothing) {
  const Value::Object envelope =
      caller_.call("sandbox_run_script", {{"language", "sh"}, {"script", "echo x; sleep 1000"}, {"timeout", 1}});
  EXPECT_EQ(text_of(envelope, "kind"), "timeout");
  EXPECT_EQ(text_of(envelope, "combined"), "x\n");
  EXPECT_TRUE(nothing_left());
}

TEST_F(RunScriptTest, AMissingInterpreterIsPointedAt) {
  place_.change_layout().path = "/nowhere";
  const Value::Object envelope = caller_.call("sandbox_run_script", {{"language", "node"}, {"script", "x"}});
  EXPECT_TRUE(truth_of(envelope, "ok"));
  EXPECT_NE(text_of(envelope, "warnings").find("`node` may not be installed"), std::string::npos);
}

TEST_F(RunScriptTest, HutchsOwnFailures) {
  place_.scripted_run = [](const Command&) { return fail(Error{Code::kSystem, 0, "gone"}); };
  EXPECT_EQ(text_of(caller_.call("sandbox_run_script", {{"language", "sh"}, {"script", "x"}}), "message"),
            "Failed to run the script: gone");
  EXPECT_TRUE(nothing_left());
  std::filesystem::remove(place_.home(".tmp"));
  place_.put(place_.home(".tmp"), "a file");
  EXPECT_TRUE(text_of(caller_.call("sandbox_run_script", {{"language", "sh"}, {"script", "x"}}), "message")
                  .starts_with("Failed to write the script: "));
}

}  // namespace
}  // namespace hutch::tool
