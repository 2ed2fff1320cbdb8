// A user of the library: `surface CHECK BACKEND` runs one check of the API in the current directory.
#include <hutch/sandbox.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "check.h"

namespace {

using hutch::CommandOptions;
using hutch::CommandResult;
using hutch::ErrorCode;
using hutch::Sandbox;
using hutch::SandboxOptions;
using hutch::SandboxStatus;
using std::chrono::milliseconds;

std::string backend;

SandboxOptions options() {
  return {.working_directory = "work", .isolation = backend, .on_note = [](std::string_view line) {
            std::fprintf(stderr, "note: %.*s\n", static_cast<int>(line.size()), line.data());
          }};
}

Sandbox make(SandboxOptions given = options()) { return must(Sandbox::create(std::move(given))); }

template <class Holds>
void wait_until(Holds holds, int line = __builtin_LINE()) {
  for (int i = 0; i < 900; ++i) {
    if (holds()) return;
    std::this_thread::sleep_for(milliseconds(50));
  }
  std::fprintf(stderr, "line %d: not so after 45 s\n", line);
  std::exit(1);
}

void lifecycle() {
  Sandbox sandbox = make();
  EXPECT(sandbox.status() == SandboxStatus::kPending && !sandbox.is_ready());
  EXPECT(!std::filesystem::exists("work"));
  EXPECT(!sandbox.get_info().resources);
  must(sandbox.start());
  must(sandbox.start());
  EXPECT(sandbox.is_ready() && std::filesystem::is_directory("work"));
  EXPECT(sandbox.working_directory() == std::filesystem::current_path() / "work");
  const std::string first = must(sandbox.execute_command("echo kept > file; echo $$")).stdout_text;
  EXPECT(!first.empty());
  must(sandbox.stop());
  must(sandbox.stop());
  EXPECT(sandbox.status() == SandboxStatus::kStopped);
  EXPECT(must(sandbox.execute_command("cat file")).stdout_text == "kept\n");
  EXPECT(sandbox.is_ready());
  must(sandbox.destroy());
  must(sandbox.destroy());
  EXPECT(sandbox.status() == SandboxStatus::kDestroyed && to_string(sandbox.status()) == "destroyed");
  EXPECT(sandbox.execute_command("true").error().code == ErrorCode::kNotReady);
  EXPECT(sandbox.start().error().code == ErrorCode::kNotReady);
  EXPECT(sandbox.write_files({{.path = "x", .content = ""}}).error().code == ErrorCode::kNotReady);
}

void results() {
  SandboxOptions given = options();
  given.env = {{"GIVEN", "one"}, {"BOTH", "sandbox"}};
  Sandbox sandbox = make(std::move(given));
  CommandResult result = must(sandbox.execute_command("echo out; echo err >&2; exit 3"));
  EXPECT(!result.success && result.exit_code == 3 && result.stdout_text == "out\n" && result.stderr_text == "err\n");
  EXPECT(!result.killed && !result.timed_out && result.execution_time_ms >= 0);
  EXPECT(must(sandbox.execute_command("true")).success);
  EXPECT(must(sandbox.execute_command("echo", {"$HOME; *", "a  b"})).stdout_text == "$HOME; * a  b\n");
  result = must(sandbox.execute_command("no-such-program", {"x"}));
  EXPECT(result.exit_code == 127 && result.stderr_text.contains("no-such-program"));
  EXPECT(must(sandbox.execute_command("kill -KILL $$")).exit_code == 137);
  // PATH alone, and what was asked for.
  CommandOptions command;
  command.env = {{"BOTH", "command"}, {"EMPTY", ""}};
  result = must(sandbox.execute_command("/usr/bin/env", {"-u", "PATH"}, command));
  std::set<std::string> lines;
  for (std::size_t at = 0, end = 0; (end = result.stdout_text.find('\n', at)) != std::string::npos; at = end + 1) {
    lines.insert(result.stdout_text.substr(at, end - at));
  }
  EXPECT((lines == std::set<std::string>{"GIVEN=one", "BOTH=command", "EMPTY="}));
  EXPECT(must(sandbox.execute_command("printf %s \"$PATH\"")).stdout_text == std::getenv("PATH"));
  command = {};
  command.cwd = "below";
  must(sandbox.execute_command("mkdir below"));
  EXPECT(must(sandbox.execute_command("pwd", {"-P"}, command)).stdout_text.ends_with("/work/below\n"));
  command.cwd = "/";
  EXPECT(must(sandbox.execute_command("pwd", {"-P"}, command)).stdout_text == "/\n");
  command.cwd = "absent";
  EXPECT(!sandbox.execute_command("pwd", {"-P"}, command));
  command = {};
  command.env = {{"A=B", "x"}};
  EXPECT(sandbox.execute_command("true", {}, command).error().code == ErrorCode::kInvalidArgument);
  // More than is kept: its beginning and its end are there.
  result = must(sandbox.execute_command("echo begin; head -c 4000000 /dev/zero; echo end"));
  EXPECT(result.stdout_omitted_bytes > 1'000'000 && result.stdout_text.starts_with("begin\n"));
  EXPECT(result.stdout_text.ends_with("end\n"));
}

void streaming() {
  Sandbox sandbox = make();
  CommandOptions command;
  std::vector<std::string> pieces;
  std::string errors;
  const std::thread::id caller = std::this_thread::get_id();
  bool same_thread = true;
  command.on_stdout = [&](std::string_view bytes) {
    same_thread = same_thread && std::this_thread::get_id() == caller;
    pieces.emplace_back(bytes);
  };
  command.on_stderr = [&](std::string_view bytes) { errors += bytes; };
  // The character arrives in two halves.
  const CommandResult result =
      must(sandbox.execute_command("printf 'a\\303'; sleep 1; printf '\\251b'; echo oh >&2", {}, command));
  EXPECT(result.stdout_text == "a\303\251b" && result.stderr_text == "oh\n" && errors == "oh\n");
  EXPECT(same_thread && pieces.size() >= 2 && pieces.front() == "a");
  std::string all;
  for (const std::string& piece : pieces) all += piece;
  EXPECT(all == result.stdout_text);
}

void timeouts() {
  SandboxOptions given = options();
  given.timeout = milliseconds(700);
  Sandbox sandbox = make(std::move(given));
  CommandResult result = must(sandbox.execute_command("echo begun; sleep 300"));
  EXPECT(result.exit_code == 124 && result.timed_out && result.killed && !result.success && !result.aborted);
  EXPECT(result.stdout_text == "begun\n");
  CommandOptions command;
  command.timeout = milliseconds(500);
  result = must(sandbox.execute_command("trap '' TERM; echo deaf; while :; do sleep 1; done", {}, command));
  EXPECT(result.timed_out && result.stdout_text == "deaf\n");
  command.timeout = milliseconds(0);
  EXPECT(sandbox.execute_command("true", {}, command).error().code == ErrorCode::kInvalidArgument);
  // What spawn starts has no limit of its own.
  auto process = must(sandbox.spawn("sleep 1; echo over"));
  EXPECT(must(process.wait()).stdout_text == "over\n");
}

void abort() {
  Sandbox sandbox = make();
  std::stop_source source;
  CommandOptions command;
  command.abort = source.get_token();
  std::thread aborting;
  command.on_stdout = [&](std::string_view) {
    if (!aborting.joinable()) aborting = std::thread([&] { source.request_stop(); });
  };
  CommandResult result = must(sandbox.execute_command("echo begun; sleep 300 & wait", {}, command));
  aborting.join();
  EXPECT(result.aborted && result.killed && !result.timed_out && !result.success);
  EXPECT(result.stdout_text == "begun\n" && result.exit_code != 0);
  result = must(sandbox.execute_command("touch run", {}, command));
  EXPECT(result.aborted && !std::filesystem::exists("work/run"));
}

void processes() {
  Sandbox sandbox = make();
  EXPECT(sandbox.list().empty() && !sandbox.get("1") && !sandbox.kill("1"));
  auto cat = must(sandbox.spawn("cat"));
  EXPECT(cat.info().running && !cat.info().exit_code);
  must(cat.write_stdin("one\n"));
  wait_until([&] { return cat.output().stdout_text == "one\n"; });
  must(cat.write_stdin("two\n"));
  cat.close_stdin();
  std::string streamed;
  CommandOptions watching;
  watching.on_stdout = [&](std::string_view bytes) { streamed += bytes; };
  CommandResult result = must(cat.wait(watching));
  EXPECT(result.success && result.stdout_text == "one\ntwo\n" && streamed == "one\ntwo\n");
  EXPECT(!cat.info().running && cat.info().exit_code == 0 && !cat.kill());
  // The caller lives on.
  EXPECT(!cat.write_stdin("three\n"));
  auto deaf = must(sandbox.spawn("exec <&-; echo closed; sleep 300"));
  wait_until([&] { return deaf.output().stdout_text == "closed\n"; });
  EXPECT(!deaf.write_stdin("x"));

  auto sleeper = must(sandbox.spawn("sleep", {"300"}));
  EXPECT(sandbox.list().size() == 3 && sandbox.get(sleeper.id()));
  EXPECT(sandbox.get(sleeper.id())->info().command == (std::vector<std::string>{"sleep", "300"}));
  EXPECT(sandbox.kill(sleeper.id()));
  result = must(sleeper.wait());
  EXPECT(result.killed && !result.success && !sandbox.kill(sleeper.id()) && !sandbox.kill("nobody"));
  must(sandbox.stop());
  EXPECT(must(deaf.wait()).killed);
  must(sandbox.start());
  EXPECT(!sandbox.get(sleeper.id()));
  EXPECT(must(sandbox.spawn("true")).id() != cat.id());
}

void files() {
  Sandbox sandbox = make();
  const std::string other = "/tmp/hutch-api-" + std::to_string(::getpid());
  must(sandbox.write_files({{.path = "a/b/c.txt", .content = "deep\n"},
                            {.path = sandbox.working_directory() + "/run.sh", .content = "echo ran\n", .mode = 0755},
                            {.path = other, .content = "there"}}));
  EXPECT(must(sandbox.execute_command("cat a/b/c.txt; ./run.sh; cat " + other + "; rm " + other)).stdout_text ==
         "deep\nran\nthere");
  for (const std::string path : {"../outside", "a/../../outside", "/tmp/../x", "", "."}) {
    const auto refused =
        sandbox.write_files({{.path = "not-written", .content = ""}, {.path = path, .content = "bad"}});
    EXPECT(!refused && refused.error().code == ErrorCode::kInvalidArgument);
  }
  EXPECT(!std::filesystem::exists("work/not-written") && !std::filesystem::exists("outside"));
  must(sandbox.execute_command("ln -s ../.. link; ln -s ../outside gone"));
  EXPECT(!sandbox.write_files({{.path = "link/outside", .content = "bad"}}));
  EXPECT(!sandbox.write_files({{.path = "gone", .content = "bad"}}));
  EXPECT(!std::filesystem::exists("outside"));
  EXPECT(!sandbox.write_files({{.path = "x", .content = "", .mode = 0}}));
  EXPECT(!sandbox.write_files({{.path = "x", .content = std::string((4 << 20) + 1, 'x')}}));
  if (backend != "none") EXPECT(!sandbox.write_files({{.path = "/etc/hutch-test", .content = ""}}));
}

void threads() {
  Sandbox sandbox = make();
  std::atomic<int> fine = 0;
  std::vector<std::thread> all;
  for (int i = 0; i < 50; ++i) {
    all.emplace_back([&, i] {
      const auto result = sandbox.execute_command("echo " + std::to_string(i) + "; echo x >> /tmp/of-one-start-$PPID");
      if (result && result->success && result->stdout_text == std::to_string(i) + "\n") ++fine;
    });
  }
  for (std::thread& thread : all) thread.join();
  EXPECT(fine == 50);
  const CommandResult counted = must(sandbox.execute_command("cat /tmp/of-one-start-$PPID | wc -l"));
  EXPECT(std::atoi(counted.stdout_text.c_str()) == 50);
  must(sandbox.execute_command("rm /tmp/of-one-start-$PPID"));
}

// Starts, stops and commands at the same time: each command has a result or an error, and at last all is well.
void churn() {
  Sandbox sandbox = make();
  std::vector<std::thread> all;
  for (int i = 0; i < 6; ++i) {
    all.emplace_back([&] {
      for (int n = 0; n < 5; ++n) (void)sandbox.execute_command("true");
    });
  }
  for (int n = 0; n < 4; ++n) must(sandbox.stop());
  for (std::thread& thread : all) thread.join();
  EXPECT(must(sandbox.execute_command("echo well")).stdout_text == "well\n");
}

// A sandbox whose first process was killed by somebody: the next command starts it again.
void killed_outside() {
  Sandbox sandbox = make();
  must(sandbox.start());
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(task.path() / "children");
    for (pid_t child = 0; children >> child;) ::kill(child, SIGKILL);
  }
  wait_until([&] { return sandbox.status() != SandboxStatus::kRunning; });
  EXPECT(sandbox.status() == SandboxStatus::kError && !sandbox.get_info().error.empty());
  EXPECT(must(sandbox.execute_command("echo again")).stdout_text == "again\n");
}

