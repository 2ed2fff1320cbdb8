// A tour of the C++ API: starts a sandbox, has work done in it, and shows what it may not do.
#include <hutch/sandbox.h>

#include <cstdio>
#include <string>

namespace {

// Tells why and is the program's exit code.
int failed(const char* what, const hutch::SandboxError& error) {
  std::fprintf(stderr, "%s: %s\n", what, error.message.c_str());
  return 1;
}

void print_info(const hutch::SandboxInfo& info) {
  std::printf("sandbox %s: %s, backend %s\n", info.id.c_str(), std::string(to_string(info.status)).c_str(),
              info.backend.c_str());
  if (!info.resources) return;
  std::printf("memory %.1f of %.0f MB, cpu %.0f %% of %.1f cores, disk %.1f of %.0f MB\n",
              info.resources->memory_used_mb, info.resources->memory_mb, info.resources->cpu_percent,
              info.resources->cpu_cores, info.resources->disk_used_mb, info.resources->disk_mb);
}

}  // namespace

int main() {
  const hutch::IsolationReport isolation = hutch::Sandbox::detect_isolation();
  std::printf("isolation: %s\n", isolation.message.c_str());
  if (!isolation.available) return 1;

  // Works in .sandbox below the current directory, reads all but credentials, has no network.
  auto sandbox = hutch::Sandbox::create({.id = "example", .isolation = isolation.backend});
  if (!sandbox) return failed("create", sandbox.error());

  const auto written = sandbox->write_files({
      {.path = "src/numbers.txt", .content = "3\n1\n2\n"},
      {.path = "count.sh", .content = "for i in 1 2 3; do echo line $i; done\n", .mode = 0755},
  });
  if (!written) return failed("write_files", written.error());

  // With arguments no shell is between; without any, the line is the shell's.
  const auto sorted = sandbox->execute_command("sort", {"-n", "src/numbers.txt"});
  if (!sorted) return failed("sort", sorted.error());
  std::printf("sorted: %s", sorted->stdout_text.c_str());

  hutch::CommandOptions streaming;
  streaming.on_stdout = [](std::string_view bytes) {
    std::printf("came: %.*s", static_cast<int>(bytes.size()), bytes.data());
  };
  const auto streamed = sandbox->execute_command("sh count.sh", {}, streaming);
  if (!streamed) return failed("count.sh", streamed.error());

  // Outside of its directory it writes nothing.
  const auto denied = sandbox->execute_command("touch ../outside");
  if (!denied) return failed("touch", denied.error());
  std::printf("a write outside: exit code %d: %s", denied->exit_code, denied->stderr_text.c_str());
  if (denied->success) return 1;

  print_info(sandbox->get_info());
  std::printf("%s", sandbox->get_instructions().c_str());
  if (const auto destroyed = sandbox->destroy(); !destroyed) return failed("destroy", destroyed.error());
  return 0;
}
