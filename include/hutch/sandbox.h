// hutch as a library: a sandbox for commands that nobody has to trust. Link hutch::hutch; see docs/cpp-api.md.
#pragma once

#include <hutch/types.h>

#include <memory>

namespace hutch {

// A process of a sandbox. A copy is the same process. Any thread may use it, also once the sandbox is gone.
class HUTCH_API SandboxProcess {
 public:
  const std::string& id() const;
  ProcessInfo info() const;

  // Ends it with all that it started: TERM, a grace, KILL. False where it has ended already. Returns at once.
  bool kill();

  Expected<void> write_stdin(std::string_view bytes);
  void close_stdin();

  // Waits for its end. Output is handed on from its beginning, as far as it is kept; `abort` ends the process. The
  // options' timeout, cwd and env have no meaning here.
  Expected<CommandResult> wait(const CommandOptions& options = {});

  // What is kept so far.
  ProcessOutput output() const;

  struct HUTCH_LOCAL Impl;
  explicit SandboxProcess(std::shared_ptr<Impl> impl);

 private:
  std::shared_ptr<Impl> impl_;
};

// A sandbox: its first command starts it, a command after stop() starts it again, after destroy() there is none. Any
// thread may use it; calls at the same time share one start. Ends with its owner.
class HUTCH_API Sandbox {
 public:
  // Settles the options. Starts nothing and makes no file.
  static Expected<Sandbox> create(SandboxOptions options = {});

  Sandbox(Sandbox&& other) noexcept;
  Sandbox& operator=(Sandbox&& other) noexcept;
  ~Sandbox();

  const std::string& id() const;
  std::string_view name() const;
  std::string_view provider() const;
  const std::string& working_directory() const;  // absolute
  SandboxStatus status() const;
  bool is_ready() const;  // it runs

  // Started already is fine.
  Expected<void> start();
  // Ends everything in it and waits until it is gone. Files stay. Stopped already is fine.
  Expected<void> stop();
  // The same for good. Destroyed already is fine.
  Expected<void> destroy();

  // Without arguments `command` is a line of the shell; with arguments it is a program, and no shell is between. A
  // timeout, an abort, and a command that cannot be executed are results; an error means that nothing was run.
  Expected<CommandResult> execute_command(const std::string& command, const std::vector<std::string>& args = {},
                                          const CommandOptions& options = {});

  // As execute_command, but does not wait for its end. Its stdin stays open until it is closed. Of the options timeout,
  // cwd and env; a timeout only where one is given.
  Expected<SandboxProcess> spawn(const std::string& command, const std::vector<std::string>& args = {},
                                 const CommandOptions& options = {});
  // Those that run and the last ones that ended, in the order of their starts.
  std::vector<SandboxProcess> list() const;
  std::optional<SandboxProcess> get(const std::string& id) const;
  // False where there is none of that id, or it has ended.
  bool kill(const std::string& id);

  // Each file whole or not at all. Nothing is written where one of them is refused beforehand.
  Expected<void> write_files(const std::vector<FileInput>& files);

  SandboxInfo get_info() const;

  // What a model has to know of this sandbox: where commands run, what they reach, what is promised and what is not.
  std::string get_instructions() const;

  // The strongest backend that works on this machine. Tries it for some tens of milliseconds.
  static IsolationReport detect_isolation();

 private:
  struct HUTCH_LOCAL Impl;
  explicit Sandbox(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

HUTCH_API std::string_view to_string(SandboxStatus status);

}  // namespace hutch