void walls() {
  ::mkdir("more", 0755);
  ::mkdir("seen", 0755);
  const std::string home = std::getenv("HOME");
  std::filesystem::create_directories(home + "/.ssh");
  std::ofstream(home + "/.ssh/id_test") << "key";
  std::ofstream("seen/file") << "seen";
  SandboxOptions given = options();
  given.native_sandbox.emplace();
  given.native_sandbox->read_write_paths = {"more"};
  given.native_sandbox->read_only_paths = {"seen"};
  Sandbox sandbox = make(std::move(given));
  EXPECT(must(sandbox.execute_command("touch here ../more/there && cat ../seen/file")).stdout_text == "seen");
  EXPECT(!must(sandbox.execute_command("touch ../outside")).success && !std::filesystem::exists("outside"));
  EXPECT(!must(sandbox.execute_command("touch ../seen/new")).success);
  EXPECT(!must(sandbox.execute_command("cat " + home + "/.ssh/id_test")).success);
  EXPECT(must(sandbox.execute_command("cat /etc/passwd /proc/net/route")).success);
  EXPECT(must(sandbox.execute_command("tail -n +2 /proc/net/route")).stdout_text.empty());
  const std::string text = sandbox.get_instructions();
  EXPECT(text.contains(backend) && text.contains(sandbox.working_directory()) && text.contains("Network: none"));
  EXPECT(text.contains("Held:") && text.contains("Not held:"));

  given = options();
  given.native_sandbox.emplace();
  given.native_sandbox->allow_system_binaries = false;
  Sandbox bare = make(std::move(given));
  EXPECT(must(bare.execute_command("ls", {"/"})).exit_code == 127);
}

