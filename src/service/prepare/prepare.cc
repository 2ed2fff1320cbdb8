// The way from a request to a plan.
#include "service/prepare/prepare.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "backend/container/create_body.h"
#include "base/limits.h"
#include "base/text.h"
#include "host/paths/paths.h"
#include "host/paths/typed_path.h"
#include "plan/make/bridge_place.h"
#include "plan/make/gateway_names.h"
#include "plan/make/make_plan.h"
#include "plan/paths/names.h"
#include "plan/processes.h"
#include "plan/quotas.h"
#include "plan/setup/os_user_places.h"
#include "policy/document/narrow.h"
#include "policy/glob.h"
#include "service/common/load_policy.h"
#include "service/common/programs.h"
#include "service/git/files.h"
#include "service/git/worked.h"
#include "service/image/images.h"
#include "service/image/recipe.h"
#include "service/os_user/os_user.h"
#include "service/prepare/own_files.h"
#include "service/prepare/sandbox_only.h"
#include "service/prepare/trust.h"
#include "service/vm/machine_place.h"
#include "store/settings_file.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

constexpr auto& kOwnPlaces = plan::kOwnPlacesOfOsUser;

static_assert(policy::kGatewayPorts == std::array<int, 3>{plan::kCapturePort, plan::kDnsPort, plan::kProxyPort});

Status settle_network_for(Prepared& prepared, const Residence* residence, policy::Network& network,
                          const policy::NetworkOptions& options, const plan::HostFacts& facts,
                          const std::string& project);
Status check_backend(BackendKind backend, const policy::Policy& policy, const PlaceRequest& request,
                     const plan::HostFacts& facts, const Caller& caller);
Result<std::optional<OsUserPlace>> place_of_os_user(BackendKind backend, const LoadedPolicy& loaded,
                                                    const PlaceRequest& request, const plan::HostFacts& facts,
                                                    const Caller& caller);
std::vector<std::string> notes_of(const OsUserPlace& place);
void add_notes(Prepared& prepared, std::vector<std::string> notes, std::string_view source);
void add_quotas(Prepared& prepared, const plan::HostFacts& facts, const Caller& caller);
Status add_gateway(Prepared& prepared, const policy::Network& network, const Caller& caller);
Result<plan::NetworkKind> network_kind(const policy::Network& network, BackendKind backend, const Residence* residence);
Result<policy::ParentProxies> proxies_of(const policy::Network& network, const Caller& caller,
                                         std::vector<std::string>& notes);
bool reads_requests(const policy::Network& network, const Residence* residence);
Result<std::string> working_directory(const PlaceRequest& request, const plan::HostFacts& facts, BackendKind backend,
                                      const Residence* residence);
plan::TypedPath typed_directory(const PlaceRequest& request, const plan::HostFacts& facts, const Caller& caller,
                                const std::string& cwd);
Result<host::PathQuestion> path_question(const PlaceRequest& request, const plan::HostFacts& facts,
                                         const LoadedPolicy& loaded);
Result<host::PathAnswer> look_and_make_store(const host::PathQuestion& question, const plan::HostFacts& facts);
Result<std::optional<plan::ImageInput>> image_of(const PlaceRequest& request, BackendKind backend,
                                                 const plan::HostFacts& facts, const Residence* residence);
std::vector<std::string> search_path_of(const std::vector<std::string>& environment);
std::vector<std::string> also_looked_at(const std::vector<policy::Rule>& rules, const Caller& caller,
                                        std::initializer_list<std::string> paths);
std::string command_path(const Caller& caller, const std::string& cwd);
// A supervisor holds the names always, and knows which repositories sandboxes have made.
void hold_names(host::PathQuestion& question, SandboxRepositories& made);
void take_answers(Prepared& prepared, policy::Policy policy, host::PathAnswer answer);
plan::HostFacts facts_of_root(plan::HostFacts facts);
Result<std::vector<plan::Share>> shares_of(const Residence* residence);
bool is_of_host_tree(const PlaceRequest& request, BackendKind backend);
Result<OwnFiles> own_files_of(const PlaceRequest& request, BackendKind backend, plan::NetworkKind network,
                              const host::PathQuestion& question, const plan::HostFacts& facts, const Caller& caller,
                              plan::CommittedFiles committed);
