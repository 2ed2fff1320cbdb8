// An agent's end of the host's bridge.
#include "service/agent/bridge.h"

#include <array>

#include "base/text.h"
#include "host/paths/paths.h"
#include "plan/make/bridge_place.h"
#include "plan/setup/os_user_places.h"
#include "service/common/programs.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

// And as what recipes of elsewhere call it.
constexpr std::array<std::string_view, 2> kPrograms = {"hutch-host", "osaurus-host"};

}  // namespace

std::string bridge_directory(const host::StateDirs& dirs, const std::string& agent) {
  return cat({dirs.data, "/bridge/", agent});
}

Status forget_bridges(const host::StateDirs& dirs) { return sys::remove_tree(cat({dirs.data, "/bridge"})); }

AgentBridge::AgentBridge(std::string directory, BackendKind backend, Serve serve)
    : directory_(std::move(directory)),
      backend_(backend),
      serve_(std::move(serve)),
      socket_(exists() ? cat({directory_, "/", kBridgeName}) : std::string()) {}

std::string AgentBridge::programs() const {
  if (!exists()) return {};
  if (is_os_users()) return std::string(plan::kProgramsOfOsUser);
  return backend_ == BackendKind::kNone ? directory_ + "/bin" : std::string(kBridgePrograms);
}

Status AgentBridge::begin() {
  const std::scoped_lock lock(mutex_);
  if (listener_ || !exists()) return {};
  listener_ = TRY(bridge::Listener::start(directory_, std::string(kBridgeName), serve_));
  return {};
}

// The socket, and the program that speaks to it. With the host's own paths a directory has its names.
Status AgentBridge::add_to(Residence& residence, std::vector<std::string>& environment) const {
  if (!exists()) return {};
  const std::string found = TRY(guest_program());
  const std::string program = TRY(host::canonical_path(found)).path;
  if (backend_ == BackendKind::kNone) {
    TRY(sys::make_private_directories(programs()));
    for (const std::string_view name : kPrograms) {
      const std::string path = cat({programs(), "/", name});
      if (sys::read_link(path).value_or("") == program) continue;
      if (TRY(sys::status_of(path))) TRY(sys::unlink_at(sys::kCwd, path));
      TRY(sys::make_symlink(program, sys::kCwd, path));
    }
    environment.push_back(cat({"HUTCH_BRIDGE=", socket_}));
    return {};
  }
  residence.bridge_port = is_port();
  const std::string_view port = backend_ == BackendKind::kVm ? plan::kBridgeAddressOfMachine : plan::kBridgeAddress;
  environment.push_back(cat({"HUTCH_BRIDGE=", is_port() ? port : kBridgePlace}));
  // An OS user's have no mounts of the residence's: see settle().
  if (is_os_users()) return {};
  const auto share = [&](const std::string& source, std::string target) {
    residence.shares.push_back({.source = source,
                                .target = std::move(target),
                                .access = plan::Access::kReadOnly,
                                .kind = plan::MakeTarget::kFile});
  };
  if (!is_port()) share(socket_, std::string(kBridgePlace));
  for (const std::string_view name : kPrograms) share(program, cat({kBridgePrograms, "/", name}));
  return {};
}

Status AgentBridge::settle(plan::SandboxPlan& plan) const {
  if (!exists() || backend_ == BackendKind::kNone) return {};
  if (!is_port()) {
    plan.mounts.push_back({.kind = plan::MountKind::kSymlink,
                           .target = std::string(kBridgeOtherName),
                           .source = std::string(kBridgePlace)});
    return {};
  }
  if (plan.network == plan::NetworkKind::kHost) {
    // That port is whoever's it is of the machine.
    std::erase_if(plan.environment, [](const std::string& entry) { return entry.starts_with("HUTCH_BRIDGE="); });
    return {};
  }
  if (backend_ == BackendKind::kVm) plan::add_host_programs_of_os_user(plan.mounts, std::string(plan::kGuestOfMachine));
  if (backend_ != BackendKind::kUser) return {};
  const std::string found = TRY(guest_program());
  plan::add_host_programs_of_os_user(plan.mounts, TRY(host::canonical_path(found)).path);
  return {};
}

void AgentBridge::take(UniqueFd socket) {
  const std::scoped_lock lock(mutex_);
  if (listener_) listener_->add(std::move(socket));
}

void AgentBridge::end() {
  std::unique_ptr<bridge::Listener> leaving;
  {
    const std::scoped_lock lock(mutex_);
    leaving = std::move(listener_);
  }
  leaving.reset();
}

void AgentBridge::remove() {
  end();
  // What stays goes with the daemon's next start.
  if (exists()) (void)sys::remove_tree(directory_);
}

}  // namespace hutch::service
