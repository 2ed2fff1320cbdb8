// The wizard on a terminal.
#include "tui/wizard_loop.h"

#include <csignal>
#include <memory>
#include <optional>

#include "sys/io.h"
#include "sys/process/signals.h"
#include "tui/draw.h"
#include "tui/terminal_screen.h"
#include "tui/unread_watch.h"

namespace hutch::tui {

namespace {

class Loop {
 public:
  Loop(const Outside& outside, TerminalScreen& screen, int signals, UnreadWatch& unread)
      : outside_(outside), screen_(screen), signals_(signals), unread_(unread), wizard_(outside.overview()) {}

  // Absent: a signal came, which is `signal`.
  Result<std::optional<WizardEnd>> run(int& signal);

 private:
  std::optional<WizardEnd> carry_out(const Deed& deed);
  std::optional<WizardEnd> toggle();
  void open(policy::Scope scope);
  void save(policy::Scope scope);

  const Outside& outside_;
  TerminalScreen& screen_;
  int signals_;
  UnreadWatch& unread_;
  Wizard wizard_;
};

}  // namespace

Result<WizardEnd> run_wizard(const Outside& outside) {
  // Before ncurses, which would have handlers of its own for those that have none.
  const UniqueFd signals = TRY(sys::signal_descriptor({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH}));
  const std::unique_ptr<UnreadWatch> unread = TRY(UnreadWatch::begin(signals.get()));
  int signal = 0;
  {
    const std::unique_ptr<TerminalScreen> screen = TRY(TerminalScreen::open());
    const auto end = TRY(Loop(outside, *screen, signals.get(), *unread).run(signal));
    if (end) return *end;
    // What gives the terminal back may wait for a reader.
    sys::keep_told(signal);
  }
  sys::end_by(signal);
  return WizardEnd::kInterrupted;
}

namespace {

Result<std::optional<WizardEnd>> Loop::run(int& signal) {
  screen_.show(draw(wizard_, screen_.surface()));
  while (true) {
    pollfd ready[] = {{0, POLLIN, 0}, {signals_, POLLIN, 0}};
    TRY(sys::poll(ready, std::nullopt));
    while (const auto arrived = TRY(sys::next_signal(signals_))) {
      if (arrived->signal != SIGWINCH) {
        signal = arrived->signal;
        return std::optional<WizardEnd>();
      }
      screen_.resize();
    }
    while (const auto event = screen_.read()) {
      const auto deed = wizard_.press(*event);
      const auto end = deed ? carry_out(*deed) : std::nullopt;
      if (end) return end;
    }
    // The terminal is gone: nobody is there to save for.
    if ((ready[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) return std::optional(WizardEnd::kInterrupted);
    screen_.show(draw(wizard_, screen_.surface()));
  }
}

std::optional<WizardEnd> Loop::carry_out(const Deed& deed) {
  const UnreadWatch::Deed at_work(unread_);
  switch (deed.kind) {
    case DeedKind::kToggle: return toggle();
    case DeedKind::kOpen: open(deed.scope); break;
    case DeedKind::kSave: save(deed.scope); break;
    case DeedKind::kLeave: return WizardEnd::kLeft;
    case DeedKind::kInterrupt: return WizardEnd::kInterrupted;
  }
  return std::nullopt;
}

std::optional<WizardEnd> Loop::toggle() {
  const bool is_on = wizard_.overview().enabled == policy::Switch::kEnabled;
  const Status done = outside_.toggle(is_on ? policy::Switch::kDisabled : policy::Switch::kEnabled);
  if (done) return is_on ? WizardEnd::kDisabled : WizardEnd::kEnabled;
  wizard_.failed(done.error().message);
  return std::nullopt;
}

void Loop::open(policy::Scope scope) {
  auto opened = outside_.open(scope);
  if (!opened) return wizard_.failed(opened.error().message);
  wizard_.opened(std::move(*opened));
}

void Loop::save(policy::Scope scope) {
  auto saved = outside_.save(scope, wizard_.draft().edits());
  if (!saved) return wizard_.failed(saved.error().message);
  wizard_.saved(std::move(saved->opened), std::move(saved->note));
  wizard_.show(outside_.overview());
}

}  // namespace

}  // namespace hutch::tui
