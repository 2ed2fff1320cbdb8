// Times a pool of sandboxes in turn: a plain spawn, acquire from cold and from warm, exec in an acquired one.
//
//   bench_pool ROUNDS BACKEND STATIC_PROGRAM
//
// Prints "CASE NANOSECONDS" for each run. What does not end as it should ends everything: a time without the work would
// be a lie. By include/hutch alone, as whoever builds on it.
#include <hutch/container.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace {

using Clock = std::chrono::steady_clock;
using hutch::Container;
using hutch::ContainerPool;

template <class T>
T must(hutch::Expected<T> result) {
  if (!result) {
    std::fprintf(stderr, "bench_pool: %s\n", result.error().message.c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "bench_pool: %s\n", what);
  std::exit(1);
}

void spawn(const char* program) {
  const std::string word = "true";
  char* argv[] = {const_cast<char*>(program), const_cast<char*>(word.c_str()), nullptr};
  pid_t child = 0;
  check(posix_spawn(&child, program, nullptr, nullptr, argv, environ) == 0, "posix_spawn");
  int status = 0;
  waitpid(child, &status, 0);
  check(status == 0, program);
}

void exec(Container& container) {
  const auto ended = must(container.exec("true"));
  check(ended.exit_code == 0, ended.stderr_text.c_str());
}

void print(const char* name, Clock::time_point began, Clock::time_point ended) {
  const auto took = std::chrono::duration_cast<std::chrono::nanoseconds>(ended - began);
  std::printf("%s\t%lld\n", name, static_cast<long long>(took.count()));
}

// With nothing ready, and none made in advance.
void cold(ContainerPool& pool, const hutch::ContainerOpts& kind) {
  const auto began = Clock::now();
  Container container = must(pool.acquire(kind));
  print("cold", began, Clock::now());
  exec(container);
  must(pool.destroy(container));
}

// With one that is ready. What the pool makes in its place is made while this one is in use, as ever.
void warm(ContainerPool& pool, const hutch::ContainerOpts& kind) {
  must(pool.fill(kind, 1));
  const auto began = Clock::now();
  Container container = must(pool.acquire(kind));
  const auto had = Clock::now();
  exec(container);
  const auto ended = Clock::now();
  print("warm", began, had);
  print("both", began, ended);
  const auto again = Clock::now();
  exec(container);
  print("exec", again, Clock::now());
  must(pool.destroy(container));
}

}  // namespace

int main(int argc, char** argv) {
  check(argc == 4, "usage: bench_pool ROUNDS BACKEND STATIC_PROGRAM");
  const int rounds = std::atoi(argv[1]);
  const hutch::ContainerOpts kind{.backend = argv[2]};
  ContainerPool cold_pool = must(ContainerPool::create({.max = 1, .warm = 0}));
  ContainerPool warm_pool = must(ContainerPool::create({.max = 3, .warm = 1}));
  constexpr int kWarmUp = 3;
  for (int round = -kWarmUp; round < rounds; ++round) {
    if (round == 0) std::printf("begin\t0\n");
    const auto began = Clock::now();
    spawn(argv[3]);
    print("spawn", began, Clock::now());
    cold(cold_pool, kind);
    const auto hits = warm_pool.stats().hits;
    warm(warm_pool, kind);
    check(warm_pool.stats().hits == hits + 1, "the sandbox was not a warm one");
  }
  return 0;
}
