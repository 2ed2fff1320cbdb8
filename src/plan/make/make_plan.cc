// The parts of a plan, put together.
#include "plan/make/make_plan.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/text.h"
#include "plan/make/environment.h"
#include "plan/make/mount_nodes.h"
#include "plan/make/mounts.h"
#include "plan/make/plan_text.h"
#include "plan/paths/names.h"
#include "plan/setup/os_user_places.h"
#include "policy/decide.h"
#include "policy/path_option.h"

namespace hutch::plan {

namespace {

Result<SandboxPlan> plan_of_os_user(const PlanInput& input);
void place_in_machine(const PlanInput& input, std::vector<MountStep>& steps);
void place_trust_of_os_user(const PlanInput& input, std::vector<MountStep>& steps);
Status check_cwd(const PlanInput& input);
LandlockPlan plan_landlock(const PlanInput& input, const MountTree& tree);
// The writable mounts, and which of them are the agent's own places. The user's git also uses repositories there.
struct SupervisedMounts {
  std::vector<std::string> targets{};
  std::vector<std::string> own{};
};
SupervisedMounts supervised_mounts(const PlanInput& input, const std::vector<MountStep>& mounts);
std::vector<std::string> names_there(const HostFacts& facts, std::span<const std::string_view> names);
std::vector<std::string> read_only_proc(const HostFacts& facts);
std::vector<std::string> hidden_proc(const HostFacts& facts);
std::vector<std::string> plan_notes(const PlanInput& input);
void note_smaller_tmp(SandboxPlan& plan);
std::vector<std::string> hidden_path_directories(const PlanInput& input, std::string_view search_path);
bool is_shown(const PlanInput& input, std::string_view path);

}  // namespace

Result<SandboxPlan> make_plan(const PlanInput& input) {
  if (input.os_user != nullptr) return plan_of_os_user(input);
  SandboxPlan plan;
  TRY(check_cwd(input));
  plan.uid = input.facts.uid;
  plan.gid = input.facts.gid;
  if (input.image != nullptr) {
    plan.ids = input.image->ids;
    plan.uid = plan.ids.user;
    plan.gid = plan.ids.group;
    if (input.image->is_install()) plan.rights = Rights::kImageRoot;
  }
  plan.network = input.network;
  plan.limits = input.limits;
  plan.cwd = input.cwd;
  plan.project = input.project;
  plan.environment = TRY(plan_environment(input));
  plan.notes = plan_notes(input);
  MountTree tree = plan_mounts(input);
  const std::string& typed = input.typed_cwd.path;
  if (!typed.empty() && tree.has_typed_cwd) add_working_directory(plan.environment, typed);
  plan.landlock = plan_landlock(input, tree);
  plan.mounts = std::move(tree.steps);
  note_smaller_tmp(plan);
  if (input.supervision == Supervision::kNames) {
    plan.supervisor = Supervisor::kBeside;
    SupervisedMounts supervised = supervised_mounts(input, plan.mounts);
    const bool all_are_own = supervised.targets.size() == supervised.own.size();
    plan.supervised = std::move(supervised.targets);
    plan.questions = input.questions;
    // Where no change is held for another reason, it is held for questions only if the policy wants them.
    const bool for_changes = plan.questions == FileQuestions::kChanges && all_are_own;
    if (for_changes && input.policy.asks.write != policy::Asking::kWanted) plan.questions = FileQuestions::kNone;
    const bool changes = !plan.supervised.empty() || plan.questions != FileQuestions::kNone;
    if (changes) plan.names = guarded_names(input.policy, input.rules, input.patterns, input.names);
    if (changes) plan.names.places = input.obeyed;
    if (changes) plan.names.own = std::move(supervised.own);
    if (plan.questions != FileQuestions::kNone) plan.hidden = std::move(tree.hidden);
  }
  // An engine covers what it shows of /proc itself.
  if (input.image != nullptr && input.image->is_engines()) return plan;
  plan.read_only_proc = read_only_proc(input.facts);
  plan.hidden_proc = hidden_proc(input.facts);
  return plan;
}

bool supervises_changes(const SandboxPlan& plan, std::span<const std::string> paths) {
  const auto is_held = [&](const MountStep& step) {
    const bool writable = step.kind == MountKind::kBind && step.access == Access::kReadWrite;
    const auto has_part = [&](const std::string& path) {
      return is_within(path, step.source) || is_within(step.source, path);
    };
    return !writable || std::ranges::find(plan.supervised, step.target) != plan.supervised.end() ||
           std::ranges::none_of(paths, has_part);
  };
  return plan.supervisor != Supervisor::kNone && plan.host_ports.empty() && std::ranges::all_of(plan.mounts, is_held);
}

namespace {

// A few places of its own over the machine's files, and none of these is hidden: what may be done with them is for the
// kernel to say.
Result<SandboxPlan> plan_of_os_user(const PlanInput& input) {
  SandboxPlan plan;
  plan.uid = input.facts.uid;
  plan.gid = input.facts.gid;
  plan.groups = input.os_user->groups;
  // Only of a virtual machine root may be somebody's (service/os_user/os_user.cc).
  if (input.os_user->machine == OsUserInput::Machine::kVirtual && plan.uid == 0) plan.rights = Rights::kImageRoot;
  plan.network = input.network;
  plan.limits = input.limits;
  plan.cwd = input.cwd;
  plan.project = input.project;
  plan.environment = TRY(plan_environment(input));
  const auto is_directory = [&](std::string_view place) {
    const SeenPath* seen = input.paths.find(place);
    return seen != nullptr && seen->type == FileType::kDirectory;
  };
  plan.mounts = own_places_of_os_user(is_directory, input.limits.tmp_bytes);
  for (const MountStep& own : plan.mounts) {
    if (!is_within(input.cwd, own.target)) continue;
    return fail(Error::invalid(cat({"the working directory ", printable(input.cwd), " lies in ", own.target,
                                    ", of which a sandbox of backend user has one of its own; work elsewhere"})));
  }
  if (input.os_user->machine == OsUserInput::Machine::kVirtual) place_in_machine(input, plan.mounts);
  if (input.trust.opening == TlsOpening::kSome) place_trust_of_os_user(input, plan.mounts);
  plan.read_only_proc = {"sys"};
  return plan;
}

// Who the user is there, and the host's directories that it has.
void place_in_machine(const PlanInput& input, std::vector<MountStep>& steps) {
  if (input.shares.empty()) return;
  const HostFacts& user = input.facts;
  add_account(steps, user.user, user.uid, user.gid, user.home);
  for (const Share& share : input.shares) {
    for (std::size_t slash = share.target.find('/', 1); slash != share.target.npos;
         slash = share.target.find('/', slash + 1)) {
      MountStep above{.kind = MountKind::kDirectory, .target = share.target.substr(0, slash), .mode = 0755};
      if (std::ranges::find(steps, above) == steps.end()) steps.push_back(std::move(above));
    }
    steps.push_back({.kind = MountKind::kBind,
                     .target = share.target,
                     .source = share.source,
                     .access = share.access,
                     .make = share.kind,
                     .identity = share.identity});
  }
}

void place_trust_of_os_user(const PlanInput& input, std::vector<MountStep>& steps) {
  std::vector<TrustStore> stores;
  if (input.os_user->machine == OsUserInput::Machine::kVirtual) {
    // Which of them its system has is not known here: without an identity one that is not there is passed over.
    for (const std::string_view path : kTrustStores) stores.push_back({std::string(path), kBundleFile, {}});
    for (const std::string_view path : kJavaStores) stores.push_back({std::string(path), kJavaFile, {}});
    return add_trust_of_os_user(steps, stores);
  }
  const auto add = [&](const std::vector<std::string>& paths, std::string_view file) {
    for (const std::string& path : paths) {
      const SeenPath* seen = input.paths.find(path);
      if (seen != nullptr && seen->type == FileType::kFile) stores.push_back({path, file, seen->identity});
    }
  };
  add(input.trust.stores, kBundleFile);
  add(input.trust.java_stores, kJavaFile);
  add_trust_of_os_user(steps, stores);
}

Status check_cwd(const PlanInput& input) {
  const auto in_share = [&](const Share& share) { return is_within(input.cwd, share.target); };
  if (std::ranges::any_of(input.shares, in_share)) return {};
  const auto is_host = [&](const policy::Rule& rule) { return shows_host(rule) && is_within(input.cwd, rule.path); };
  if (input.image != nullptr && std::ranges::none_of(input.rules, is_host)) return {};  // the image's to have
  const SeenPath* seen = input.paths.find(input.cwd);
  if (input.cwd != "/" && (seen == nullptr || seen->type == FileType::kAbsent)) {
    return fail(Error::not_found(cat({"--cwd ", printable(input.cwd), ": no such directory"})));
  }
  if (input.cwd != "/" && seen->type != FileType::kDirectory) {
    return fail(Error::invalid(cat({"--cwd ", printable(input.cwd), ": is not a directory"})));
  }
  const policy::Decision decision = policy::decide(input.rules, policy::Access::kRead, input.cwd);
  // What the host has below a private place is not there.
  const auto is_place = [&](const policy::Rule& rule) {
    return rule.place == policy::Place::kPrivate && rule.path == input.cwd;
  };
  const bool there = decision.view != policy::View::kPrivate || std::ranges::any_of(input.rules, is_place);
  if (decision.allowed && there) return {};
  return fail(
      Error::invalid(cat({"the working directory ", printable(input.cwd), " is not readable in the sandbox (",
                          decision.rule, "); ", policy::path_option("--allow-read", input.cwd), " makes it so"})));
}

// The mounts hold every rule; this second wall needs to know only where writing may ever be allowed. Below a mount
// point where a later grant may appear everything is left to the mounts, because a domain can never be widened
// (landlock(7)). A place below another one is named too: at every open the kernel walks from the file upwards to the
// first rule that allows it, and the rule beside the files halves what that costs.
LandlockPlan plan_landlock(const PlanInput& input, const MountTree& tree) {
  std::vector<std::string> places = tree.writable;
  for (const std::string_view place : {"/tmp", "/run", "/dev", "/proc"}) places.emplace_back(place);
  for (const std::string& place : {input.project, input.facts.home}) {
    const SeenPath* seen = input.paths.find(place);
    // What the host has there an image need not have, and all of an image's own "/" may be written.
    const bool of_host = input.image == nullptr && seen != nullptr && seen->type == FileType::kDirectory;
    const bool there = place == "/" || of_host;
    const bool visible = policy::decide(input.rules, policy::Access::kRead, place).allowed;
    const auto is_target = [&](const MountStep& step) { return step.target == place; };
    if ((there && visible) || std::ranges::any_of(tree.steps, is_target)) places.push_back(place);
  }
  std::ranges::sort(places);
  const auto repeated = std::ranges::unique(places);
  places.erase(repeated.begin(), repeated.end());
  return {.readable = {"/"}, .writable = std::move(places)};
}

// A shared file or socket is hutch's own.
SupervisedMounts supervised_mounts(const PlanInput& input, const std::vector<MountStep>& mounts) {
  SupervisedMounts found;
  for (const MountStep& step : mounts) {
    const auto holds = [&](const Share& share) { return is_within(step.target, share.target); };
    const auto share = std::ranges::find_if(input.shares, holds);
    const bool writable = step.kind == MountKind::kBind && step.access == Access::kReadWrite;
    const bool is_share = share != input.shares.end();
    if (!writable || (is_share && share->kind != MakeTarget::kDirectory)) continue;
    found.targets.push_back(step.target);
    if (is_share) found.own.push_back(step.target);
  }
  return found;
}

std::vector<std::string> names_there(const HostFacts& facts, std::span<const std::string_view> names) {
  std::vector<std::string> there;
  for (const std::string_view name : names) {
    if (std::ranges::find(facts.proc_names, name) != facts.proc_names.end()) there.emplace_back(name);
  }
  return there;
}

// uid 0 is the owner of the kernel's own files: what holds others off, their mode, does not hold it.
std::vector<std::string> read_only_proc(const HostFacts& facts) {
  static constexpr std::array<std::string_view, 8> kRootNames = {"sysrq-trigger", "irq",  "bus", "fs",
                                                                 "acpi",          "scsi", "tty", "driver"};
  std::vector<std::string> names = {"sys"};
  if (facts.uid != 0) return names;
  std::ranges::move(names_there(facts, kRootNames), std::back_inserter(names));
  return names;
}

std::vector<std::string> hidden_proc(const HostFacts& facts) {
  static constexpr std::array<std::string_view, 12> kRootNames = {
      "kcore",      "keys",        "kallsyms",    "timer_list",    "kmsg",     "kpagecount",
      "kpageflags", "kpagecgroup", "sched_debug", "latency_stats", "slabinfo", "vmallocinfo"};
  if (facts.uid != 0) return {};
  return names_there(facts, kRootNames);
}

std::vector<std::string> plan_notes(const PlanInput& input) {
  std::vector<std::string> notes;
  if (input.image != nullptr) return notes;
  if (input.facts.home == "/nonexistent") {
    notes.emplace_back("HOME is not a directory that can be used; in the sandbox it is /nonexistent");
  }
  for (const std::string& entry : input.caller_environment) {
    if (!entry.starts_with("PATH=")) continue;
    const std::vector<std::string> hidden = hidden_path_directories(input, std::string_view(entry).substr(5));
    if (hidden.empty()) continue;
    notes.push_back(cat({"PATH holds directories that are hidden here; ", join(hidden, " "), " shows them"}));
  }
  const SeenPath* command = input.command.starts_with('/') ? input.paths.find(input.command) : nullptr;
  if (command != nullptr && command->type != FileType::kAbsent && !is_shown(input, command->path)) {
    const std::string directory = command->path.substr(0, std::max<std::size_t>(command->path.rfind('/'), 1));
    notes.push_back(cat(
        {printable(command->path), " is hidden here; ", policy::path_option("--allow-read", directory), " shows it"}));
  }
  return notes;
}

// All private directories together get at most --memory, whatever size was requested for each.
void note_smaller_tmp(SandboxPlan& plan) {
  const std::uint64_t wanted = plan.limits.tmp_bytes;
  const auto is_tmp = [](const MountStep& step) { return step.kind == MountKind::kTmpfs && step.target == "/tmp"; };
  const auto tmp = std::ranges::find_if(plan.mounts, is_tmp);
  if (wanted == 0 || tmp == plan.mounts.end() || tmp->size_bytes >= wanted) return;
  plan.notes.push_back(
      cat({"/tmp has ", size_text(tmp->size_bytes), " of the ", size_text(wanted),
           " that were asked for: its part of the memory limit ", size_text(plan.limits.memory_bytes)}));
}

// The options that show the directories that exist and that a rule hides.
std::vector<std::string> hidden_path_directories(const PlanInput& input, std::string_view search_path) {
  std::vector<std::string> hidden;
  for (const std::string_view directory : split(search_path, ':')) {
    const SeenPath* seen = directory.starts_with('/') ? input.paths.find(directory) : nullptr;
    if (seen == nullptr || seen->type != FileType::kDirectory) continue;
    const std::string option = policy::path_option("--allow-read", directory);
    if (!is_shown(input, directory) && std::ranges::find(hidden, option) == hidden.end()) hidden.push_back(option);
  }
  return hidden;
}

// Whether the host's own file is what the sandbox sees.
bool is_shown(const PlanInput& input, std::string_view path) {
  const policy::Decision decision = policy::decide(input.rules, policy::Access::kRead, path);
  return decision.allowed && decision.view != policy::View::kPrivate;
}

}  // namespace

}  // namespace hutch::plan
