// What the supervisor of a sandbox's files and sockets asks, brought to those who say, and back.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "sandbox/run/access.h"

namespace hutch::sandbox {

// All of it on the thread that keeps the sandbox.
class AccessDesk {
 public:
  struct Settings {
    AccessRules rules;           // of a plan that has a supervisor
    JudgeSocket judge_socket{};  // absent: none of the host's is connected to
    FileJudge files{};
    std::function<void(const Refusal& refusal)> tell;
    AccessSupervisor::TellGuest tell_guest;
    AccessSupervisor::BeforeChange before_change{};
  };
  explicit AccessDesk(Settings settings) : settings_(std::move(settings)) {}

  // `descriptors` came with wire::Supervise.
  Status start(std::vector<UniqueFd> descriptors);
  void stop() { supervisor_.reset(); }

  // To poll(2) for reading; -1 where there is none.
  int fd() const { return supervisor_ ? supervisor_->fd() : -1; }
  void hear();  // what there is by now
  void command_begins() const {
    if (settings_.files.command_begins) settings_.files.command_begins();
  }
  // Settles the files that a command wrote, and reports what was refused; call it once the command has ended.
  void settle();
  // Settles, and announces the next change by `before_change` again; a leftover process could change files unseen
  // meanwhile, so that go_on() has to follow if there is one.
  void park();
  void go_on() {
    if (supervisor_) supervisor_->go_on();
  }
  bool is_parked() const { return supervisor_ && supervisor_->is_parked(); }
  // The sandbox's own root, for another sandbox to have; Code::kUnsupported where there is no supervisor.
  Result<UniqueFd> hand_root();
  Result<JoinedNamespaces> hand_namespaces() const;  // as AccessSupervisor has them; likewise
  // Until step() has something to do.
  std::optional<std::chrono::milliseconds> time_left() const;
  void step();

 private:
  void judge(const SocketRequest& request);
  void judge(const FileRequest& request);

  Settings settings_;
  std::shared_ptr<AccessSupervisor> supervisor_;
};

}  // namespace hutch::sandbox
