// Values of hutch's C++ API: options, results, errors. Needs the standard library alone.
#pragma once

#include <hutch/question.h>

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#define HUTCH_API __attribute__((visibility("default")))
#define HUTCH_LOCAL __attribute__((visibility("hidden")))

namespace hutch {

enum class ErrorCode {
  kInvalidArgument,
  kNotFound,
  kPermissionDenied,
  kConflict,
  kUnsupported,  // this machine, or the backend, cannot do it; the message names the remedy
  kTimeout,
  kNotReady,     // the sandbox was destroyed
  kSystem,       // a call failed; system_error is its errno
};

struct SandboxError {
  ErrorCode code = ErrorCode::kSystem;
  int system_error = 0;
  std::string message;  // one line, for a person
};

template <class T>
using Expected = std::expected<T, SandboxError>;

using OutputCallback = std::function<void(std::string_view bytes)>;

// The simple way to say what a sandbox may do. All files can be read but credentials (keys, tokens, wallets of the home
// directory); the working directory can be written.
struct NativeSandbox {
  bool allow_network = false;  // true: everything but this machine and private addresses
  std::vector<std::string> read_only_paths{};  // readable even where a credential would be hidden
  std::vector<std::string> read_write_paths{};  // writable besides the working directory
  bool allow_system_binaries = true;  // false hides /bin, /usr/bin, /usr/local/bin, /opt and the like
  std::vector<std::string> bwrap_args{};  // behind hutch's own arguments; with isolation "bwrap" alone
  // A profile for macOS's sandbox-exec: a file that is there stays, else start writes these rules, without network.
  std::string seatbelt_profile_path{};
};

struct SandboxOptions {
  std::string id{};  // empty: one is made up
  std::string working_directory{};  // made by start; relative to the caller's directory. Empty: ".sandbox"
  std::map<std::string, std::string> env{};  // of every command, besides PATH, which is the caller's
  std::optional<std::chrono::milliseconds> timeout{};  // of a command that names none
  std::string isolation{};  // "namespace", "bwrap" or "none"; empty: the policy's, else "namespace"
  std::optional<NativeSandbox> native_sandbox{};  // absent, without a policy: as one with its defaults
  std::optional<std::string> policy{};  // JSON, as in docs/policy.md; not together with native_sandbox
  std::optional<std::string> instructions{};  // what get_instructions() says instead of its own text
  std::string guest_program{};  // the path of hutch-guest; empty: where it is installed
  std::function<void(std::string_view line)>
      on_note{};  // what a person should know of a start or a refusal; any thread
  Decider on_question{};  // answers what no rule of the policy knows; absent: the answer is no
};

struct CommandOptions {
  std::optional<std::chrono::milliseconds> timeout{};  // absent: the sandbox's
  std::string cwd{};  // relative to the working directory
  std::map<std::string, std::string> env{};  // besides the sandbox's
  OutputCallback on_stdout{};  // on the calling thread, as output comes; UTF-8 characters stay whole
  OutputCallback on_stderr{};
  std::stop_token abort{};  // a request ends the command with all that it started
};

// `stdout` and `stderr` are macros of <cstdio>, hence the longer names.
struct CommandResult {
  bool success = false;  // it ended by itself, with exit code 0
  int exit_code = 0;  // as a shell shows it: 124 timeout, 126 cannot execute, 127 not found, 128+n signal n
  std::string stdout_text;  // beyond 2 MiB the first and the last 1 MiB, with a line that says what is missing between
  std::string stderr_text;
  std::uint64_t stdout_omitted_bytes = 0;
  std::uint64_t stderr_omitted_bytes = 0;
  std::int64_t execution_time_ms = 0;
  bool timed_out = false;  // what was written until then is here
  bool killed = false;  // hutch ended it: timeout, abort, kill, or the end of the sandbox
  bool aborted = false;  // by CommandOptions::abort
};

struct ProcessInfo {
  std::string id;
  std::vector<std::string> command;
  bool running = false;
  std::optional<int> exit_code;  // absent while it runs
};

struct ProcessOutput {
  std::string stdout_text;
  std::string stderr_text;
  std::uint64_t stdout_omitted_bytes = 0;
  std::uint64_t stderr_omitted_bytes = 0;
};

struct FileInput {
  std::string path{};  // relative to the working directory, or absolute as the sandbox sees it; ".." is refused
  std::string content{};  // at most 4 MiB
  std::optional<unsigned> mode{};  // 0001 to 0777; absent: that of the file that is there, else 0644
};

enum class SandboxStatus { kPending, kStarting, kRunning, kStopping, kStopped, kError, kDestroyed };

struct SandboxResources {
  double memory_mb = 0;  // allowed: the limit, else what the machine has. 1 MB is 1 MiB
  double memory_used_mb = 0;
  double cpu_cores = 0;  // allowed
  double cpu_percent = 0;  // since the last time that it was asked; 100 is one processor
  double disk_mb = 0;  // of the working directory: what it takes, and what is left for it
  double disk_used_mb = 0;
};

struct SandboxInfo {
  std::string id;
  std::string name;
  std::string provider;
  SandboxStatus status = SandboxStatus::kPending;
  std::string error;  // why, with kError
  std::string working_directory;
  std::string backend;
  std::chrono::system_clock::time_point created_at;
  std::optional<std::chrono::system_clock::time_point> last_used_at;
  std::optional<SandboxResources> resources;  // while it runs
};

struct IsolationReport {
  std::string backend;  // the strongest that works here, or "none"
  bool available = false;  // false: nothing isolates on this machine
  std::string message;  // where it is not: why, and what to do
};

}  // namespace hutch
