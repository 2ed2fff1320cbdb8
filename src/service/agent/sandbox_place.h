// A tool's place, by an agent's sandbox.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "service/agent/sandbox.h"
#include "tool/place.h"

namespace hutch::service {

// How a process ended, as a tool tells it: what it printed is scrubbed.
tool::CommandEnd command_end(const sandbox::Process& process, const sandbox::ProcessEnd& end,
                             const secret::Scrubber& scrubber);

// Hands on what comes until the process has ended.
void follow_output(const sandbox::Process& process,
                   const std::function<void(tool::Stream, std::string_view)>& on_output);

// Waits for the end of a command's process; `command.stop` ends it. What it prints is scrubbed.
Result<tool::CommandEnd> await_command(const tool::Command& command, const std::shared_ptr<sandbox::Process>& process,
                                       const std::shared_ptr<sandbox::Resident>& resident, GivenSecrets& secrets);

class SandboxPlace final : public tool::Place {
 public:
  // Where the sandbox does not run it is started, for which a command waits as long as it may run itself, and all else
  // for `patience`; no longer than until `stop`.
  SandboxPlace(AgentSandbox& agent, std::chrono::milliseconds patience, std::stop_token stop)
      : agent_(agent), patience_(patience), stop_(std::move(stop)) {}

  // Whether something failed since the sandbox is starting still.
  bool was_starting() const { return was_starting_; }

  const tool::Layout& layout() const override { return agent_.layout(); }
  tool::Users users() const override { return agent_.users(); }
  Result<tool::CommandEnd> run(const tool::Command& command) override;
  Status keep_system() override;
  bool can_get_system() const override;
  Result<std::string> spawn(const tool::Command& command) override;
  Result<tool::ProcessState> poll(const std::string& id) override;
  Result<tool::ProcessState> wait(const std::string& id, std::chrono::milliseconds at_most) override;
  Result<bool> kill(const std::string& id, int number) override;
  Result<wire::FileReply> file(const wire::FileRequest& request) override;

 private:
  Result<std::shared_ptr<sandbox::Process>> start(const tool::Command& command);
  Result<tool::CommandEnd> run_as_root(const tool::Command& command);
  Result<std::shared_ptr<sandbox::Process>> find(const std::string& id);

  Status await_start(std::chrono::milliseconds patience);

  AgentSandbox& agent_;
  const std::chrono::milliseconds patience_;
  const std::stop_token stop_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  bool was_starting_ = false;
  std::optional<Installation> installation_;  // one for all that root does in a call
  std::optional<Error> start_error_;  // one start for a call: one that failed, or was stopped, is not tried again
};

}  // namespace hutch::service
