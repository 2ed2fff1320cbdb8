// What an agent's connections to the bridge have of the daemon, all of its sandboxes together.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace hutch::service {

// Any thread may use it. It outlives what it hands out.
class BridgeShares {
 public:
  using Clock = std::chrono::steady_clock;
  // So much more of it, until the share is dropped; null: it would be more than `most`.
  std::shared_ptr<void> take(const std::string& agent, const std::string& what, std::size_t amount, std::size_t most);

  struct Rate {
    std::size_t most = 0;
    Clock::duration within{};
  };
  // Counts a use, in spans one after the other; false where there were as many as may be.
  bool count(const std::string& agent, const std::string& what, const Rate& rate, Clock::time_point now);
  void forget(const std::string& agent);  // its uses

 private:
  using Of = std::pair<std::string, std::string>;  // the agent, and what
  struct Uses {
    Clock::time_point since{};
    std::size_t count = 0;
  };
  void give_back(const Of& of, std::size_t amount);

  std::mutex mutex_;
  std::map<Of, std::size_t> taken_;
  std::map<Of, Uses> uses_;
};

}  // namespace hutch::service
