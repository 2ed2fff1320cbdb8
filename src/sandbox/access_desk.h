// What the supervisor of a sandbox's files and sockets asks, brought to those who say, and back.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "sandbox/access.h"

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
  // The sandbox's own root, for another sandbox to have; Code::kUnsupported where there is no supervisor.
  Result<UniqueFd> hand_root();
  // Whether a supervisor stood there and no call was held for it: then no file has changed on the mounts that the
  // sandbox sees read-only.
  bool has_changed_nothing() const { return supervisor_ && !supervisor_->has_started(); }
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
