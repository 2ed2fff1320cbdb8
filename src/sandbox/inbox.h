// A bounded queue from any thread to one that polls a descriptor.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sys/io.h"

namespace hutch::sandbox {

template <class Item>
class Inbox {
 public:
  static Result<std::shared_ptr<Inbox>> make(std::size_t items_max) {
    sys::Pipe ends = TRY(sys::pipe());
    TRY(sys::set_nonblocking(ends.read.get()));
    TRY(sys::set_nonblocking(ends.write.get()));
    return std::make_shared<Inbox>(std::move(ends), items_max);
  }
  Inbox(sys::Pipe ends, std::size_t items_max) : ends_(std::move(ends)), items_max_(items_max) {}

  // Does not wait. What does not fit any more is lost, and said to be: see `overflowed`.
  void add(Item item) {
    const std::scoped_lock lock(mutex_);
    if (items_.size() >= items_max_) {
      overflowed_ = true;
    } else {
      items_.push_back(std::move(item));
    }
    (void)sys::write_some(ends_.write.get(), "x");
  }

  // Readable while there is something to take.
  int fd() const { return ends_.read.get(); }

  std::optional<Item> take() {
    const std::scoped_lock lock(mutex_);
    if (items_.empty()) {
      char bytes[256];
      (void)sys::read_some(ends_.read.get(), bytes);
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
  const sys::Pipe ends_;
  const std::size_t items_max_;
  mutable std::mutex mutex_;
  std::deque<Item> items_;
  bool overflowed_ = false;
};

}  // namespace hutch::sandbox