void seatbelt_profile() {
  const auto text = [] {
    std::ifstream in("profile.sb");
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const auto start = [](const std::string& path) {
    SandboxOptions given = options();
    given.native_sandbox.emplace();
    given.native_sandbox->seatbelt_profile_path = path;
    return make(std::move(given)).start();
  };
  EXPECT(start("profile.sb").has_value());
  EXPECT(text().starts_with("(version 1)") && text().contains("/work"));
  std::ofstream("profile.sb") << "of the caller";
  EXPECT(start("profile.sb").has_value() && text() == "of the caller");
  EXPECT(!start("work").has_value());
  EXPECT(!start("missing/profile.sb").has_value());
}

void policy() {
  SandboxOptions given = options();
  given.policy = R"({"filesystem": {"denyRead": ["secret"], "allowWrite": ["."], "denyWrite": ["fixed"]},
                     "network": {"allowedDomains": ["example.org"]}, "limits": {"timeout": "700ms"}})";
  ::mkdir("work", 0755);
  std::ofstream("work/secret") << "secret";
  std::ofstream("work/fixed") << "fixed";
  Sandbox sandbox = make(std::move(given));
  EXPECT(!must(sandbox.execute_command("cat secret")).success);
  EXPECT(!must(sandbox.execute_command("echo other > fixed")).success);
  EXPECT(must(sandbox.execute_command("cat fixed; touch new")).stdout_text == "fixed");
  CommandOptions command;
  command.timeout = std::chrono::minutes(5);
  EXPECT(must(sandbox.execute_command("sleep 300", {}, command)).timed_out);
  EXPECT(sandbox.get_instructions().contains("example.org"));
  given = options();
  given.instructions = "Do as told.";
  EXPECT(make(std::move(given)).get_instructions() == "Do as told.");
}

