// The caller's function that answers the questions of its sandbox, on a thread of its own.
#pragma once

#include <hutch/question.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "sandbox/questions/audience.h"

namespace hutch::api {

class DeciderThread : public sandbox::Audience {
 public:
  // `give` takes an answer back to the sandbox.
  using Give = std::function<void(const wire::ControlAnswer& answer)>;
  DeciderThread(Decider decide, Give give);
  ~DeciderThread() override { stop(); }

  // Waits for the caller's function where that runs; it is not called any more.
  void stop();

  bool is_attached() const override { return true; }
  void asked(const wire::ControlQuestion& question) override;
  void answered(const approval::Desk::Closed& closed) override;

 private:
  void serve();
  AccessAnswer decide(const wire::ControlQuestion& question) const;

  const Decider decide_;
  const Give give_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<wire::ControlQuestion> waiting_;
  bool stopped_ = false;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace hutch::api
