// Options of a sandbox, looked at once.
#include "api/settled.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <string_view>

#include "api/guest_location.h"
#include "api/native_policy.h"
#include "base/text.h"
#include "policy/document/reader.h"
#include "sys/files/identity.h"
#include "sys/process/host_info.h"
#include "sys/process/process.h"

namespace hutch::api {

namespace {

constexpr std::string_view kDefaultDirectory = ".sandbox";

std::string made_up_id() {
  static std::atomic<unsigned> last = 0;
  return cat({"hutch-", std::to_string(sys::own_pid()), "-", std::to_string(++last)});
}

Result<policy::Policy> policy_of(const SandboxOptions& options, const std::string& cwd) {
  if (!options.policy) return native_policy(options.native_sandbox.value_or(NativeSandbox()), sys::user_id(), cwd);
  if (options.native_sandbox) {
    return fail(Error::invalid("policy and native_sandbox say the same in two ways: give one of them"));
  }
  return policy::read_policy(*options.policy, "policy");
}

}  // namespace

Result<Settled> settle(const SandboxOptions& options) {
  static constexpr std::array<std::string_view, 4> kIsolations = {"", "namespace", "bwrap", "none"};
  Settled settled;
  settled.id = options.id.empty() ? made_up_id() : options.id;
  const std::string cwd = TRY(sys::working_directory());
  const std::string named =
      options.working_directory.empty() ? std::string(kDefaultDirectory) : options.working_directory;
  if (named.contains('\0')) return fail(Error::invalid("working_directory: a path cannot hold a NUL byte"));
  settled.working_directory = named.starts_with('/') ? named : cat({cwd, "/", named});
  if (std::ranges::find(kIsolations, options.isolation) == kIsolations.end()) {
    return fail(Error::unsupported(cat(
        {"isolation: there is no \"", printable(options.isolation), "\" here; there are namespace, bwrap and none"})));
  }
  settled.policy = TRY(policy_of(options, cwd));
  const std::string_view isolation = options.isolation;
  settled.backend = isolation.empty()
                        ? TRY(service::find_backend("policy: backend", settled.policy.backend.value_or("namespace")))
                        : *policy::backend_named(isolation);
  if (options.native_sandbox && !options.native_sandbox->bwrap_args.empty() &&
      settled.backend != policy::BackendKind::kBwrap) {
    return fail(Error::invalid("native_sandbox: bwrap_args are for isolation bwrap alone"));
  }
  if (options.native_sandbox && !options.native_sandbox->seatbelt_profile_path.empty()) {
    const std::string& profile = options.native_sandbox->seatbelt_profile_path;
    if (profile.contains('\0')) return fail(Error::invalid("seatbelt_profile_path: a path cannot hold a NUL byte"));
    settled.seatbelt_profile = profile.starts_with('/') ? profile : cat({cwd, "/", profile});
  }
  if (options.timeout && options.timeout->count() <= 0) return fail(Error::invalid("timeout: has to be more than 0"));
  settled.guest_program = TRY(locate_guest(options.guest_program));
  settled.place.policy = settled.policy;
  settled.place.backend = settled.backend;
  settled.place.environment = TRY(environment_of(options.env));
  settled.place.base_environment = plan::BaseEnvironment::kPathAlone;
  return settled;
}

Result<std::vector<std::string>> environment_of(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> environment;
  for (const auto& [name, value] : variables) {
    if (name.empty() || name.contains('=') || name.contains('\0')) {
      return fail(Error::invalid(cat({"env: \"", printable(name), "\" is not a name that a variable can have"})));
    }
    if (value.contains('\0')) return fail(Error::invalid(cat({"env: ", name, ": a value cannot hold a NUL byte"})));
    environment.push_back(cat({name, "=", value}));
  }
  return environment;
}

}  // namespace hutch::api
