// A sandbox for root of an agent's image, as long as somebody has it.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "sandbox/resident/resident.h"
#include "service/live/kept_sandbox.h"

namespace hutch::service {

class Installation {
 public:
  // `turn` is held as long.
  Installation(std::unique_lock<std::timed_mutex> turn, KeptSandbox& kept, std::shared_ptr<sandbox::Resident> resident)
      : turn_(std::move(turn)), kept_(&kept), resident_(std::move(resident)) {}
  Installation(Installation&& other) noexcept
      : turn_(std::move(other.turn_)),
        kept_(std::exchange(other.kept_, nullptr)),
        resident_(std::move(other.resident_)) {}
  Installation& operator=(Installation&&) = delete;
  // What its commands have left running ends.
  ~Installation() {
    if (kept_ != nullptr) kept_->stop();
  }

  const std::shared_ptr<sandbox::Resident>& resident() const { return resident_; }
  KeptSandbox::Terms terms() const { return kept_->terms(); }

 private:
  std::unique_lock<std::timed_mutex> turn_;
  KeptSandbox* kept_;
  std::shared_ptr<sandbox::Resident> resident_;
};

}  // namespace hutch::service
