// What a sandbox that stays is given by whoever keeps it.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "egress/gateway.h"
#include "host/machine/cgroup.h"
#include "sandbox/questions/audience.h"
#include "service/live/resident_record.h"
#include "service/prepare/prepare.h"
#include "service/questions/host_sockets.h"

namespace hutch::service {

struct KeptSandboxSettings {
  std::string what;  // what errors call it: "agent alice"
  // On the keeping thread, for each start; `stop` is the start's.
  std::function<Result<Judged>(const std::stop_token& stop)> judge;
  ResidentRecord::Settings record;
  // A state's name, and the reason of an error. Called with a lock held: it does not ask back.
  std::function<void(std::string_view state, const std::string& reason)> changed{};
  // A number for each process: an id of another sandbox, or of an earlier start, is nobody's here.
  std::function<std::uint32_t()> next_number{};
  sandbox::Audience* audience = nullptr;  // who answers questions; null: nothing is ever asked
  std::function<void()> saved{};          // an answer changed a policy; on the keeping thread
  std::uint64_t asked_before = 0;         // the last question that is not to be mistaken for one of this
  // As egress::Settings has it; none: nothing is put into requests.
  std::function<egress::Settings::Placeholders(const policy::Host&)> placeholders{};
  HostSockets::Bridge bridge{};
  // As egress::Settings has it.
  std::function<void(UniqueFd socket)> take_bridge{};
  host::SharedCgroup* limits_with = nullptr;  // those with whom it has its limits together; null: nobody
};

}  // namespace hutch::service
