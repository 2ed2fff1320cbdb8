// A file server that is an OS user.
#include "service/prepare/os_user_files.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "backend/user/user_backend.h"
#include "base/text.h"
#include "host/machine/facts.h"
#include "plan/plan.h"
#include "plan/setup/os_user_places.h"
#include "service/common/filter.h"
#include "service/common/programs.h"
#include "service/os_user/os_user.h"
#include "service/prepare/doctor.h"
#include "service/prepare/start.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

// A tree that is removed is one request.
constexpr std::chrono::minutes kAnswerMax{2};
constexpr std::uint64_t kTmpBytes = 1 << 20;

// What hutch-helper makes as well: nobody's policy has a say, since no program of anybody's runs.
plan::SandboxPlan plan_for(const host::OsUser& user) {
  plan::SandboxPlan plan;
  plan.uid = user.uid;
  plan.gid = user.groups.front();
  plan.groups = {user.groups.begin() + 1, user.groups.end()};
  plan.network = plan::NetworkKind::kNone;
  plan.cwd = "/";
  plan.project = "/";
  const auto is_directory = [](std::string_view place) {
    const auto status = sys::status_of(std::string(place));
    return status && *status && (*status)->kind == sys::EntryKind::kDirectory;
  };
  plan.mounts = plan::own_places_of_os_user(is_directory, kTmpBytes);
  plan.read_only_proc = {"sys"};
  return plan;
}

Result<sandbox::Resident::Parts> begin(const plan::SandboxPlan& plan) {
  const std::string guest = TRY(guest_program());
  auto instance = backend::UserBackend().start(
      plan, {.guest_program = guest, .service = wire::Service::kManyCommands, .admit = {}});
  if (!instance) return fail(explain_backend_failure(BackendKind::kUser, std::move(instance).error(), guest));
  return sandbox::Resident::Parts{.instance = std::move(*instance)};
}

}  // namespace

Result<OsUserFiles> OsUserFiles::start(const host::OsUser& user, const std::string& agent) {
  const plan::HostFacts facts = TRY_CTX(host::probe_facts(), "look at this machine");
  TRY(check_os_user(user.name, agent, facts));
  const bool in_roots_group = std::ranges::find(user.groups, 0U) != user.groups.end();
  if (user.uid == 0 || in_roots_group) {
    return fail({Code::kPermissionDenied, 0, cat({"the user ", user.name, " is root, or in root's group"})});
  }
  plan::SandboxPlan plan = plan_for(user);
  TRY(add_filter(plan, facts));
  auto resident = TRY(sandbox::Resident::start({.begin = [&plan] { return begin(plan); }}));
  auto files = std::make_unique<sandbox::Files>(TRY(resident->serve_files()), kAnswerMax);
  return OsUserFiles(std::move(resident), std::move(files));
}

}  // namespace hutch::service