void questions() {
  std::mutex mutex;
  std::vector<hutch::AccessQuestion> asked;
  SandboxOptions given = options();
  given.policy = R"({"network": {"allowedDomains": [], "deniedDomains": ["denied.example"]},
                     "filesystem": {"allowWrite": ["."]}})";
  given.on_question = [&](const hutch::AccessQuestion& question) {
    const std::scoped_lock lock(mutex);
    asked.push_back(question);
    return question.host == "runs.example" ? hutch::AccessAnswer::kWhileRuns : hutch::AccessAnswer::kNo;
  };
  Sandbox sandbox = make(std::move(given));
  // sh knows no /dev/tcp.
  const auto bash = [&](const std::string& host) {
    (void)must(sandbox.execute_command("bash", {"-c", "exec 3<>/dev/tcp/" + host + "/80 && read -t 20 line <&3"}));
    const std::scoped_lock lock(mutex);
    return std::exchange(asked, {});
  };
  const auto first = bash("no.example");
  EXPECT(first.size() == 1 && first[0].kind == "connect" && first[0].host == "no.example" && first[0].port == 80);
  EXPECT(first[0].program.ends_with("bash") && first[0].process_id > 0 && first[0].rule == "default");
  EXPECT(bash("no.example").size() == 1);
  EXPECT(bash("runs.example").size() == 1);
  EXPECT(bash("runs.example").empty());
  EXPECT(bash("denied.example").empty());
  must(sandbox.stop());
  EXPECT(bash("runs.example").size() == 1);
}

