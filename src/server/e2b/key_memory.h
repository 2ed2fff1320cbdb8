// How many bytes the daemon keeps in memory for whoever has one key of the E2B-compatible API.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace hutch::server {

// Any thread may use it. Whoever holds bytes may outlive it.
class KeyMemory {
 public:
  using Clock = std::chrono::steady_clock;

  explicit KeyMemory(std::uint64_t most);

  // Bytes of one key, as long as it is there. Of one thread at a time.
  class Held {
    struct Rooms;

   public:
    Held(std::shared_ptr<Rooms> rooms, std::string key) : rooms_(std::move(rooms)), key_(std::move(key)) {}
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    std::uint64_t bytes() const { return bytes_; }
    // Waits until then for what is more. As it was where there is no room: is_full of the error.
    Status resize(std::uint64_t bytes, Clock::time_point until);
    void shrink(std::uint64_t bytes);  // to no more than that

   private:
    friend class KeyMemory;
    const std::shared_ptr<Rooms> rooms_;
    const std::string key_;
    std::uint64_t bytes_ = 0;
  };
  Result<std::shared_ptr<Held>> hold(const std::string& key, std::uint64_t bytes, Clock::time_point until);

 private:
  std::shared_ptr<Held::Rooms> rooms_;
};

// What a key has had all of, so that it is told from other conflicts: clients take it for too many requests.
Error full_error(std::string message);
bool is_full(const Error& error);

}  // namespace hutch::server
