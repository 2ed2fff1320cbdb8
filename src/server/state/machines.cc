// The virtual machines of agents.
#include "server/state/machines.h"

#include <poll.h>

#include <array>
#include <utility>

#include "base/text.h"
#include "service/live/kept_sandbox.h"
#include "sys/io.h"

namespace hutch::server {

bool Crashes::take(const std::string& agent, std::string_view state, Clock::time_point now) {
  using service::LifeState;
  if (state == "removed") {
    known_.erase(agent);
    return false;
  }
  Known& known = known_[agent];
  const bool crashed = known.ran && state == name_of(LifeState::kError);
  if (state == name_of(LifeState::kRunning)) known.ran = true;
  for (const LifeState over : {LifeState::kError, LifeState::kStopping, LifeState::kStopped}) {
    if (state == name_of(over)) known.ran = false;
  }
  if (!crashed || (known.restarted && now - *known.restarted < kBetween)) return false;
  known.restarted = now;
  return true;
}

Result<std::unique_ptr<Machines>> Machines::begin(Shared& shared, store::MachineSettingsFile settings) {
  // Before the first of them starts: none that crashes is missed.
  auto events = TRY(shared.events.listen());
  auto machines = std::make_unique<Machines>(shared, std::move(settings), std::move(events), TRY(sys::Event::make()));
  shared.workers.run([own = machines.get()] { own->watch(); });
  if (!machines->auto_start_) return machines;
  // Those that are there before anybody is served: one that is made now starts when it is used, with what it was given
  // by then.
  const auto all = shared.agents.list();
  if (!all) shared.tell(all.error().message);
  std::vector<std::string> names;
  for (const auto& one : all.value_or(std::vector<service::AgentService::Shown>())) {
    if (store::backend_kind(one.record) == policy::BackendKind::kVm) names.push_back(one.record.name);
  }
  shared.workers.run([own = machines.get(), names = std::move(names)] {
    for (const std::string& name : names) own->start(name);
  });
  return machines;
}

Machines::Machines(Shared& shared, store::MachineSettingsFile settings, std::shared_ptr<Events::Listener> events,
                   sys::Event leaving)
    : shared_(shared),
      settings_(std::move(settings)),
      events_(std::move(events)),
      leaving_(std::move(leaving)),
      auto_start_(starts_with_daemon()) {}

bool Machines::keep_daemon() const { return auto_start_ && shared_.agents.has_machine(); }

void Machines::leave() {
  leaves_ = true;
  leaving_.signal();
}

bool Machines::starts_with_daemon() const {
  const auto settings = settings_.read();
  if (!settings) shared_.tell(settings.error().message);
  return settings && settings->auto_start;
}

void Machines::watch() {
  Crashes crashes;
  while (!leaves_) {
    std::array<pollfd, 2> wait = {{{events_->fd(), POLLIN, 0}, {leaving_.fd(), POLLIN, 0}}};
    if (!sys::poll(wait, std::nullopt)) return;
    while (const auto event = events_->take()) {
      const bool again = crashes.take(event->agent, event->state, Crashes::Clock::now());
      if (!again || leaves_) continue;
      const auto agent = shared_.agents.show(event->agent);
      if (!agent || store::backend_kind(agent->record) != policy::BackendKind::kVm || !starts_with_daemon()) continue;
      shared_.tell(cat({"the machine of ", event->agent, " has crashed, and is started again: ", event->reason}));
      start(event->agent);
    }
    // Whoever cannot be told of all of them any more starts none that may have been stopped.
    if (events_->overflowed()) return shared_.tell("machines that crash are not started again: too many events");
  }
}

void Machines::start(const std::string& agent) {
  if (leaves_) return;
  const auto carry_out = [&]() -> Status {
    const auto sandbox = TRY(shared_.agents.sandbox(agent));
    TRY(sandbox->resident());
    return {};
  };
  const Status started = carry_out();
  if (!started) shared_.tell(cat({"the machine of ", agent, ": ", started.error().message}));
}

}  // namespace hutch::server