void add_stores(std::vector<std::string>& paths, const plan::TrustInput& trust);
plan::ResourceLimits limits_of(const policy::Limits& policy, const LimitOptions& options);
std::uint64_t processes_of(const Prepared& prepared, const plan::HostFacts& facts, const Caller& caller);
plan::Supervision supervision_of(BackendKind backend, const plan::HostFacts& facts);
std::vector<policy::Rule> patterns_of(const std::vector<policy::Rule>& rules);
plan::FileQuestions questions_of(plan::FileQuestions wanted, const policy::Asks& asks);

}  // namespace

// Where nothing, or everything, may be reached, there is nothing to add to.
policy::NetworkOptions network_options(const PlaceRequest& request, const policy::Network& network) {
  policy::NetworkOptions options = request.own_network ? request.own_network() : request.network;
  const bool has_rules = options.mode.value_or(network.mode) == policy::NetworkMode::kRules;
  if (has_rules) std::ranges::copy(request.usual_hosts, std::back_inserter(options.allow_domains));
  return options;
}

Result<Prepared> prepare(const PlaceRequest& request, const plan::HostFacts& facts, const Caller& caller) {
  LoadedPolicy loaded = TRY(load_policy(request, facts, caller.environment));
  Prepared prepared;
  prepared.backend = TRY(backend_of(request, loaded.policy));
  prepared.committed = committed_files(facts);
  TRY(check_backend(prepared.backend, loaded.policy, request, facts, caller));
  policy::Network& network = loaded.policy.network;
  TRY(settle_network_for(prepared, caller.residence, network, network_options(request, network), facts,
                         loaded.project));
  const std::optional<OsUserPlace> of_user = TRY(place_of_os_user(prepared.backend, loaded, request, facts, caller));
  const std::string cwd = TRY(working_directory(request, facts, prepared.backend, caller.residence));
  host::PathQuestion question = TRY(path_question(request, facts, loaded));
  const bool installs = caller.residence != nullptr && caller.residence->purpose == Residence::Purpose::kInstall;
  // Of no file of the host anything has to be held.
  const plan::Supervision supervision = installs ? plan::Supervision::kNone : supervision_of(prepared.backend, facts);
  SandboxRepositories made = TRY(sandbox_repositories(facts));
  if (supervision == plan::Supervision::kNames) hold_names(question, made);
  const std::string command = command_path(caller, cwd);
  question.also = also_looked_at(question.rules, caller, {cwd, command});
  const plan::NetworkKind kind = TRY(network_kind(network, prepared.backend, caller.residence));
  // TLS is opened where requests have rules, or a secret is put into them, and nowhere else.
  const bool opens = kind == plan::NetworkKind::kGateway && reads_requests(network, caller.residence);
  plan::TrustInput trust = opens ? find_trust_stores(caller.environment) : plan::TrustInput();
  add_stores(question.also, trust);
  // An OS user's files are where they are, and may be closed to who asks.
  std::vector<plan::Share> shares = TRY(shares_of(prepared.backend == BackendKind::kUser ? nullptr : caller.residence));
  OwnFiles own = TRY(own_files_of(request, prepared.backend, kind, question, facts, caller, prepared.committed));
  std::ranges::transform(own.covered, std::back_inserter(question.also), &plan::CoveredFile::target);
  if (of_user) question.also.insert(question.also.end(), kOwnPlaces.begin(), kOwnPlaces.end());
  const std::optional<plan::ImageInput> image = TRY(image_of(request, prepared.backend, facts, caller.residence));
  host::PathAnswer answer = TRY(look_and_make_store(question, facts));
  if (installs) std::erase_if(answer.rules, [](const auto& rule) { return rule.place == policy::Place::kNone; });
  const plan::HostFacts seen = of_user ? of_user->facts : installs ? facts_of_root(facts) : facts;
  prepared.plan = TRY(plan::make_plan({
      .policy = loaded.policy,
      .rules = answer.rules,
      .facts = seen,
      .paths = answer.facts,
      .project = installs ? std::string("/") : question.project,
      .cwd = cwd,
      .typed_cwd = typed_directory(request, facts, caller, cwd),
      .network = kind,
      .trust = std::move(trust),
      .shares = std::move(shares),
      .covered_files = std::move(own.covered),
      .home_files = git_home_files(facts, question, caller, prepared.committed),
      .image = image ? &*image : nullptr,
      .os_user = of_user ? &of_user->input : nullptr,
      .supervision = supervision,
      .questions = questions_of(caller.questions, loaded.policy.asks),
      .patterns = patterns_of(question.rules),
      .obeyed = answer.obeyed,
      .names = std::move(answer.names),
      .limits = limits_of(loaded.policy.limits, request.limits),
      .caller_environment = caller.environment,
      .environment = std::move(own.environment),
      .base_environment = request.base_environment,
      .backend = std::string(name_of(prepared.backend)),
      .command = command,
  }));
  prepared.search = std::move(own.search);
  std::ranges::move(own.notes, std::back_inserter(answer.notes));
  add_notes(prepared, of_user ? notes_of(*of_user) : std::move(answer.notes), loaded.policy.source);
  if (prepared.plan.network == plan::NetworkKind::kGateway) TRY(add_gateway(prepared, network, caller));
  add_quotas(prepared, facts, caller);
  take_answers(prepared, std::move(loaded.policy), std::move(answer));
  add_known_repositories(prepared, made);
  return prepared;
}

