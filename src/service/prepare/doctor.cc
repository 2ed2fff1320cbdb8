// Examines this machine and puts the findings into words.
#include "service/prepare/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "backend/container/engine.h"
#include "base/text.h"
#include "host/machine/facts.h"
#include "service/common/load_policy.h"
#include "service/prepare/containers.h"
#include "store/settings_file.h"
#include "sys/files/tree.h"
#include "sys/process/host_info.h"

namespace hutch::service {

namespace {

std::string_view kind_name(plan::CgroupKind kind);
std::string or_else(const std::string& text, std::string_view otherwise);
std::string policy_text(const Checkup& checkup);
std::string bubblewrap_text(const host::IsolationFacts& facts);
std::string network_facts_text(const host::IsolationFacts& facts);
EngineCheckup look_for_engine();
std::string engine_text(const EngineCheckup& engine);
std::vector<std::string> missing_controllers(const host::CgroupPlace& cgroup);
std::string pool_limits_text(const host::CgroupPlace& cgroup);

}  // namespace

Result<Checkup> check_up() {
  Checkup checkup;
  checkup.facts = TRY_CTX(host::probe_facts(), "look at this machine");
  checkup.isolation = host::probe_isolation(host::Effort::kTry);
  checkup.cgroup = host::find_cgroup_place(checkup.facts.uid);
  checkup.engine = look_for_engine();
  const std::size_t remedy = checkup.engine.error.rfind("; ");
  checkup.isolation.engine_failure = checkup.engine.error.substr(0, remedy);
  if (remedy != std::string::npos) checkup.isolation.engine_remedy = checkup.engine.error.substr(remedy + 2);
  checkup.dirs = TRY(host::own_state_dirs(checkup.facts.uid, checkup.facts.home));
  Result<LoadedPolicy> policy = load_policy({}, checkup.facts, sys::own_environment());
  if (policy) {
    checkup.policy_files = std::move(policy->files);
  } else {
    checkup.policy_error = policy.error().message;
  }
  const store::SettingsFile settings(checkup.dirs.config);
  checkup.settings_file = settings.path();
  if (const auto read = settings.read(); !read) checkup.settings_error = read.error().message;
  return checkup;
}

std::vector<std::pair<policy::BackendKind, plan::Availability>> availabilities(const Checkup& checkup) {
  std::vector<std::pair<policy::BackendKind, plan::Availability>> found;
  for (const policy::BackendTraits& backend : policy::kBackends) {
    found.emplace_back(backend.kind, host::availability(backend.kind, checkup.isolation));
  }
  return found;
}

std::string checkup_text(const Checkup& checkup) {
  std::string text = "Backends\n";
  for (const auto& [backend, availability] : availabilities(checkup)) {
    text +=
        fmt::format("  {:<11}{}\n", policy::name_of(backend),
                    availability.available ? cat({"available", policy::traits_of(backend).summary}) : "not available");
    if (availability.available) continue;
    text += fmt::format("  {:<11}why: {}\n  {:<11}try: {}\n", "", availability.reason, "", availability.remedy);
  }
  const plan::HostFacts& facts = checkup.facts;
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<11}{}\n", name, printable(value, 4096));
  };
  text += "\nThis machine\n";
  row("kernel", cat({facts.kernel, " ", facts.architecture}));
  row("landlock", facts.landlock_abi == 0 ? "none: one wall less round the files of a sandbox"
                                          : fmt::format("ABI {}", facts.landlock_abi));
  row("seccomp", checkup.isolation.has_seccomp ? "yes" : "no");
  row("network", network_facts_text(checkup.isolation));
  row("limits", checkup.cgroup.note.substr(checkup.cgroup.note.find("held by")));
  row("pool", pool_limits_text(checkup.cgroup));
  row("bubblewrap", bubblewrap_text(checkup.isolation));
  row("engine", engine_text(checkup.engine));
  row("container", or_else(checkup.isolation.container, "none seen"));
  row("user", fmt::format("{} ({}:{})", facts.user, facts.uid, facts.gid));
  text += "\nFiles\n";
  row("guest", or_else(checkup.isolation.guest_program, "not found"));
  row("policy", policy_text(checkup));
  row("settings", checkup.settings_error.empty()
                      ? checkup.settings_file
                      : cat({"cannot be read: ", checkup.settings_error, "; no daemon starts until it is mended"}));
  row("config", checkup.dirs.config);
  row("record", checkup.dirs.data);
  row("sockets", checkup.dirs.runtime);
  return text;
}

