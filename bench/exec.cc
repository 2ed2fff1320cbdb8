// Times commands in a running sandbox in turn: a plain spawn, through the library, through the daemon, by MCP.
//
//   bench_exec ROUNDS STATIC_PROGRAM AGENT [CONTAINER]
//
// CONTAINER is one that runs, with STATIC_PROGRAM at /floor: `docker exec` in it is timed too.
// $HUTCH_STATE names a state directory of its own, whose daemon has AGENT with its tools on. Prints "CASE NANOSECONDS"
// for each run. What does not end as it should ends everything: a time without the work would be a lie.
#include <hutch/sandbox.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "base/text.h"
#include "client/daemon_client.h"
#include "host/machine/facts.h"
#include "sys/files/identity.h"
#include "sys/io.h"

namespace {

using hutch::cat;
using hutch::client::DaemonClient;
using hutch::client::Value;
using Clock = std::chrono::steady_clock;

template <class T>
T must(hutch::Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "bench_exec: %s\n", result.error().message.c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "bench_exec: %s\n", what);
  std::exit(1);
}

void spawn(std::vector<std::string> command) {
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  check(posix_spawnp(&child, argv.front(), nullptr, nullptr, argv.data(), environ) == 0, "posix_spawn");
  int status = 0;
  waitpid(child, &status, 0);
  check(status == 0, command.front().c_str());
}

// As whoever builds on hutch has it: include/hutch alone.
hutch::Sandbox library_sandbox() {
  auto made = hutch::Sandbox::create({.working_directory = "."});
  check(made.has_value(), made ? "" : made.error().message.c_str());
  return std::move(*made);
}

void exec_by_library(hutch::Sandbox& sandbox, const std::string& program) {
  const auto ended = sandbox.execute_command(program, {"true"});
  check(ended.has_value(), ended ? "" : ended.error().message.c_str());
  check(ended->success, "exec by the library failed");
}

// Streams go along as those of a client do.
void exec_by_daemon(DaemonClient& daemon, const std::string& agent, const std::string& program, int stream) {
  const int streams[] = {stream, stream, stream};
  must(daemon.send("exec", {{"agent", agent}, {"arguments", Value::List{program, "true"}}}, streams));
  while (must(daemon.receive()).kind != DaemonClient::Answer::Kind::kResult) {}
}

void call_tool(DaemonClient& daemon, const std::string& agent, const std::string& tool, const std::string& arguments) {
  const Value envelope =
      must(daemon.call("tool.call", {{"agent", agent}, {"tool", tool}, {"arguments", arguments}, {"turn", "t"}}));
  const auto* object = envelope.get<Value::Object>();
  const auto* good = object != nullptr ? object->at("ok").get<bool>() : nullptr;
  check(good != nullptr && *good, "a tool failed");
}

class McpClient {
 public:
  explicit McpClient(const hutch::host::StateDirs& dirs, const std::string& agent)
      : daemon_(must(DaemonClient::connect(dirs))) {
    must(daemon_.send("mcp", {{"agent", agent}}));
    ask("initialize",
        R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}})");
    must(daemon_.send_text(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"));
    must(daemon_.send_text(R"({"jsonrpc":"2.0","id":"l","method":"logging/setLevel","params":{"level":"error"}})"));
    (void)must(daemon_.receive_text());
  }

  void ask(const std::string& method, const std::string& parameters) {
    const std::string id = std::to_string(++last_id_);
    must(daemon_.send_text(
        cat({R"({"jsonrpc":"2.0","id":)", id, R"(,"method":")", method, R"(","params":)", parameters, "}"})));
    const auto answer = must(daemon_.receive_text());
    check(answer && answer->contains("\"result\"") && !answer->contains("\"isError\":true"), "an MCP call failed");
  }

 private:
  DaemonClient daemon_;
  int last_id_ = 0;
};

void time(const char* name, const std::function<void()>& work) {
  const auto began = Clock::now();
  work();
  const auto took = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - began);
  std::printf("%s\t%lld\n", name, static_cast<long long>(took.count()));
}

}  // namespace

int main(int argc, char** argv) {
  check(argc == 4 || argc == 5, "usage: bench_exec ROUNDS STATIC_PROGRAM AGENT [CONTAINER]");
  const int rounds = std::atoi(argv[1]);
  const std::string program = argv[2];
  const std::string agent = argv[3];
  const auto dirs = must(hutch::host::own_state_dirs(hutch::sys::user_id(), must(hutch::host::home_directory())));
  DaemonClient daemon = must(DaemonClient::connect(dirs));
  McpClient mcp(dirs, agent);
  // A sandbox of its own, beside that of the daemon, on the same directory.
  hutch::Sandbox library = library_sandbox();
  auto pipe = must(hutch::sys::pipe());
  const std::string content(4096, 'x');
  const std::string writing = cat({R"({"path":"bench.txt","content":")", content, "\"}"});
  const std::string by_mcp = cat({R"({"name":"sandbox_exec","arguments":{"command":")", program, R"( true"}})"});
  constexpr int kWarmUp = 5;
  for (int round = -kWarmUp; round < rounds; ++round) {
    if (round == 0) std::printf("begin\t0\n");
    time("spawn", [&] { spawn({program, "true"}); });
    time("library", [&] { exec_by_library(library, program); });
    time("daemon", [&] { exec_by_daemon(daemon, agent, program, pipe.write.get()); });
    time("mcp", [&] { mcp.ask("tools/call", by_mcp); });
    time("write", [&] { call_tool(daemon, agent, "sandbox_write_file", writing); });
    time("read", [&] { call_tool(daemon, agent, "sandbox_read_file", R"({"path":"bench.txt"})"); });
    if (argc == 5) time("docker", [&] { spawn({"docker", "exec", argv[4], "/floor", "true"}); });
  }
  return 0;
}
