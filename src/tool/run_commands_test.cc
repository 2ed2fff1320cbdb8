// sandbox_exec, sandbox_exec_background, sandbox_process: real shells, their output, their ends.
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "tool/place_testing.h"

namespace hutch::tool {
namespace {

class RunCommandsTest : public testing::Test {
 protected:
  Value::Object exec(std::string_view command) { return caller_.result("sandbox_exec", {{"command", command}}); }
  std::string start(std::string_view command) {
    return text_of(caller_.result("sandbox_exec_background", {{"command", command}}), "pid");
  }
  Value::Object process(std::string_view action, const std::string& pid) {
    return caller_.result("sandbox_process", {{"action", action}, {"pid", pid}});
  }
  // Until the process has printed so many lines.
  Value::Object poll_until(const std::string& pid, std::string_view text) {
    const TimePoint deadline = std::chrono::steady_clock::now() + std::chrono::seconds(45);
    for (;;) {
      Value::Object state = process("poll", pid);
      const bool there = text_of(state, "log_tail").find(text) != std::string::npos;
      if (there || std::chrono::steady_clock::now() > deadline) return state;
      std::this_thread::yield();
    }
  }

  TestPlace place_;
  Caller caller_{place_};
};

TEST_F(RunCommandsTest, ACommandLine) {
  const Value::Object result = exec("echo \"$0\" '*' && echo err >&2; exit 3");
  EXPECT_EQ(text_of(result, "stdout"), "/bin/bash *\n");
  EXPECT_EQ(text_of(result, "stderr"), "err\n");
  EXPECT_EQ(number_of(result, "exit_code"), 3);
  EXPECT_EQ(text_of(result, "cwd") + "/", place_.home(""));
  EXPECT_NE(caller_.progress.find("err\n"), std::string::npos);
}

TEST_F(RunCommandsTest, TheDirectoryIsAFieldAndNotText) {
  place_.put(place_.home("a b; touch x/in"), "");
  const Value::Object result =
      caller_.result("sandbox_exec", {{"command", "pwd; echo \"$PATH\""}, {"cwd", "a b; touch x"}});
  EXPECT_EQ(text_of(result, "stdout").substr(0, place_.home("a b; touch x").size()), place_.home("a b; touch x"));
  EXPECT_NE(
      text_of(result, "stdout").find(place_.home("a b; touch x") + "/node_modules/.bin:" + place_.home(".venv/bin:")),
      std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(place_.home("x")));
}

TEST_F(RunCommandsTest, ADirectoryBehindALink) {
  std::filesystem::create_directory(place_.home("real"));
  std::filesystem::create_directory_symlink("real", place_.home("link"));
  std::filesystem::create_directory_symlink("/etc", place_.home("out"));
  EXPECT_EQ(text_of(caller_.result("sandbox_exec", {{"command", "pwd -P"}, {"cwd", "link"}}), "stdout"),
            place_.home("real\n"));
  EXPECT_EQ(text_of(caller_.call("sandbox_exec", {{"command", "pwd"}, {"cwd", "out"}}), "field"), "cwd");
}

TEST_F(RunCommandsTest, AWrongDirectoryRunsNothing) {
  place_.put(place_.home("file"), "");
  for (const char* cwd : {"nope", "file", "/etc", "..", "", "a\nb"}) {
    const Value::Object envelope = caller_.call("sandbox_exec", {{"command", "true"}, {"cwd", cwd}});
    EXPECT_EQ(text_of(envelope, "kind"), "invalid_args") << cwd;
    EXPECT_EQ(text_of(envelope, "field"), "cwd") << cwd;
  }
  EXPECT_TRUE(place_.commands.empty());
}

TEST_F(RunCommandsTest, TheShellIsLookedForOnce) {
  place_.system_root = place_.path("system");
  exec("true");
  EXPECT_EQ(place_.commands.back().arguments.front(), "/bin/sh");
  place_.put(place_.path("system/bin/bash"), "");
  exec("true");
  EXPECT_EQ(place_.commands.back().arguments.front(), "/bin/bash");
  place_.change_layout().shell = "/bin/dash";
  place_.scripted_file = [](const wire::FileRequest&) { return fail(Error::not_found("asked")); };
  place_.scripted_run = [](const Command&) { return CommandEnd{}; };
  exec("true");
  EXPECT_EQ(place_.commands.back().arguments.front(), "/bin/dash");
}

TEST_F(RunCommandsTest, LongOutputIsCutInTheMiddle) {
  const Value::Object result = exec("seq 1 2000000; seq 1 100000 >&2");
  const std::string output = text_of(result, "stdout");
  EXPECT_TRUE(output.starts_with("1\n2\n"));
  EXPECT_TRUE(output.ends_with("2000000\n"));
  EXPECT_NE(output.find("chars omitted out of 14888896 total] ..."), std::string::npos);
  EXPECT_LT(output.size(), 50'200U);
  EXPECT_LT(text_of(result, "stderr").size(), 10'200U);
}

TEST_F(RunCommandsTest, BytesThatAreNoText) {
  EXPECT_EQ(text_of(exec("printf 'a\\377\\0b'"), "stdout"), std::string("a\uFFFD\0b", 6));
}

TEST_F(RunCommandsTest, ATimeoutKeepsWhatCame) {
  const Value::Object envelope =
      caller_.call("sandbox_exec", {{"command", "echo so far; echo e >&2; sleep 1000"}, {"timeout", 2}});
  EXPECT_EQ(text_of(envelope, "kind"), "timeout");
  EXPECT_TRUE(truth_of(envelope, "retryable"));
  EXPECT_EQ(text_of(envelope, "stdout"), "so far\n");
  EXPECT_EQ(text_of(envelope, "stderr"), "e\n");
  EXPECT_EQ(number_of(envelope, "exit_code"), 124);
  EXPECT_TRUE(text_of(envelope, "message").starts_with("Timed out after 2 s")) << text_of(envelope, "message");
}

TEST_F(RunCommandsTest, TheTimeoutThatHolds) {
  place_.scripted_run = [](const Command&) { return CommandEnd{}; };
  exec("x");
  EXPECT_EQ(place_.commands.back().timeout, std::chrono::seconds(30));
  caller_.settings.command_timeout = std::chrono::seconds(90);
  exec("x");
  EXPECT_EQ(place_.commands.back().timeout, std::chrono::seconds(90));
  caller_.settings.command_timeout = std::chrono::seconds(9000);
  exec("x");
  EXPECT_EQ(place_.commands.back().timeout, std::chrono::seconds(300));
  caller_.result("sandbox_exec", {{"command", "x"}, {"timeout", 300}});
  EXPECT_EQ(place_.commands.back().timeout, std::chrono::seconds(300));
  for (const int wrong : {0, -1, 301}) {
    const Value::Object envelope = caller_.call("sandbox_exec", {{"command", "x"}, {"timeout", wrong}});
    EXPECT_EQ(text_of(envelope, "field"), "timeout") << wrong;
  }
}

TEST_F(RunCommandsTest, ACancelledCallEndsItsProcesses) {
  std::stop_source source;
  caller_.stop = source.get_token();
  std::jthread canceller([&] {
    const TimePoint deadline = std::chrono::steady_clock::now() + std::chrono::seconds(45);
    while (!std::filesystem::exists(place_.home("started")) && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    source.request_stop();
  });
  const Value::Object envelope =
      caller_.call("sandbox_exec", {{"command", "echo x; touch started; sleep 1000"}, {"timeout", 300}});
  EXPECT_EQ(text_of(envelope, "kind"), "execution_error");
  EXPECT_FALSE(truth_of(envelope, "retryable"));
  EXPECT_EQ(text_of(envelope, "stdout"), "x\n");
}

TEST_F(RunCommandsTest, HutchsOwnFailureIsNone0fTheCommands) {
  place_.scripted_run = [](const Command&) { return fail(Error{Code::kSystem, 0, "the sandbox is gone"}); };
  const Value::Object envelope = caller_.call("sandbox_exec", {{"command", "x"}});
  EXPECT_EQ(text_of(envelope, "kind"), "execution_error");
  EXPECT_EQ(text_of(envelope, "message"), "Failed to run the command: the sandbox is gone");
}

TEST_F(RunCommandsTest, CommandsOfATurnAreCountedOnceTheyAreRight) {
  caller_.settings.commands_per_turn_max = 2;
  caller_.real_time = false;
  caller_.turn = "t1";
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(text_of(caller_.call("sandbox_exec", {{"command", ""}}), "kind"), "invalid_args");
    EXPECT_EQ(text_of(caller_.call("sandbox_exec", {{"command", "x"}, {"cwd", "nope"}}), "kind"), "invalid_args");
    EXPECT_EQ(text_of(caller_.call("sandbox_run_script", {{"script", "x"}}), "field"), "language");
  }
  exec("true");
  caller_.result("sandbox_run_script", {{"script", "true"}, {"language", "sh"}});
  for (const auto& [tool, arguments] : std::vector<std::pair<std::string, Value::Object>>{
           {"sandbox_exec", {{"command", "true"}}},
           {"sandbox_exec_background", {{"command", "true"}}},
           {"sandbox_run_script", {{"script", "true"}, {"language", "sh"}}}}) {
    const Value::Object envelope = caller_.call(tool, arguments);
    EXPECT_EQ(text_of(envelope, "kind"), "rejected");
    EXPECT_FALSE(truth_of(envelope, "retryable"));
    EXPECT_EQ(text_of(envelope, "message"),
              "Per-turn command limit reached (2 commands). Wait until the next turn or chain steps inside one "
              "`sandbox_exec` call.");
  }
  EXPECT_TRUE(truth_of(caller_.call("sandbox_list_directory", {}), "ok"));
  caller_.turn = "t2";
  exec("true");
}

TEST_F(RunCommandsTest, AllOfALineIsInTheBackground) {
  place_.keeps_log_files = true;
  const Value::Object started =
      caller_.result("sandbox_exec_background", {{"command", "echo a; echo b >&2; cat /dev/zero | sleep 1000"}});
  const std::string pid = text_of(started, "pid");
  const std::string log = text_of(started, "log_file");
  EXPECT_TRUE(log.starts_with(place_.home("bg-")) && log.ends_with(".log")) << log;
  const Value::Object running = poll_until(pid, "b\n");
  EXPECT_TRUE(truth_of(running, "alive"));
  EXPECT_EQ(text_of(running, "log_tail"), "a\nb\n");
  EXPECT_EQ(text_of(running, "log_file"), log);
  EXPECT_EQ(place_.get(log), "a\nb\n");
  EXPECT_FALSE(running.contains("exit_code"));
  const Value::Object killed = process("kill", pid);
  EXPECT_TRUE(truth_of(killed, "killed"));
  EXPECT_EQ(text_of(killed, "signal"), "SIGTERM");
  const Value::Object waited = process("wait", pid);
  EXPECT_TRUE(truth_of(waited, "exited"));
  EXPECT_FALSE(truth_of(waited, "timed_out"));
  EXPECT_EQ(number_of(waited, "exit_code"), 143);
  EXPECT_FALSE(truth_of(process("kill", pid), "killed"));
}

TEST_F(RunCommandsTest, APlaceWithoutLogFilesSaysSo) {
  const Value::Object envelope = caller_.call("sandbox_exec_background", {{"command", "echo x"}});
  EXPECT_NE(json_text(Value(envelope)).find(R"("log_file":"")"), std::string::npos);
  EXPECT_NE(text_of(envelope, "warnings").find("sandbox_process"), std::string::npos);
}

TEST_F(RunCommandsTest, AWaitEndsWithItsTime) {
  const std::string pid = start("trap '' TERM; echo ready; while :; do sleep 1000; done");
  poll_until(pid, "ready");
  const Value::Object waited =
      caller_.result("sandbox_process", {{"action", "wait"}, {"pid", pid}, {"timeout", 1}, {"tail_lines", 0}});
  EXPECT_FALSE(truth_of(waited, "exited"));
  EXPECT_TRUE(truth_of(waited, "timed_out"));
  EXPECT_EQ(text_of(waited, "log_tail"), "");
  const Value::Object killed = caller_.result("sandbox_process", {{"action", "kill"}, {"pid", pid}, {"force", true}});
  EXPECT_EQ(text_of(killed, "signal"), "SIGKILL");
  EXPECT_EQ(number_of(process("wait", pid), "exit_code"), 137);
}

TEST_F(RunCommandsTest, ACancelledWaitLeavesTheProcess) {
  const std::string pid = start("sleep 1000");
  std::stop_source source;
  source.request_stop();
  caller_.stop = source.get_token();
  EXPECT_TRUE(truth_of(process("wait", pid), "timed_out"));
  EXPECT_TRUE(truth_of(process("poll", pid), "alive"));
}

TEST_F(RunCommandsTest, TheTailOfALog) {
  const std::string pid = start("seq 1 300000");
  process("wait", pid);
  EXPECT_EQ(
      text_of(caller_.result("sandbox_process", {{"action", "poll"}, {"pid", pid}, {"tail_lines", 2}}), "log_tail"),
      "299999\n300000\n");
  const std::string forty = text_of(process("poll", pid), "log_tail");
  EXPECT_EQ(std::count(forty.begin(), forty.end(), '\n'), 40);
}

TEST_F(RunCommandsTest, WhatIsNoProcessOfTheAgents) {
  const Value::Object unknown = caller_.call("sandbox_process", {{"action", "kill"}, {"pid", "1"}});
  EXPECT_EQ(text_of(unknown, "kind"), "not_found");
  EXPECT_EQ(text_of(unknown, "field"), "pid");
  EXPECT_FALSE(truth_of(unknown, "retryable"));
  EXPECT_EQ(text_of(caller_.call("sandbox_process", {{"action", "wait"}, {"pid", "9"}}), "kind"), "not_found");
  EXPECT_EQ(text_of(caller_.call("sandbox_process", {{"action", "poll"}, {"pid", "-1; id"}}), "field"), "pid");
  EXPECT_EQ(text_of(caller_.call("sandbox_process", {{"action", "stop"}, {"pid", "1"}}), "field"), "action");
}

}  // namespace
}  // namespace hutch::tool
