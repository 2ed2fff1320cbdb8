// The end of a process that draws for nobody.
#include "tui/unread_watch.h"

#include <poll.h>

#include <array>
#include <chrono>
#include <csignal>
#include <optional>
#include <utility>

#include "sys/io.h"
#include "sys/process/signals.h"
#include "sys/process/threads.h"
#include "sys/terminal.h"

namespace hutch::tui {

namespace {

using WatchClock = std::chrono::steady_clock;

constexpr int kDrawnOn = 1;
constexpr std::chrono::milliseconds kLook{200};
// A slow terminal may take so long for a screen.
constexpr std::chrono::milliseconds kDrawingMax{2000};

}  // namespace

Result<std::unique_ptr<UnreadWatch>> UnreadWatch::begin(int signals) {
  auto made = std::make_unique<UnreadWatch>(signals, TRY(sys::terminal_modes(kDrawnOn)), TRY(sys::Event::make()));
  made->thread_ = TRY(sys::start_thread([&kept = *made] { kept.watch(); }));
  return made;
}

UnreadWatch::UnreadWatch(int signals, std::string modes, sys::Event over)
    : signals_(signals), modes_(std::move(modes)), over_(std::move(over)) {}

UnreadWatch::~UnreadWatch() {
  over_.signal();
  if (thread_.joinable()) thread_.join();
}

void UnreadWatch::watch() const {
  std::optional<WatchClock::time_point> told;
  for (bool has_signal = false;;) {
    std::array<pollfd, 2> wait = {{{over_.fd(), POLLIN, 0}, {has_signal ? -1 : signals_, POLLIN, 0}}};
    if (!sys::poll(wait, has_signal ? std::optional(kLook) : std::nullopt) || wait[0].revents != 0) return;
    // A signal that nobody takes is looked at now and then.
    has_signal = wait[1].revents != 0 || told;
    if (!sys::is_told_to_end() || at_work_) {
      told.reset();
    } else if (!told) {
      told = WatchClock::now();
    } else if (WatchClock::now() - *told > kDrawingMax) {
      return end();
    }
  }
}

// Not a byte more is written: it would wait as well.
void UnreadWatch::end() const {
  (void)sys::set_terminal_modes(kDrawnOn, modes_);
  const auto signal = sys::next_signal(signals_);
  sys::end_by(signal && *signal ? (*signal)->signal : SIGTERM);
}

}  // namespace hutch::tui