Result<FilesNow> file_rules(const PlaceRequest& request, const plan::HostFacts& facts, const LoadedPolicy& loaded) {
  host::PathQuestion question = TRY(path_question(request, facts, loaded));
  SandboxRepositories made = TRY(sandbox_repositories(facts));
  hold_names(question, made);
  FilesNow now{.found = TRY(look_and_make_store(question, facts)), .names = {}};
  now.names = plan::guarded_names(loaded.policy, now.found.rules, patterns_of(question.rules), now.found.names);
  now.names.places = now.found.obeyed;
  now.names.made = made.identities();
  return now;
}

Result<FilesNow> files_now(const PlaceRequest& request, const plan::HostFacts& facts,
                           const std::vector<std::string>& environment) {
  return file_rules(request, facts, TRY(load_policy(request, facts, environment)));
}

Result<BackendKind> find_backend(std::string_view where, std::string_view name) {
  static constexpr std::array<std::string_view, 1> kLater = {"seatbelt"};
  if (const auto found = policy::backend_named(name)) return *found;
  if (std::ranges::find(kLater, name) != kLater.end()) {
    return fail(Error::unsupported(
        cat({where, ": this version does not have ", name, "; it has ", policy::backend_list("and")})));
  }
  const auto near = nearest(name, policy::kBackendNames);
  return fail(Error::invalid(cat({where, ": \"", printable(name), "\" is not a backend; ",
                                  near ? cat({"did you mean ", *near, "?"}) : "use " + policy::backend_list("or")})));
}

Result<BackendKind> backend_of(const PlaceRequest& request, const policy::Policy& policy) {
  // A backend that was asked for by name isolates all the same.
  if (policy.enabled == policy::Switch::kDisabled && !request.backend) return BackendKind::kNone;
  if (request.backend) return *request.backend;
  return policy.backend ? find_backend(cat({policy.source, ": backend"}), *policy.backend)
                        : Result<BackendKind>(policy::kBackendDefault);
}

// Paths of certificates start where the policy's other paths do.
Status settle_network(policy::Network& network, const policy::NetworkOptions& options, const plan::HostFacts& facts,
                      const std::string& project) {
  TRY(policy::amend(network, options));
  for (std::string& path : network.tls.extra_ca_paths) {
    path = TRY_CTX(policy::absolute_path(path, facts.home, project), "network.tlsTerminate.extraCaCertPaths");
  }
  for (std::string& entry : network.allow_unix_sockets) {
    std::string absolute = TRY_CTX(policy::absolute_path(entry, facts.home, project), "network.allowUnixSockets");
    absolute = host::settled_socket(absolute);
    std::ranges::replace(network.from_options, entry, absolute);
    entry = std::move(absolute);
  }
  return {};
}

