// A user of the pool of containers: `containers CHECK BACKEND` runs one check of it.
#include <hutch/container.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "check.h"

namespace {

using hutch::Container;
using hutch::ContainerOpts;
using hutch::ContainerPool;
using hutch::ContainerStatus;
using hutch::ContainerTrust;
using hutch::ErrorCode;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::string backend;

std::string said(Container container, const std::string& command, int line = __builtin_LINE()) {
  const auto result = must(container.exec(command), line);
  if (result.exit_code != 0) {
    std::fprintf(stderr, "line %d: %s: %d: %s\n", line, command.c_str(), result.exit_code, result.stderr_text.c_str());
    std::exit(1);
  }
  return result.stdout_text;
}

ContainerPool make(hutch::PoolOptions options = {}) {
  options.on_note = [](std::string_view text) {
    std::fprintf(stderr, "note: %.*s\n", static_cast<int>(text.size()), text.data());
  };
  return must(ContainerPool::create(std::move(options)));
}

ContainerOpts kind(ContainerTrust trust = ContainerTrust::kSandboxed) { return {.trust = trust, .backend = backend}; }

template <class Holds>
void wait_until(Holds holds, int line = __builtin_LINE()) {
  for (int i = 0; i < 6000; ++i) {
    if (holds()) return;
    std::this_thread::sleep_for(milliseconds(10));
  }
  std::fprintf(stderr, "line %d: it did not come\n", line);
  std::exit(1);
}

// What Augure's own interface says, with what it should have done.
void seed() {
  ContainerPool pool = make({.max = 2});
  Container one = must(pool.acquire(
      {.timeout = seconds(60), .memory = "256m", .cpu = "", .env = {{"GIVEN", "yes"}}, .backend = backend}));
  EXPECT(one.status() == ContainerStatus::kIdle);
  EXPECT(said(one, "pwd; echo $HOME; whoami; echo $GIVEN") == "/workspace\n/workspace\nsandbox\nyes\n");
  EXPECT(said(one, "ls -A /workspace | wc -l") == "0\n");
  const auto result = must(one.exec("echo out; echo err >&2; exit 3"));
  EXPECT(result.exit_code == 3 && result.stdout_text == "out\n" && result.stderr_text == "err\n");
  const auto moved = must(one.exec("mkdir -p d; cd d; pwd; echo $A $GIVEN", {.env = {{"A", "b"}, {"GIVEN", "no"}}}));
  EXPECT(moved.stdout_text == "/workspace/d\nb no\n");
  EXPECT(must(one.exec("pwd", {.cwd = "d"})).stdout_text == "/workspace/d\n");
  EXPECT(must(one.exec("head -c 9000000 /dev/zero | tr '\\0' x")).stdout_omitted_bytes > 0);
  std::jthread busy([copy = one]() mutable { must(copy.exec("touch started; sleep 1")); });
  wait_until([&] { return one.status() == ContainerStatus::kBusy; });
  busy.join();
  EXPECT(one.status() == ContainerStatus::kIdle);
  EXPECT(pool.stats().busy == 1 && pool.stats().max == 2);
  must(one.stop());
  must(one.stop());
  EXPECT(one.status() == ContainerStatus::kStopped);
  const auto over = one.exec("true");
  EXPECT(!over && over.error().code == ErrorCode::kNotReady);
}

// Partial output is kept, and the whole tree of processes is gone.
void timeout() {
  ContainerPool pool = make({.max = 1, .warm = 0});
  Container one = must(pool.acquire(kind()));
  const auto late = must(
      one.exec("echo so far; (trap '' TERM; setsid sleep 31415926) & sleep 31415926", {.timeout = milliseconds(300)}));
  EXPECT(late.timed_out && late.exit_code == 124 && late.stdout_text == "so far\n");
  must(pool.release(one));
  Container next = must(pool.acquire(kind()));  // the only place: the first one is gone by then
  EXPECT(said(next, "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c '[3]1415926' || true") == "0\n");
  const auto never = next.exec("true", {.timeout = milliseconds(0)});
  EXPECT(!never && never.error().code == ErrorCode::kInvalidArgument);
}

// Nothing of the last holder's: files, processes, variables, mounts.
void clean() {
  std::filesystem::create_directory("given");
  ContainerPool pool = make({.max = 1, .warm = 1});
  ContainerOpts mounted = kind();
  mounted.mounts = {{.host = std::filesystem::current_path() / "given", .container = "/workspace/given"}};
  mounted.env = {{"SECRET", "of the first"}};
  Container first = must(pool.acquire(mounted));
  said(first, "echo kept > given/file; cat given/file");
  said(first,
       "for d in /workspace /tmp /dev/shm /var/tmp \"$HOME\"; do echo left > $d/mark-of-first 2>/dev/null; done; true");
  said(first, "setsid sleep 27182818 >/dev/null 2>&1 & echo started");
  must(pool.release(first));
  for (const ContainerOpts& next : {kind(), mounted}) {
    Container second = must(pool.acquire(next));
    EXPECT(said(second,
                "find / -xdev -name 'mark-of-first' 2>/dev/null; find /tmp /workspace /dev/shm -name 'mark-of-*'") ==
           "");
    EXPECT(said(second, "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c '[2]7182818' || true") == "0\n");
    const bool same = !next.mounts.empty();
    EXPECT(said(second, "echo ${SECRET-unset}") == (same ? "of the first\n" : "unset\n"));
    EXPECT(said(second, "test -e given/file && echo there || echo absent") == (same ? "there\n" : "absent\n"));
    must(pool.release(second));
  }
  // A read-only mount is one.
  mounted.mounts[0].readonly = true;
  Container reader = must(pool.acquire(mounted));
  EXPECT(said(reader, "cat given/file") == "kept\n");
  EXPECT(must(reader.exec("echo more >> given/file")).exit_code != 0);
}

void mistakes() {
  ContainerPool pool = make({.max = 2, .warm = 0, .queue = 0});
  ContainerPool other = make({.max = 1, .warm = 0});
  Container one = must(pool.acquire(kind()));
  EXPECT(!other.release(one) && !other.destroy(one));
  EXPECT(pool.stats().busy == 1);
  must(pool.release(one));
  EXPECT(!pool.release(one) && !pool.destroy(one));
  Container two = must(pool.acquire(kind()));
  Container three = must(pool.acquire(kind()));
  EXPECT(!pool.release(one));
  EXPECT(pool.stats().busy == 2 && said(two, "echo works") == "works\n");
  const auto full = pool.acquire(kind());
  EXPECT(!full && full.error().message.starts_with("Pool limit reached"));
  must(pool.destroy(two));
  EXPECT(!pool.release(two));
  { Container forgotten = must(pool.acquire(kind())); }
  wait_until([&] { return pool.stats().total == 1; });
  for (const char* memory : {"0m", "512", "-1", "1.5abc", "m"}) {
    EXPECT(!pool.acquire({.memory = memory, .backend = backend}));
  }
  for (const char* cpu : {"0", "-1", "1.5abc", "x"}) EXPECT(!pool.acquire({.cpu = cpu, .backend = backend}));
  const std::map<std::string, std::string> wrong = {{"/", "/workspace"},
                                                    {"/run", "/data"},
                                                    {"/proc", "/data"},
                                                    {".", "/workspace"},
                                                    {"/usr/share", "/usr/share"},
                                                    {"/usr/bin", "/data/../etc"},
                                                    {"/usr/lib", "/"},
                                                    {"/no/such/place", "/data"}};
  for (const auto& [host, container] : wrong) {
    ContainerOpts opts = kind();
    opts.mounts = {{.host = host, .container = container}};
    EXPECT(!pool.acquire(opts));
  }
  EXPECT(!pool.acquire({.backend = "none"}) && !pool.acquire({.image = "no-such-image", .backend = "namespace"}));
  EXPECT(!hutch::ensure_image("no-such-image"));
  EXPECT(pool.stats().total == 1);
  must(pool.destroy_all());
  EXPECT(pool.stats().total == 0 && three.status() == ContainerStatus::kStopped && !pool.release(three));
  EXPECT(said(must(pool.acquire(kind())), "echo goes on") == "goes on\n");
}

// A mount of a home that holds keys is one of the keys.
void credentials() {
  const std::string home = std::getenv("HOME");
  std::filesystem::create_directories(home + "/.ssh");
  std::ofstream(home + "/.ssh/id") << "private";
  ContainerPool pool = make({.max = 1, .warm = 0});
  for (const std::string& host : {home, home + "/.ssh"}) {
    ContainerOpts opts = kind();
    opts.mounts = {{.host = host, .container = "/data"}};
    const auto refused = pool.acquire(opts);
    if (!refused) std::fprintf(stderr, "%s\n", refused.error().message.c_str());
    EXPECT(!refused && refused.error().code == ErrorCode::kPermissionDenied);
  }
  Container one = must(pool.acquire(kind()));
  EXPECT(must(one.exec("cat " + home + "/.ssh/id")).exit_code != 0);
}

// sandboxed has the loopback alone.
void trust() {
  ContainerPool pool = make({.max = 2, .warm = 1});
  Container one = must(pool.acquire(kind()));
  EXPECT(said(one, "tail -n +3 /proc/net/dev | wc -l") == "1\n");
  EXPECT(said(one, "env | grep -ci proxy || true") == "0\n");
  must(pool.release(one));
  Container two = must(pool.acquire(kind(ContainerTrust::kTrusted)));
  EXPECT(said(two, "env | grep -c '^HTTPS_PROXY=' || true") == "1\n");
}

// 1,000 cycles of 16 threads on room for 3. The caller looks at what is left.
void churn() {
  constexpr int kThreads = 16;
  const int cycles = std::getenv("CYCLES") ? std::atoi(std::getenv("CYCLES")) : 1000;
  const std::string mark = std::getenv("MARK");
  std::atomic<int> next = 0;
  std::atomic<std::size_t> most = 0;
  std::atomic<int> holders = 0;
  std::atomic<int> most_holders = 0;
  const auto raise = [](auto& top, auto value) {
    auto seen = top.load();
    while (value > seen && !top.compare_exchange_weak(seen, value)) {}
  };
  ContainerPool pool = make({.max = 3, .warm = 1, .queue = kThreads, .patience = seconds(300)});
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int cycle = next++; cycle < cycles; cycle = next++) {
          Container container = must(pool.acquire(kind()));
          raise(most_holders, ++holders);
          raise(most, pool.stats().total);
          // Whoever was here before has left its mark nowhere.
          const std::string command =
              "cat mark 2>/dev/null; echo " + std::to_string(cycle) + " > mark; sleep " + mark + " >&- 2>&- &";
          EXPECT(said(container, command) == "");
          --holders;
          must(pool.release(container));
        }
      });
    }
  }
  EXPECT(most <= 3);
  EXPECT(most_holders <= 3);
  // In a few cycles, whose starts take longer than their commands, none may ever have met another.
  EXPECT(cycles < 100 || most_holders > 1);
  const hutch::PoolStats stats = pool.stats();
  std::printf("cycles %d, at most %zu, hits %llu, waits %llu\n", cycles, most.load(),
              static_cast<unsigned long long>(stats.hits), static_cast<unsigned long long>(stats.waits));
  must(pool.destroy_all());
  EXPECT(pool.stats().total == 0);
  std::puts("over");
  std::fflush(stdout);
  std::getchar();  // until the caller has looked
}

