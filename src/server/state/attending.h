// A thread that hears what an inbox is told, until whoever has it goes.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "sandbox/io/inbox.h"
#include "sys/io.h"
#include "sys/process/threads.h"

namespace hutch::server {

template <class Event>
class Attending {
 public:
  using Inbox = sandbox::Inbox<Event>;
  using Take = std::function<void(const Event& event)>;
  // Of what is there when the thread starts `begin` tells it first. Out of descriptors, or of threads, nothing is
  // heard.
  Attending(Result<std::shared_ptr<Inbox>> inbox, Take take, std::function<void()> begin = {}) {
    auto pipe = sys::pipe();
    if (!pipe || !inbox) return;
    stop_ = std::move(*pipe);
    auto thread =
        sys::start_thread([this, inbox = std::move(*inbox), take = std::move(take), begin = std::move(begin)] {
          if (begin) begin();
          listen(*inbox, take);
        });
    if (thread) thread_ = std::move(*thread);
  }
  ~Attending() {
    stop_.write.reset();
    if (thread_.joinable()) thread_.join();
  }
  Attending(const Attending&) = delete;
  Attending& operator=(const Attending&) = delete;

 private:
  void listen(Inbox& inbox, const Take& take) {
    for (;;) {
      while (const auto event = inbox.take()) take(*event);
      std::array<pollfd, 2> wait = {{{inbox.fd(), POLLIN, 0}, {stop_.read.get(), POLLIN, 0}}};
      if (!sys::poll(wait, std::nullopt) || wait[1].revents != 0) return;
    }
  }

  sys::Pipe stop_;
  std::thread thread_;
};

}  // namespace hutch::server
