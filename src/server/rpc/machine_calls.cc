// Calls about virtual machines of agents.
#include <array>

#include "base/text.h"
#include "sandbox/io/console.h"
#include "server/rpc/session.h"
#include "service/live/sessions.h"
#include "service/vm/machine_place.h"
#include "store/machine_settings.h"
#include "wire/daemon.h"

namespace hutch::server {

namespace {

constexpr std::chrono::milliseconds kConsoleSlice{200};

// What came since; whether more may come.
Result<bool> tell_news(Session& session, const sandbox::Console& console, std::uint64_t& next) {
  const sandbox::Console::Read read = console.read(next);
  next = read.next;
  if (!read.bytes.empty() || read.skipped > 0) {
    TRY(session.tell(Value(Value::Object{{"skipped", static_cast<std::int64_t>(read.skipped)},
                                         {"bytes", wire::text_of_bytes(read.bytes)}})));
  }
  return !read.ended;
}

// What it has written so far, and with "follow" what comes after that, until the machine has gone, or the client.
Result<Value> console(Session& session, const CallReader& call) {
  const std::string name = TRY(call.text("agent"));
  const auto shown = TRY(session.shared().agents.show(name));
  if (store::backend_kind(shown.record) != policy::BackendKind::kVm) {
    const std::string_view backend = policy::name_of(store::backend_kind(shown.record));
    return fail(Error::invalid(cat({name, ": its backend is ", backend, ", which is no machine and has no console"})));
  }
  const auto kept = shown.status.console;
  if (!kept) return fail(Error::not_found(cat({name, ": its machine has not started since the daemon has"})));
  const bool follows = TRY(call.truth("follow"));
  std::uint64_t next = 0;
  while (TRY(tell_news(session, *kept, next)) && follows) {
    if (TRY(session.hear(-1, kConsoleSlice)).gone) break;
  }
  return Value(Value::Object{});
}

Result<Value> list_machines(Session& session, const CallReader&) {
  const store::MachineSettings now = TRY(store::MachineSettingsFile(session.shared().agents.dirs().config).read());
  Value::List machines;
  for (const auto& one : TRY(session.shared().agents.list())) {
    if (store::backend_kind(one.record) != policy::BackendKind::kVm) continue;
    Value::List pending;
    if (one.status.machine && one.status.state == service::LifeState::kRunning) {
      for (std::string& name : service::pending_settings(*one.status.machine, now, one.record.limits)) {
        pending.emplace_back(std::move(name));
      }
    }
    machines.emplace_back(Value::Object{{"agent", one.record.name},
                                        {"status", service::name_of(one.status.state)},
                                        {"reason", one.status.reason},
                                        {"pending", std::move(pending)}});
  }
  return Value(std::move(machines));
}

constexpr std::array kMachineVerbs = {Verb{"machine.console", console}, Verb{"machine.list", list_machines}};

}  // namespace

std::span<const Verb> machine_verbs() { return kMachineVerbs; }

}  // namespace hutch::server
