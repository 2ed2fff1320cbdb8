// The caller's function that answers the questions of its sandbox.
#include "api/decider.h"

#include <algorithm>

#include "sys/process/signals.h"

namespace hutch::api {

namespace {

wire::ControlAnswer answer_of(const std::string& id, AccessAnswer answer) {
  const auto choice = [&]() -> approval::Answer {
    switch (answer) {
      case AccessAnswer::kOnce: return approval::Answer::kOnce;
      case AccessAnswer::kWhileRuns: return approval::Answer::kSession;
      case AccessAnswer::kNo: break;
    }
    return approval::Answer::kAbort;
  };
  return {id, std::string(approval::name_of(choice())), std::nullopt};
}

}  // namespace

DeciderThread::DeciderThread(Decider decide, Give give)
    : decide_(std::move(decide)), give_(std::move(give)), thread_([this] { serve(); }) {}

void DeciderThread::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void DeciderThread::asked(const wire::ControlQuestion& question) {
  {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(question);
  }
  changed_.notify_all();
}

// One whose time was over before its turn is not asked.
void DeciderThread::answered(const approval::Desk::Closed& closed) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(waiting_, [&](const auto& question) { return question.id == std::to_string(closed.id); });
}

void DeciderThread::serve() {
  (void)sys::block_all_signals();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopped_ || !waiting_.empty(); });
    if (stopped_) return;
    const wire::ControlQuestion question = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    give_(answer_of(question.id, decide(question)));
    lock.lock();
  }
}

AccessAnswer DeciderThread::decide(const wire::ControlQuestion& question) const {
  return decide_({.kind = question.kind,
                  .host = question.host,
                  .port = question.port,
                  .process_id = question.pid,
                  .program = question.program,
                  .chain = question.chain,
                  .rule = question.rule});
}

}  // namespace hutch::api