namespace {

Status settle_network_for(Prepared& prepared, const Residence* residence, policy::Network& network,
                          const policy::NetworkOptions& options, const plan::HostFacts& facts,
                          const std::string& project) {
  prepared.own_network = network;
  TRY(settle_network(network, options, facts, project));
  const bool has_hosts = residence != nullptr && residence->network == Residence::Network::kHost;
  if (has_hosts && options.mode && !options.agent.empty()) {
    return fail(Error::invalid(cat({"agent ", options.agent, " has a network of its own, but sandbox.network of ",
                                    "config.json gives it this machine's; hutch agent set ", options.agent,
                                    " network= takes its own back, or set sandbox.network to \"gateway\""})));
  }
  if (residence != nullptr && residence->hosts_at_most) TRY(policy::narrow_to(network, *residence->hosts_at_most));
  return settle_machine_network(prepared.backend, network, facts);
}

Status check_backend(BackendKind backend, const policy::Policy& policy, const PlaceRequest& request,
                     const plan::HostFacts& facts, const Caller& caller) {
  if (backend == BackendKind::kNone) {
    // Nobody else reads the settings on the way to a run: one that isolates pays nothing for them.
    const store::SettingsFile settings(config_directory(facts, caller.environment));
    TRY(check_none_is_allowed(settings, caller.residence != nullptr ? Asker::kDaemon : Asker::kPerson));
  }
  // Elsewhere what is written lies on a file system of the host's, of which a part cannot be had.
  if ((!policy.limits.disk_bytes && !request.limits.disk_bytes) || policy::traits_of(backend).holds_disk) return {};
  return fail(Error::unsupported(
      cat({request.limits.disk_bytes ? std::string_view("the agent") : policy.source, ": limits.disk: backend ",
           name_of(backend),
           " cannot hold it; leave it out, or use backend container. limits.tmpSize is that of private directories"})));
}

// Nothing for another backend.
Result<std::optional<OsUserPlace>> place_of_os_user(BackendKind backend, const LoadedPolicy& loaded,
                                                    const PlaceRequest& request, const plan::HostFacts& facts,
                                                    const Caller& caller) {
  if (backend == BackendKind::kVm) return std::optional(TRY(machine_place(loaded, request, facts, caller.residence)));
  if (backend != BackendKind::kUser) return std::optional<OsUserPlace>();
  const bool of_agent = caller.residence != nullptr;
  const std::string name = of_agent ? caller.residence->user : TRY(own_os_user(facts.uid, ""));
  return std::optional(TRY(os_user_place(name, of_agent ? caller.residence->agent : "", loaded, request, facts)));
}

// An OS user has no rules about files, which the other notes are about.
std::vector<std::string> notes_of(const OsUserPlace& place) {
  return place.note.empty() ? std::vector<std::string>() : std::vector<std::string>{place.note};
}

void add_notes(Prepared& prepared, std::vector<std::string> notes, std::string_view source) {
  // No rule holds there, and what limits one would only mislead.
  if (prepared.backend == BackendKind::kNone) {
    prepared.plan.notes.emplace_back(
        "backend none isolates nothing: the command reads, writes and reaches all that you do, whatever the policy "
        "says");
    return;
  }
  std::ranges::move(notes, std::back_inserter(prepared.plan.notes));
  if (prepared.plan.network != plan::NetworkKind::kHost) return;
  const std::string where = prepared.backend == BackendKind::kUser ? cat({"network of ", source})
                                                                   : std::string("sandbox.network of config.json");
  prepared.plan.notes.push_back(
      cat({"the network is this machine's own, with all that listens on it: ", where, " is \"host\""}));
}

// A VM's kernel has its own counts, except for processes.
void add_quotas(Prepared& prepared, const plan::HostFacts& facts, const Caller& caller) {
  prepared.plan.limits.processes = processes_of(prepared, facts, caller);
  if (prepared.backend == BackendKind::kVm) return;
  prepared.plan.process_limits =
      policy::traits_of(prepared.backend).isolates ? plan::process_limits(facts) : plan::usual_process_limits(facts);
  // Other backends have no user namespace of the sandbox's own.
  if (policy::traits_of(prepared.backend).guest_mounts) prepared.plan.user_counts = plan::user_counts(facts);
}

Status add_bridge(std::vector<std::uint16_t>& ports) {
  if (std::ranges::find(ports, plan::kBridgePort) != ports.end()) {
    return fail(Error::invalid(cat({"network.hostPorts ", std::to_string(plan::kBridgePort),
                                    ": that port is the host's bridge's in this sandbox"})));
  }
  ports.push_back(plan::kBridgePort);
  return {};
}

Status add_gateway(Prepared& prepared, const policy::Network& network, const Caller& caller) {
  for (const int port : network.host_ports) prepared.plan.host_ports.push_back(static_cast<std::uint16_t>(port));
  if (caller.residence != nullptr) prepared.agent = caller.residence->agent;
  if (caller.residence != nullptr && caller.residence->bridge_port) TRY(add_bridge(prepared.plan.host_ports));
  prepared.plan.udp = plan::udp_captures(network);
  prepared.parent_proxies = TRY(proxies_of(network, caller, prepared.plan.notes));
  return {};
}

// How many there may be where nobody said anything.
std::uint64_t processes_of(const Prepared& prepared, const plan::HostFacts& facts, const Caller& caller) {
  if (prepared.plan.limits.pids != 0 || prepared.backend == BackendKind::kNone) return 0;
  if (prepared.backend == BackendKind::kContainer) return plan::kContainerProcessesDefault;
  const bool stays = caller.residence != nullptr;
  return plan::processes_default(facts, stays ? plan::Stay::kForMany : plan::Stay::kForOneCommand);
}

// A call that is held can be answered with a descriptor in one step since Linux 5.14 (SECCOMP_ADDFD_FLAG_SEND,
// seccomp_unotify(2)). Before, names are held where they exist at the start.
plan::Supervision supervision_of(BackendKind backend, const plan::HostFacts& facts) {
  // In a container, and as an OS user, the guest has no mounts of its own to change files by.
  if (!policy::traits_of(backend).guest_mounts) return plan::Supervision::kNone;
  int major = 0;
  int minor = 0;
  const char* end = facts.kernel.data() + facts.kernel.size();
  const auto first = std::from_chars(facts.kernel.data(), end, major);
  if (first.ec == std::errc() && first.ptr != end) std::from_chars(first.ptr + 1, end, minor);
  return std::pair(major, minor) >= std::pair(5, 14) ? plan::Supervision::kNames : plan::Supervision::kNone;
}

// Only who is asked about reading pays for it: every look at a file is held then.
plan::FileQuestions questions_of(plan::FileQuestions wanted, const policy::Asks& asks) {
  using plan::FileQuestions;
  if (wanted == FileQuestions::kNone) return wanted;
  const bool all = wanted == FileQuestions::kAll && asks.read != policy::Asking::kNever;
  if (all || asks.read == policy::Asking::kWanted) return FileQuestions::kAll;
  return asks.write != policy::Asking::kNever ? FileQuestions::kChanges : FileQuestions::kNone;
}

std::vector<policy::Rule> patterns_of(const std::vector<policy::Rule>& rules) {
  std::vector<policy::Rule> patterns;
  const auto is_pattern = [](const policy::Rule& rule) { return policy::has_wildcard(rule.path); };
  std::ranges::copy_if(rules, std::back_inserter(patterns), is_pattern);
  return patterns;
}

Result<plan::NetworkKind> network_kind(const policy::Network& network, BackendKind backend,
                                       const Residence* residence) {
  if (backend == BackendKind::kNone) return plan::NetworkKind::kHost;
  if (backend == BackendKind::kUser) TRY(check_os_user_network(network));
  if (network.mode == policy::NetworkMode::kHost) {
    if (backend == BackendKind::kUser) return plan::NetworkKind::kHost;
    return fail(Error::unsupported(cat({"\"network\" is \"host\": backend ", name_of(backend),
                                        " holds its network by rules; change that, or use backend user"})));
  }
  if (residence != nullptr && residence->network == Residence::Network::kHost) {
    // Elsewhere commands make Unix sockets, and those without a name are the network's.
    if (backend == BackendKind::kContainer) return plan::NetworkKind::kHost;
    return fail(
        Error::unsupported(cat({"backend ", name_of(backend), " cannot have the host's network; container can"})));
  }
  const bool has_bridge = residence != nullptr && residence->bridge_port;
  const bool nothing = network.mode == policy::NetworkMode::kNone && !has_bridge;
  return nothing ? plan::NetworkKind::kNone : plan::NetworkKind::kGateway;
}

// Proxies of the caller's environment that cannot be used are an error only where something is to go out.
Result<policy::ParentProxies> proxies_of(const policy::Network& network, const Caller& caller,
                                         std::vector<std::string>& notes) {
  auto proxies = policy::parent_proxies(network, caller.environment);
  const bool reachable =
      network.mode == policy::NetworkMode::kOutbound || !network.allowed_domains.empty() || !network.rules.empty();
  if (proxies || reachable || network.parent_proxy) return proxies;
  notes.push_back(cat({proxies.error().message, "; it is not used"}));
  return policy::ParentProxies();
}

bool reads_requests(const policy::Network& network, const Residence* residence) {
  return !network.rules.empty() || (residence != nullptr && residence->swaps);
}

Result<std::string> working_directory(const PlaceRequest& request, const plan::HostFacts& facts, BackendKind backend,
                                      const Residence* residence) {
  if (residence != nullptr && !residence->cwd.empty()) return residence->cwd;
  // A directory of the machine's, which nobody can look at here.
  if (backend == BackendKind::kVm) return request.cwd.value_or(std::string(kMachineHome));
  if (!request.cwd) return facts.cwd;
  const std::string path = TRY_CTX(policy::absolute_path(*request.cwd, facts.home, facts.cwd), "--cwd");
  return TRY_CTX(host::canonical_path(path), "--cwd").path;
}

// A relative --cwd starts from where the caller's shell says that it is.
plan::TypedPath typed_directory(const PlaceRequest& request, const plan::HostFacts& facts, const Caller& caller,
                                const std::string& cwd) {
  static constexpr std::string_view kTypedDirectory = "PWD=";
  if (caller.residence != nullptr) return {};
  const auto is_it = [](const std::string& entry) { return entry.starts_with(kTypedDirectory); };
  const auto found = std::ranges::find_if(caller.environment, is_it);
  std::string typed = found == caller.environment.end() ? std::string() : found->substr(kTypedDirectory.size());
  if (request.cwd) typed = policy::absolute_path(*request.cwd, facts.home, typed).value_or(std::string());
  return host::typed_path(typed, cwd);
}

Result<host::PathQuestion> path_question(const PlaceRequest& request, const plan::HostFacts& facts,
                                         const LoadedPolicy& loaded) {
  host::PathQuestion question;
  question.project = loaded.project;
  question.policy_files = loaded.files;
  question.own_programs = own_programs();
  question.environment = sys::own_environment();
  question.search_path = search_path_of(question.environment);
  question.allow_obeyed = loaded.policy.filesystem.allow_obeyed;
  question.git_config = loaded.policy.filesystem.git_config;
  question.mandatory_search_depth = loaded.policy.mandatory_search_depth;
  const policy::Bases bases{.home = facts.home, .project = loaded.project, .cwd = facts.cwd};
  question.rules = TRY_CTX(policy::rules_of(loaded.policy, bases), loaded.policy.source);
  using enum policy::OuterRepositories;
  const bool brings = loaded.policy.filesystem.outer_repositories == kBrought && request.outer_repositories == kBrought;
  if (brings) question.repository = host::outer_repository(loaded.project);
  const policy::PathOptions options{.allow_read = request.allow_read,
                                    .deny_read = request.deny_read,
                                    .allow_write = request.allow_write,
                                    .deny_write = request.deny_write,
                                    .agent = request.agent};
  std::ranges::move(TRY(policy::rules_of(options, bases)), std::back_inserter(question.rules));
  return question;
}

// What a container's commands are, is the caller: an engine maps no ids.
Result<plan::ImageInput> engine_image_of(const PlaceRequest& request, const plan::HostFacts& facts,
                                         const Residence* residence) {
  plan::ImageInput input;
  input.root = request.image.value_or(std::string(kDefaultImage));
  input.use = plan::ImageInput::Use::kEngine;
  TRY_CTX(backend::container::check_image_name(input.root), "image");
  if (residence != nullptr && residence->purpose == Residence::Purpose::kInstall) {
    input.use = plan::ImageInput::Use::kEngineInstall;
    return input;
  }
  input.ids.user = facts.uid;
  input.ids.group = facts.gid;
  if (residence != nullptr) {
    input.account = residence->user;
    input.home = residence->home;
  }
  return input;
}

// An image is the namespace backend's and an engine's.
Result<std::optional<plan::ImageInput>> image_of(const PlaceRequest& request, BackendKind backend,
                                                 const plan::HostFacts& facts, const Residence* residence) {
  if (backend == BackendKind::kContainer) return TRY(engine_image_of(request, facts, residence));
  if (!request.image) return std::optional<plan::ImageInput>();
  if (backend != BackendKind::kNamespace) {
    return fail(Error::unsupported(
        cat({"an image: backend ", name_of(backend), " has the host's own files; use --backend namespace"})));
  }
  plan::ImageInput input = TRY(image_input(*request.image, facts));
  if (residence != nullptr) {
    input.layer = residence->layer;
    input.account = residence->user;
    input.home = residence->home;
    if (residence->purpose == Residence::Purpose::kInstall) {
      input.use = plan::ImageInput::Use::kInstall;
      input.ids = plan::map_for_files(input.ids);
    }
  }
  return std::optional(std::move(input));
}

void hold_names(host::PathQuestion& question, SandboxRepositories& made) {
  question.names = host::PathQuestion::Names::kAlways;
  question.is_sandboxes = [&](const std::string& directory) { return made.take(directory); };
}

void take_answers(Prepared& prepared, policy::Policy policy, host::PathAnswer answer) {
  prepared.policy = std::move(policy);
  prepared.rules = std::move(answer.rules);
  prepared.searched_all = answer.searched_all;
  prepared.listings = std::move(answer.listings);
  prepared.paths = std::move(answer.facts);
}

// Whose home is the image's.
plan::HostFacts facts_of_root(plan::HostFacts facts) {
  facts.home = "/root";
  facts.user = "root";
  return facts;
}

Result<std::vector<plan::Share>> shares_of(const Residence* residence) {
  std::vector<plan::Share> shares;
  if (residence == nullptr) return shares;
  for (plan::Share share : residence->shares) {
    if (share.source.empty()) {
      shares.push_back(std::move(share));
      continue;
    }
    const auto status = TRY(sys::status_of(share.source));
    const bool is_file = share.kind == plan::MakeTarget::kFile;
    if (!status || (status->kind == sys::EntryKind::kDirectory) == is_file) {
      return fail(Error::not_found(cat({printable(share.source), ": is no ", is_file ? "file" : "directory"})));
    }
    share.identity = {status->device, status->inode};
    shares.push_back(std::move(share));
  }
  return shares;
}

bool is_of_host_tree(const PlaceRequest& request, BackendKind backend) {
  return !request.image && policy::traits_of(backend).guest_mounts;
}

Result<OwnFiles> own_files_of(const PlaceRequest& request, BackendKind backend, plan::NetworkKind network,
                              const host::PathQuestion& question, const plan::HostFacts& facts, const Caller& caller,
                              plan::CommittedFiles committed) {
  const bool has_own_tree = is_of_host_tree(request, backend);
  // An image's own /etc/passwd gets a line, and an OS user has one already.
  const bool is_of_host = has_own_tree || (backend == BackendKind::kNone && !request.image);
  OwnFiles own = TRY(own_files(has_own_tree ? SystemFiles::kHosts : SystemFiles::kOther, network,
                               is_of_host ? caller.residence : nullptr, facts));
  own.environment = request.environment;
  const bool is_agents = caller.residence != nullptr && caller.residence->purpose == Residence::Purpose::kLive;
  const bool has_place = has_own_tree || backend == BackendKind::kNamespace || backend == BackendKind::kContainer;
  if (has_place && is_agents) add_git_of_person(own.covered, own.environment, facts, question, caller, committed);
  return own;
}

// hutch's own directories are made where a sandbox could otherwise make them: whoever does owns the next policy.
Result<host::PathAnswer> look_and_make_store(const host::PathQuestion& question, const plan::HostFacts& facts) {
  host::PathAnswer answer = TRY(host::look_at_paths(question, facts));
  if (answer.missing_store.empty()) return answer;
  for (const std::string& directory : answer.missing_store) {
    TRY_CTX(sys::make_private_directories(directory), "make hutch's own directory");
  }
  return host::look_at_paths(question, facts);
}

std::vector<std::string> search_path_of(const std::vector<std::string>& environment) {
  std::vector<std::string> found;
  for (const std::string& entry : environment) {
    if (!entry.starts_with("PATH=")) continue;
    for (const std::string_view directory : split(std::string_view(entry).substr(5), ':'))
      found.emplace_back(directory);
    break;
  }
  return found;
}

// The directories of PATH that a rule may hide, for the others need no lookup, and those of `paths` that are not empty.
std::vector<std::string> also_looked_at(const std::vector<policy::Rule>& rules, const Caller& caller,
                                        std::initializer_list<std::string> paths) {
  std::vector<std::string> found = search_path_of(caller.environment);
  std::erase_if(found, [&](const std::string& directory) {
    return std::ranges::none_of(rules, [&](const policy::Rule& rule) {
      return rule.verb == policy::Verb::kDenyRead && is_within(directory, rule.path);
    });
  });
  std::ranges::copy_if(paths, std::back_inserter(found), [](const std::string& path) { return !path.empty(); });
  return found;
}

std::string command_path(const Caller& caller, const std::string& cwd) {
  if (caller.command.find('/') == std::string::npos) return {};
  // The shell has expanded what it would: a "~" that is left is a name.
  const std::string typed = caller.command.starts_with('/') ? caller.command : cat({cwd, "/", caller.command});
  const auto canonical = host::canonical_path(typed);
  return canonical ? canonical->path : std::string();
}

void add_stores(std::vector<std::string>& paths, const plan::TrustInput& trust) {
  std::ranges::copy(trust.stores, std::back_inserter(paths));
  std::ranges::copy(trust.java_stores, std::back_inserter(paths));
}

plan::ResourceLimits limits_of(const policy::Limits& policy, const LimitOptions& options) {
  const auto number = [](const auto& option, const auto& own) { return option.value_or(own.value_or(0)); };
  using std::chrono::milliseconds;
  return {
      .memory_bytes = number(options.memory_bytes, policy.memory_bytes),
      .pids = number(options.pids, policy.pids),
      .cpu_millis = number(options.cpu_millis, policy.cpu_millis),
      .tmp_bytes = number(options.tmp_bytes, policy.tmp_bytes),
      .disk_bytes = number(options.disk_bytes, policy.disk_bytes),
      .timeout = options.timeout.value_or(policy.timeout.value_or(milliseconds(0))),
      .idle_timeout = options.idle_timeout.value_or(policy.idle_timeout.value_or(milliseconds(0))),
      .output_bytes = policy.output_bytes.value_or(0),
  };
}

}  // namespace

}  // namespace hutch::service