std::string checkup_json(const Checkup& checkup) {
  using Json = nlohmann::ordered_json;
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  Json backends = Json::array();
  for (const auto& [backend, availability] : availabilities(checkup)) {
    backends.push_back({{"name", policy::name_of(backend)},
                        {"available", availability.available},
                        {"reason", text_or_null(availability.reason)},
                        {"remedy", text_or_null(availability.remedy)}});
  }
  Json controllers = Json::object();
  for (const auto& [controller, directory] : checkup.cgroup.directories) controllers[controller] = directory;
  const plan::HostFacts& facts = checkup.facts;
  const Json json = {
      {"version", HUTCH_VERSION},
      {"backends", backends},
      {"kernel", facts.kernel},
      {"architecture", facts.architecture},
      {"landlock_abi", facts.landlock_abi},
      {"seccomp", checkup.isolation.has_seccomp},
      {"network_capture",
       checkup.isolation.namespaces != host::Trial::kWorks ? Json() : Json(checkup.isolation.no_capture.empty())},
      {"limits",
       {{"held_by", kind_name(checkup.cgroup.kind)},
        {"controllers", controllers},
        {"note", checkup.cgroup.note},
        {"pool_not_held", missing_controllers(checkup.cgroup)}}},
      {"bubblewrap",
       {{"path", text_or_null(checkup.isolation.bubblewrap)},
        {"version", text_or_null(checkup.isolation.bubblewrap_version)}}},
      {"engine",
       {{"socket", text_or_null(checkup.engine.socket)},
        {"name", text_or_null(checkup.engine.name)},
        {"version", text_or_null(checkup.engine.version)},
        {"api", text_or_null(checkup.engine.api)},
        {"storage_driver", text_or_null(checkup.engine.storage_driver)},
        {"cgroup_driver", text_or_null(checkup.engine.cgroup_driver)},
        {"error", text_or_null(checkup.engine.error)}}},
      {"container", text_or_null(checkup.isolation.container)},
      {"user", {{"name", facts.user}, {"uid", facts.uid}, {"gid", facts.gid}, {"home", facts.home}}},
      {"guest", text_or_null(checkup.isolation.guest_program)},
      {"policy", {{"files", checkup.policy_files}, {"error", text_or_null(checkup.policy_error)}}},
      {"settings", {{"file", checkup.settings_file}, {"error", text_or_null(checkup.settings_error)}}},
      {"config", checkup.dirs.config},
      {"data", checkup.dirs.data},
      {"runtime", checkup.dirs.runtime},
  };
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Error explain_backend_failure(policy::BackendKind backend, Error error, const std::string& guest_program) {
  // An engine says itself what is wrong.
  if (backend == policy::BackendKind::kContainer) return error;
  // Nor would anything that is tried now get a descriptor: it would look as if the machine allowed nothing.
  if (error.sys_errno == EMFILE || error.sys_errno == ENFILE) {
    error.message += "; raise the limit of open files (`ulimit -n`), or end what holds them";
    return error;
  }
  const host::IsolationFacts facts = host::probe_isolation(host::Effort::kTry, backend, guest_program);
  const plan::Availability found = host::availability(backend, facts);
  if (found.available) return error;
  return Error::unsupported(
      cat({"backend ", policy::name_of(backend), " does not work here: ", found.reason, "; try: ", found.remedy}));
}

namespace {

std::string_view kind_name(plan::CgroupKind kind) {
  switch (kind) {
    case plan::CgroupKind::kNone: return "rlimits";
    case plan::CgroupKind::kV1: return "cgroup v1";
    case plan::CgroupKind::kV2: return "cgroup v2";
    case plan::CgroupKind::kSystemdScope: return "systemd scope";
  }
  return "";
}

std::string or_else(const std::string& text, std::string_view otherwise) {
  return text.empty() ? std::string(otherwise) : text;
}

std::vector<std::string> missing_controllers(const host::CgroupPlace& cgroup) {
  std::vector<std::string> missing;
  for (const std::string_view name : {host::kMemory, host::kCpu}) {
    if (!cgroup.directories.contains(std::string(name))) missing.emplace_back(name);
  }
  return missing;
}

std::string pool_limits_text(const host::CgroupPlace& cgroup) {
  const std::vector<std::string> missing = missing_controllers(cgroup);
  if (missing.empty())
    return "512M of memory, 1 CPU and 512 processes for each sandbox, unless a caller says otherwise";
  return cat({"its defaults for ", join(missing, " and "),
              " do not hold without a cgroup; the engine of the backend container can hold them"});
}

std::string policy_text(const Checkup& checkup) {
  if (!checkup.policy_error.empty()) return cat({"cannot be read: ", checkup.policy_error});
  return or_else(join(checkup.policy_files, ", "), "built-in, as there is no file for this directory");
}

std::string bubblewrap_text(const host::IsolationFacts& facts) {
  if (facts.bubblewrap.empty()) return "not installed";
  return cat({or_else(facts.bubblewrap_version, "of unknown version"), " at ", facts.bubblewrap});
}

EngineCheckup look_for_engine() {
  using backend::container::Engine;
  EngineCheckup found;
  const Result<Engine> engine = Engine::find(engine_environment());
  if (!engine) {
    found.error = engine.error().message;
    return found;
  }
  const auto info = engine->info();
  if (!info) {
    found.error = info.error().message;
    return found;
  }
  const backend::container::EngineVersion& version = engine->version();
  return {engine->socket(), version.name, version.version, version.api, info->storage_driver, info->cgroup_driver, ""};
}

std::string engine_text(const EngineCheckup& engine) {
  if (!engine.error.empty()) return cat({"none to use: ", engine.error});
  return fmt::format("{} {} at {} (API {}, storage {}, cgroups by {})", engine.name, engine.version, engine.socket,
                     engine.api, engine.storage_driver, or_else(engine.cgroup_driver, "an unknown driver"));
}

std::string network_facts_text(const host::IsolationFacts& facts) {
  if (facts.namespaces != host::Trial::kWorks) return "not known: no network namespace could be made";
  if (facts.no_capture.empty()) return "connections and DNS are captured";
  return cat({"programs that use the proxy alone reach anything: ", facts.no_capture,
              "; try: a kernel with nf_tables, nft_chain_nat and nft_redir (modprobe nft_redir)"});
}

}  // namespace

}  // namespace hutch::service