void mistakes() {
  const auto code_of = [](auto change) {
    SandboxOptions given = options();
    change(given);
    const auto made = Sandbox::create(std::move(given));
    EXPECT(!made && !made.error().message.empty());
    return made.error().code;
  };
  EXPECT(code_of([](SandboxOptions& given) { given.policy = "{"; }) == ErrorCode::kInvalidArgument);
  EXPECT(code_of([](SandboxOptions& given) { given.policy = R"({"filesystem": {"denyRaed": []}})"; }) ==
         ErrorCode::kInvalidArgument);
  EXPECT(code_of([](SandboxOptions& given) {
           given.policy = "{}";
           given.native_sandbox.emplace();
         }) == ErrorCode::kInvalidArgument);
  EXPECT(code_of([](SandboxOptions& given) { given.isolation = "seatbelt"; }) == ErrorCode::kUnsupported);
  EXPECT(code_of([](SandboxOptions& given) { given.env = {{"A=", "b"}}; }) == ErrorCode::kInvalidArgument);
  EXPECT(code_of([](SandboxOptions& given) { given.timeout = milliseconds(0); }) == ErrorCode::kInvalidArgument);
  EXPECT(code_of([](SandboxOptions& given) { given.guest_program = "/nobody"; }) == ErrorCode::kNotFound);
  if (backend != "bwrap") {
    EXPECT(code_of([](SandboxOptions& given) {
             given.native_sandbox.emplace();
             given.native_sandbox->bwrap_args = {"--tmpfs", "/mnt"};
           }) == ErrorCode::kInvalidArgument);
  }
}

