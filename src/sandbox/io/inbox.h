// A bounded queue from any thread to one that polls a descriptor.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "sys/event.h"

namespace hutch::sandbox {

template <class Item>
class Inbox {
 public:
  static Result<std::shared_ptr<Inbox>> make(std::size_t items_max) {
    return std::make_shared<Inbox>(TRY(sys::Event::make()), items_max);
  }
  Inbox(sys::Event event, std::size_t items_max) : event_(std::move(event)), items_max_(items_max) {}

  // Does not wait. What does not fit any more is lost, and said to be: see `overflowed`.
  void add(Item item) {
    const std::scoped_lock lock(mutex_);
    if (items_.size() >= items_max_) {
      overflowed_ = true;
    } else {
      items_.push_back(std::move(item));
    }
    event_.signal();
  }

  // Readable while there is something to take.
  int fd() const { return event_.fd(); }

  std::optional<Item> take() {
    const std::scoped_lock lock(mutex_);
    if (items_.empty()) {
      event_.clear();
      return std::nullopt;
    }
    Item item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

  bool overflowed() const {
    const std::scoped_lock lock(mutex_);
    return overflowed_;
  }

 private:
  const sys::Event event_;
  const std::size_t items_max_;
  mutable std::mutex mutex_;
  std::deque<Item> items_;
  bool overflowed_ = false;
};

}  // namespace hutch::sandbox
