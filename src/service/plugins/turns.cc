// Turns at the plugins of one agent.
#include "service/plugins/turns.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace hutch::service {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTurnSlice{100};

}  // namespace

Result<PluginTurns::Turn> PluginTurns::take(const std::string& agent, milliseconds patience,
                                            const std::stop_token& stop) {
  std::shared_ptr<std::timed_mutex> mutex;
  {
    const std::scoped_lock lock(mutex_);
    auto& known = turns_[agent];
    if (!known) known = std::make_shared<std::timed_mutex>();
    mutex = known;
  }
  Turn turn(std::move(mutex));
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
    if (turn.try_for(std::clamp(left, milliseconds(0), kTurnSlice))) return turn;
    if (stop.stop_requested()) return fail({Code::kTimeout, 0, "it was cancelled"});
    if (left > milliseconds(0)) continue;
    return fail({Code::kConflict, 0,
                 cat({"another installation of a plugin of agent ", agent,
                      " is under way; wait for its end, or cancel "
                      "it, and try again"})});
  }
}

}  // namespace hutch::service