// What is wrong at the start is its error, and the sandbox can be asked again.
void failed_start() {
  std::ofstream("file") << "";
  SandboxOptions given = options();
  given.working_directory = "file/work";
  Sandbox sandbox = make(std::move(given));
  EXPECT(!sandbox.start() && sandbox.status() == SandboxStatus::kError && !sandbox.get_info().error.empty());
  EXPECT(!sandbox.execute_command("true"));
  std::filesystem::remove("file");
  EXPECT(must(sandbox.execute_command("true")).success && sandbox.is_ready());
}

void bwrap_arguments() {
  SandboxOptions given = options();
  given.native_sandbox.emplace();
  given.native_sandbox->bwrap_args = {"--hostname", "of-the-caller"};
  EXPECT(must(make(std::move(given)).execute_command("uname", {"-n"})).stdout_text == "of-the-caller\n");
}

void resources() {
  SandboxOptions given = options();
  Sandbox sandbox = make(std::move(given));
  must(sandbox.execute_command("head -c 8388608 /dev/zero > big"));
  auto busy = must(sandbox.spawn("while :; do :; done"));
  wait_until([&] { return sandbox.get_info().resources->cpu_percent > 1; });
  const hutch::SandboxInfo info = sandbox.get_info();
  EXPECT(info.status == SandboxStatus::kRunning && info.last_used_at && info.backend == backend);
  EXPECT(info.resources->memory_used_mb > 0.1 && info.resources->memory_mb > info.resources->memory_used_mb);
  EXPECT(info.resources->cpu_cores >= 1);
  EXPECT(info.resources->disk_used_mb >= 8 && info.resources->disk_used_mb < 64);
  EXPECT(info.resources->disk_mb > info.resources->disk_used_mb);
  // Fifty times this line's memory is not reached by chance.
  const double before = info.resources->memory_used_mb;
  auto large = must(sandbox.spawn("x=$(head -c 60000000 /dev/zero | tr '\\0' x); echo ${#x}; sleep 300"));
  wait_until([&] { return sandbox.get_info().resources->memory_used_mb > before + 50; });
  must(sandbox.stop());
  EXPECT(!sandbox.get_info().resources);
}

// A program that links the library and ends without a word: nothing of the sandbox is left.
void leave() {
  Sandbox sandbox = make();
  must(sandbox.spawn("sleep", {std::getenv("MARK")}));
  std::printf("started\n");
  std::fflush(stdout);
  if (std::getenv("HARD") != nullptr) ::kill(::getpid(), SIGKILL);
}

const std::map<std::string, void (*)()> kChecks = {
    {"lifecycle", lifecycle},
    {"results", results},
    {"streaming", streaming},
    {"timeouts", timeouts},
    {"abort", abort},
    {"processes", processes},
    {"files", files},
    {"threads", threads},
    {"churn", churn},
    {"killed_outside", killed_outside},
    {"walls", walls},
    {"policy", policy},
    {"seatbelt_profile", seatbelt_profile},
    {"questions", questions},
    {"mistakes", mistakes},
    {"failed_start", failed_start},
    {"bwrap_arguments", bwrap_arguments},
    {"resources", resources},
    {"leave", leave},
};

}  // namespace

int main(int argc, char** argv) {
  const auto check = argc == 3 ? kChecks.find(argv[1]) : kChecks.end();
  if (check == kChecks.end()) return 2;
  backend = argv[2];
  check->second();
  return 0;
}
