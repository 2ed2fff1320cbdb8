// Events that plugins hear of.
#include "service/plugins/events.h"

#include <utility>
#include <vector>

#include "sys/process/threads.h"

namespace hutch::service {

PluginEvents::~PluginEvents() {
  std::vector<std::thread> ending;
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
    for (auto& [agent, line] : lines_) {
      line.waiting.clear();
      if (line.thread.joinable()) ending.push_back(std::move(line.thread));
    }
  }
  for (std::thread& thread : ending) thread.join();
}

bool PluginEvents::take_call(const Due& due, std::string_view& why) {
  const auto now = Clock::now();
  Rate& rate = rates_[{due.agent, due.plugin}];
  if (rate.calls == 0 || now - rate.since > std::chrono::minutes(1)) rate = {now, 0, false};
  const auto line = lines_.find(due.agent);
  if (rate.calls >= kCallsMax) {
    why = "more than 30 in a minute";
  } else if (line != lines_.end() && line->second.waiting.size() >= kWaitingMax) {
    why = "64 wait already";
  } else {
    ++rate.calls;
    return true;
  }
  if (std::exchange(rate.told, true)) why = {};
  return false;
}

void PluginEvents::add(Due due) {
  std::string_view why;
  {
    const std::scoped_lock lock(mutex_);
    if (ending_) return;
    if (take_call(due, why)) {
      Line& line = lines_[due.agent];
      const std::string agent = due.agent;
      line.waiting.push_back(std::move(due));
      if (std::exchange(line.works, true)) return;
      // The one before has said that it is done with, under the lock.
      if (line.thread.joinable()) line.thread.join();
      auto thread = sys::start_thread([this, agent] { work(agent); });
      if (thread) {
        line.thread = std::move(*thread);
        return;
      }
      line.works = false;
      due = std::move(line.waiting.back());
      line.waiting.pop_back();
      why = "there is no thread for it";
    }
  }
  if (!why.empty() && lose_) lose_(due, why);
}

void PluginEvents::work(const std::string& agent) {
  for (;;) {
    Due due;
    {
      const std::scoped_lock lock(mutex_);
      Line& line = lines_[agent];
      if (ending_ || line.waiting.empty()) {
        line.works = false;
        return;
      }
      due = std::move(line.waiting.front());
      line.waiting.pop_front();
    }
    call_(due);
  }
}

void PluginEvents::forget(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  if (const auto line = lines_.find(agent); line != lines_.end()) line->second.waiting.clear();
  std::erase_if(rates_, [&](const auto& one) { return one.first.first == agent; });
}

}  // namespace hutch::service
