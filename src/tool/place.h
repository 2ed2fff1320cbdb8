// What a tool needs of a sandbox: where things are, commands, processes, files.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/files.h"

namespace hutch::tool {

// Where things are for the agent, as its sandbox sees them; absolute and canonical.
struct Layout {
  std::string agent;
  std::string home;
  std::string shared;
  std::string output;
  std::string base;                // what a relative path begins at: the home, or the project of a coding agent
  std::vector<std::string> roots;  // what a tool's path may be in: base, home, shared, output
  std::string shell{};  // what reads sandbox_exec's command; empty: /bin/bash if it is there, else /bin/sh
  std::string path{};  // PATH of the login environment; empty: the usual directories
};

enum class User { kAgent, kRoot };
// Of a sandbox whose root is the agent's to have: with kOne all files are root's, and no user is there to become.
enum class Users { kOne, kMany };
enum class Stream { kOutput, kError };
enum class ErrorStream { kApart, kIntoOutput };

struct Command {
  std::vector<std::string> arguments;  // no shell reads them
  std::string cwd;
  std::vector<std::string> environment{};  // "K=V" each, beside the login environment of the sandbox
  std::string input{};  // all of its stdin
  std::chrono::milliseconds timeout{0};  // of the wall clock; 0: none
  User user = User::kAgent;
  ErrorStream error = ErrorStream::kApart;
  // Of a command in the background: a file that its output also goes to, if the place can; absolute, below the home.
  std::string log_file{};
  // Called with what comes, in order, while the command runs; not for commands in the background.
  std::function<void(Stream, std::string_view)> on_output{};
  // Asked to stop: its whole tree is ended, and it has ended with `killed`. For run() alone.
  std::stop_token stop{};
};

// What is kept of a stream: the first and the last MiB.
struct Kept {
  std::string head;
  std::string tail;
  std::uint64_t omitted_bytes = 0;  // between the two
  std::string whole() const { return head + tail; }
};

struct CommandEnd {
  int exit_code = 0;  // as a shell shows it; 124 after a timeout, 126, 127, 128+n
  int signal = 0;
  bool timed_out = false;
  bool killed = false;  // by request
  std::chrono::milliseconds duration{0};
  Kept output;
  Kept error;
  std::string remark{};  // why it may have failed, and the remedy
  std::vector<std::string> refusals{};  // hosts that could not be reached while it ran, with what allows them
  std::vector<std::pair<std::string, int>>
      refused_hosts{};  // those hosts; the port is 0 if only the name was asked for
};

struct ProcessState {
  std::string id;
  std::vector<std::string> arguments;
  bool running = false;
  std::optional<CommandEnd> end;  // once it has ended
  Kept output;  // so far
  Kept error;
  std::string log_file{};  // Command::log_file where the place does write it, else empty
};

class Place {
 public:
  virtual ~Place() = default;
  virtual const Layout& layout() const = 0;
  virtual Users users() const = 0;  // of one that runs

  // Waits for its end. An error is hutch's own failure (Code::kUnsupported where the sandbox has no such user,
  // Code::kTimeout where the sandbox is not up in time); a command that was not found ends with 127.
  virtual Result<CommandEnd> run(const Command& command) = 0;

  // What commands of User::kRoot changed of the sandbox's system stays, until it is reset. Where that takes a new start
  // of the sandbox, it has started anew.
  virtual Status keep_system() { return {}; }

  // Whether User::kRoot is missing only until the sandbox's owner gives it a system of its own.
  virtual bool can_get_system() const { return false; }

  // Goes on in the background, with its output kept; the id means something to this sandbox alone.
  virtual Result<std::string> spawn(const Command& command) = 0;
  virtual Result<ProcessState> poll(const std::string& id) = 0;  // Code::kNotFound
  virtual Result<ProcessState> wait(const std::string& id, std::chrono::milliseconds at_most) = 0;
  // The whole tree: `number` is SIGTERM or SIGKILL. False when it had ended already.
  virtual Result<bool> kill(const std::string& id, int number) = 0;

  // A FileFailed of the guest comes as the error.
  virtual Result<wire::FileReply> file(const wire::FileRequest& request) = 0;
};

}  // namespace hutch::tool
