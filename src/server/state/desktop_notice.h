// Tells the person's desktop what an agent has made, by notify-send(1).
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "server/protocol/workers.h"

namespace hutch::server {

// Any thread may use it. Nobody waits for a desktop: without notify-send or a session bus nothing happens, and what is
// told while a notice is on its way, or right after it, is not shown. Clients of the event stream hear of all.
class DesktopNotice {
 public:
  explicit DesktopNotice(Workers& workers) : workers_(workers) {}
  // Both are names that hutch has checked, not texts of the sandbox's.
  void plugin_made(const std::string& agent, const std::string& plugin);

 private:
  bool take_turn();

  Workers& workers_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point next_{};
};

// As notify-send takes them: a summary, and a body in which it would read markup.
struct NoticeText {
  std::string summary;
  std::string body;
};
NoticeText plugin_notice(const std::string& agent, const std::string& plugin);
// For a person's terminal.
std::string plugin_line(const std::string& agent, const std::string& plugin);

}  // namespace hutch::server