// Ends, or is killed, with some idle and some busy.
void leave() {
  ContainerPool pool = make({.max = 3, .warm = 1});
  Container one = must(pool.acquire(kind()));
  must(pool.fill(kind(), 1));
  said(one, std::string("sleep ") + std::getenv("MARK") + " >/dev/null 2>&1 & echo started");
  std::puts("started");
  std::fflush(stdout);
  if (std::getenv("HARD")) std::abort();
}

// A build of hutch's own image, by a program that says where it works and does not end by itself.
bool is_building() {
  const std::filesystem::path top = "/var/tmp/hutch-build-" + std::to_string(getuid());
  const std::string own = "-" + std::to_string(getpid());
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(top, error)) {
    if (entry.path().string().ends_with(own) && std::filesystem::exists(entry.path() / "mmdebstrap.begun")) return true;
  }
  return false;
}

void builds() {
  ContainerPool pool = make({.max = 2});
  ContainerOpts with_image = kind();
  with_image.image = "hutch-sandbox";
  std::stop_source gives_up;
  ContainerOpts impatient = with_image;
  impatient.abort = gives_up.get_token();
  std::thread leaves([&] { EXPECT(!pool.acquire(impatient)); });
  wait_until(is_building);
  gives_up.request_stop();
  leaves.join();
  EXPECT(is_building());
  must(pool.destroy_all());
  EXPECT(!is_building());
  for (int i = 0; i < 2; ++i) {
    std::thread waits([&] {
      const auto none = pool.acquire(with_image);
      EXPECT(!none && none.error().message.find("Pool limit") == std::string::npos);
    });
    wait_until(is_building);
    must(pool.destroy_all());
    waits.join();
    EXPECT(!is_building() && pool.stats().total == 0);
  }
  std::stop_source stop;
  std::thread alone([&] {
    const auto none = hutch::ensure_image("hutch-sandbox", {}, stop.get_token());
    EXPECT(!none && none.error().message.find("interrupted") != std::string::npos);
  });
  wait_until(is_building);
  stop.request_stop();
  alone.join();
  EXPECT(!is_building());
}

const std::map<std::string, void (*)()> kChecks = {
    {"seed", seed},    {"timeout", timeout}, {"clean", clean}, {"mistakes", mistakes},
    {"trust", trust},  {"churn", churn},     {"leave", leave}, {"credentials", credentials},
    {"builds", builds}};

}  // namespace

int main(int argc, char** argv) {
  const auto check = argc == 3 ? kChecks.find(argv[1]) : kChecks.end();
  if (check == kChecks.end()) {
    std::fprintf(stderr, "usage: containers CHECK BACKEND\n");
    return 2;
  }
  backend = argv[2];
  check->second();
  return 0;
}
