// What is done for an agent outside of its sandbox, and ends with it: whoever builds an image for it hears here that it
// was stopped.
#pragma once

#include <map>
#include <mutex>
#include <stop_token>
#include <string>

namespace hutch::service {

// Any thread may use it.
class AgentStops {
 public:
  // Requested when the agent is stopped, reset or removed, or when the daemon ends.
  std::stop_token of(const std::string& agent);
  void stop(const std::string& agent);
  void end_all();  // of() answers with a requested token from then on

 private:
  std::mutex mutex_;
  std::map<std::string, std::stop_source> sources_;
  bool is_over_ = false;
};

}  // namespace hutch::service
