// A tool's place, by an agent's sandbox.
#pragma once

#include <memory>
#include <string>

#include "service/agent_sandbox.h"
#include "tool/place.h"

namespace hutch::service {

class SandboxPlace final : public tool::Place {
 public:
  explicit SandboxPlace(AgentSandbox& agent) : agent_(agent) {}

  const tool::Layout& layout() const override { return agent_.layout(); }
  Result<tool::CommandEnd> run(const tool::Command& command) override;
  Result<std::string> spawn(const tool::Command& command) override;
  Result<tool::ProcessState> poll(const std::string& id) override;
  Result<tool::ProcessState> wait(const std::string& id, std::chrono::milliseconds at_most) override;
  Result<bool> kill(const std::string& id, int number) override;
  Result<wire::FileReply> file(const wire::FileRequest& request) override;

 private:
  Result<std::shared_ptr<sandbox::Process>> start(const tool::Command& command);
  Result<std::shared_ptr<sandbox::Process>> find(const std::string& id);

  AgentSandbox& agent_;
};

}  // namespace hutch::service
