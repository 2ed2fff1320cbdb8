// The Unix sockets of the host that one sandbox may connect to: what the policy opens, and what somebody answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "policy/network/sockets.h"
#include "policy/policy.h"
#include "policy/rules.h"
#include "sandbox/questions/questions.h"
#include "sandbox/run/access.h"

namespace hutch::service {

// What would become of a connection to a socket.
struct SocketJudgement {
  std::string path;  // canonical
  policy::SocketDecision decision;
};

// `path` is canonical. A rule about files closes a socket where it hides a credential, or hutch's own files.
SocketJudgement judge_socket(const policy::Network& network, const policy::Asks& asks,
                             const std::vector<policy::Rule>& rules, const std::string& path);

// All of it on the thread that keeps the sandbox.
class HostSockets {
 public:
  // The sandbox's own socket to hutch, by the name that it has there, and on the host; empty: it has none.
  struct Bridge {
    std::string inside{};
    std::string on_host{};
  };
  struct Settings {
    policy::Network network;  // settled
    policy::Asks asks;
    std::vector<policy::Rule> rules;  // of files
    sandbox::Questions* questions = nullptr;  // where somebody may be asked
    Bridge bridge{};
  };
  explicit HostSockets(Settings settings);
  ~HostSockets();
  HostSockets(const HostSockets&) = delete;
  HostSockets& operator=(const HostSockets&) = delete;

  void judge(const sandbox::SocketRequest& request, const sandbox::SettleSocket& settle);
  // The policy has changed. What answers saved is the policy's from here on.
  void replace(const policy::Network& network, const policy::Asks& asks);
  // Whether a rule opens it, without an answer.
  policy::SocketVerdict verdict(const std::string& path) const;
  // What answers opened is closed again; the connections that are there stay. How many answers it was.
  std::size_t revoke(const std::string& path);

 private:
  using Clock = std::chrono::steady_clock;
  struct Grant {
    std::optional<Clock::time_point> until;
    bool saved = false;
  };
  bool is_granted(const std::string& path);
  sandbox::SocketAnswer refuse(const sandbox::SocketRequest& request, const std::string& path,
                               const policy::SocketDecision& decision);
  void ask(const sandbox::SocketRequest& request, std::string path, UniqueFd file, const sandbox::SettleSocket& settle);
  void take(const std::string& path, const approval::Effect& effect);

  Settings settings_;
  std::map<std::string, Grant> granted_;
  std::set<std::string> told_;  // the sockets whose refusal was told
  std::shared_ptr<HostSockets*> self_;  // null once this has gone: an answer may come later
};

}  // namespace hutch::service
