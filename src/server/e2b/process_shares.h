// How much of what all keys share whoever has one of them may take: of the processes that are followed, of sandboxes.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"

namespace hutch::server {

// A key has half of all at most; the daemon's own user, whose name is empty, may have all. Pure.
struct Share {
  std::size_t own = 0;    // that the key has
  std::size_t taken = 0;  // that there are
  std::size_t most = 0;   // that there may be
};
enum class Room { kFree, kKeyHasItsMost, kAllTaken };
Room room_of(const std::string& key, const Share& share);

// Any thread may use it.
class ProcessShares {
 public:
  explicit ProcessShares(std::size_t most) : shares_(std::make_shared<Shares>(most)) {}

  // Among those that run as long as it is held. is_full of the error where there is no more.
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

// One of those that the daemon follows for that key, by its limit of descriptors.
Result<std::shared_ptr<void>> take_process_place(const std::string& key);

}  // namespace hutch::server
