// The questions of one run: who may answer them, and what else a program outside may say to it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/io/network.h"
#include "sandbox/questions/question_socket.h"
#include "sandbox/questions/questions.h"
#include "sandbox/run/control.h"
#include "service/common/recorder.h"
#include "service/live/live_policy.h"
#include "service/live/session_link.h"

namespace hutch::service {

class RunQuestions {
 public:
  struct Settings {
    LivePolicy policy;
    approval::DeskLimits limits;
    std::string runs;                  // the directory of the runs' sockets
    std::function<Recorder&()> record;
    sandbox::Control* control = nullptr;  // absent where nobody listens
    const sandbox::ScreenWatch* screen = nullptr;
    SessionLink session{};
  };
  explicit RunQuestions(Settings settings);

  sandbox::Questions& questions() { return questions_; }

  // What clients say is about this network from here on.
  void serve(sandbox::Network& network) { network_ = &network; }
  // The same about the host's sockets and files.
  void serve(HostSockets& sockets) { sockets_ = &sockets; }
  void serve(HostFiles& files) { files_ = &files; }
  // Other programs of this user find the run from here on. Where that cannot be, the run goes on without.
  Status open_socket(const std::vector<std::string>& command, const std::string& directory);
  // To poll(2), and what to do then; -1 where there is none.
  int fd() const { return socket_ ? socket_->fd() : -1; }
  Status step() { return socket_->step(); }
  // What went wrong with the policies, since the last call of it.
  std::vector<sandbox::Refusal> take_refusals() { return std::exchange(refusals_, {}); }

 private:
  Status take(const wire::ControlInput& input, std::string_view by, const sandbox::QuestionSocket::Tell& tell);
  Status revoke(const std::string& host, const sandbox::QuestionSocket::Tell& tell);
  Status reload(const sandbox::QuestionSocket::Tell& tell);
  void record(const approval::Desk::Closed& closed);
  bool is_granted(const approval::Question& question);
  LiveSandbox live() { return {network_, sockets_, files_, &questions_}; }

  const Settings settings_;
  sandbox::Network* network_ = nullptr;
  HostSockets* sockets_ = nullptr;
  HostFiles* files_ = nullptr;
  std::string run_;  // its id
  std::vector<sandbox::Refusal> refusals_;
  std::optional<Sessions::State> session_;  // as it was a moment ago
  approval::Moment session_at_{};
  std::unique_ptr<sandbox::QuestionSocket> socket_;
  sandbox::Questions questions_;
};

}  // namespace hutch::service
