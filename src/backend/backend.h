// What an isolation backend is: it starts a guest in an isolated place and hands back the connected stream.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/machine/cgroups.h"
#include "plan/plan.h"
#include "sys/process/process.h"
#include "wire/connection.h"

namespace hutch::backend {

// What a backend promises and what it does not, as a person and a model are told.
struct Guarantees {
  std::vector<std::string> holds;
  std::vector<std::string> open;
};

// A sandbox of this process's that runs: its user and mount namespaces, borrowed, and its init by the host's number and
// by descriptor.
struct Running {
  int user = -1;
  int mounts = -1;
  pid_t init = 0;
  int pidfd = -1;
};

struct StartOptions {
  std::string guest_program;  // the path of hutch-guest; not looked at where it was started ahead
  int landlock_abi = 0;
  wire::Service service = wire::Service::kOneCommand;
  // Called with the first process of the sandbox before it has the plan or a child: puts it where its limits hold.
  std::function<Status(pid_t)> admit;
  int given_root = -1;  // of a plan that begins with MountKind::kGivenRoot
  // The guest joins that one, whose files and network it has: of the plan the rights, the filter, what Landlock allows,
  // and of the mounts the directories to make and the tmpfs to write in. Of backend namespace alone.
  std::optional<Running> beside{};
};

// A started instance. Ends with its owner.
struct KeptRoot {
  std::string image;
  std::map<std::string, std::string, std::less<>> labels;
};

struct Instance {
  // kAdopted: when `process` is killed, what it started falls to this process as a subreaper.
  enum class Orphans { kNone, kAdopted };

  wire::Connection guest;
  sys::ChildProcess process;  // ends when everything in the sandbox has
  Orphans orphans = Orphans::kNone;
  enum class Plan { kSent, kApplied } plan = Plan::kSent;  // kApplied: the guest has said so, and will not again
  // What ends everything: the end of the first process, or the guest, which hunts for it once the stream is closed.
  // kByKeeper: `remove`, of what an engine or hutch-helper keeps; `process` is not this one's child then.
  enum class Ending { kWithFirst, kByGuest, kByKeeper } ending = Ending::kWithFirst;
  // kByGuest: the init of the sandbox that it has joined, which ends with a guest that was killed: of what that one had
  // started, which goes on in the sandbox's pid namespace, nobody else knows.
  UniqueFd joined{};
  // Where the network was made from outside; else the guest tells of it.
  std::optional<wire::Network> network{};
  std::vector<UniqueFd> network_sockets{};
  // Who made the network, beside the init. It has ended when the guest is ready, and is waited for then.
  sys::ChildProcess starter{};
  UniqueFd console{};  // what a machine writes on its own, which is its words alone; it does not block
  std::function<Status()> remove{};
  // kByKeeper: what its limits have done to its processes so far; until it is removed.
  std::function<host::CgroupEvents()> limit_events{};
  // kByKeeper: what is changed of its root so far becomes an image of that name. Any thread may call it.
  std::function<Status(const KeptRoot& kept)> keep_root{};

  // A process that is inside, by the host's number.
  pid_t inside() const;
  // Kills and reaps the starter. Does nothing if it has been reaped.
  Status end_starter();
  // Kills everything at once, and waits for nothing but a keeper.
  Status kill();
  // Kills everything at once and waits until it is gone. This process has no other sandbox then: it waits for every
  // orphan that it has adopted.
  Status stop();
  // The same where others live beside it. Once the guest is ready.
  Status stop_alone();
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual Guarantees guarantees() const = 0;
  // The plan has been sent to the guest; whether it could be applied is the guest's first message.
  virtual Result<Instance> start(const plan::SandboxPlan& plan, const StartOptions& options) = 0;
};

}  // namespace hutch::backend
