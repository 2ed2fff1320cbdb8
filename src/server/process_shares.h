// How many processes may be followed at once, and how many of them whoever has one key.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"

namespace hutch::server {

// Any thread may use it.
class ProcessShares {
 public:
  explicit ProcessShares(std::size_t most) : shares_(std::make_shared<Shares>(most)) {}

  // Among those that run as long as it is held. A key has half of all at most; the daemon's own user, whose name is
  // empty, may have all. Code::kConflict where there is no more.
  Result<std::shared_ptr<void>> take(const std::string& key);

 private:
  struct Shares {
    explicit Shares(std::size_t all) : most(all) {}
    const std::size_t most;
    std::mutex mutex;
    std::size_t taken = 0;
    std::map<std::string, std::size_t> by_key;  // none is zero
  };
  std::shared_ptr<Shares> shares_;
};

}  // namespace hutch::server
