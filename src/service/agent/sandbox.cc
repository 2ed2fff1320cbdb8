// One agent's sandbox and its life.
#include "service/agent/sandbox.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/limits.h"
#include "base/text.h"
#include "host/machine/facts.h"
#include "policy/document/amend.h"
#include "policy/network/rules.h"
#include "policy/units.h"
#include "service/agent/system.h"
#include "service/common/load_policy.h"
#include "service/common/package_hosts.h"
#include "service/common/programs.h"
#include "service/image/build.h"
#include "service/image/build_stop.h"
#include "service/image/images.h"
#include "service/image/layers.h"
#include "service/image/recipe.h"
#include "service/live/engine_layer.h"
#include "service/live/machine_layer.h"
#include "service/prepare/containers.h"
#include "service/prepare/policy_summary.h"
#include "store/settings_file.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

constexpr std::chrono::milliseconds kLoginWait{10'000};

Result<PlaceRequest> place_request(const store::AgentRecord& record, const GivenPolicy& given,
                                   const std::shared_ptr<AgentNetworkNow>& network) {
  PlaceRequest place;
  place.own_network = [network] { return network->options(); };
  place.policy = given.whole;
  place.first_policy = given.first;
  if (!record.backend.empty()) place.backend = TRY(find_backend(cat({"agent ", record.name}), record.backend));
  if (!record.policy.empty()) place.policy_file = record.policy;
  place.agent = record.name;
  place.allow_read = record.files.allow_read;
  place.allow_write = record.files.allow_write;
  const store::AgentLimits& limits = record.limits;
  if (!limits.memory.empty()) place.limits.memory_bytes = TRY(policy::parse_memory(limits.memory));
  if (!limits.cpus.empty()) place.limits.cpu_millis = TRY(policy::parse_cpus(limits.cpus));
  if (!limits.pids.empty()) place.limits.pids = TRY(policy::parse_size(limits.pids));
  if (!limits.tmp_size.empty()) place.limits.tmp_bytes = TRY(policy::parse_size(limits.tmp_size));
  if (!limits.disk.empty()) place.limits.disk_bytes = TRY(policy::parse_size(limits.disk));
  return place;
}

bool is_container(const store::AgentRecord& agent) { return store::backend_kind(agent) == BackendKind::kContainer; }
bool is_machine(const store::AgentRecord& agent) { return store::backend_kind(agent) == BackendKind::kVm; }
// Root has another sandbox of the same system, and what it installs is there from the agent's next start on.
bool starts_anew(const store::AgentRecord& agent) { return is_container(agent) || is_machine(agent); }

Result<std::optional<MachineLayer>> installed_in_machine(const store::AgentRecord& agent, const host::StateDirs& dirs) {
  const plan::HostFacts facts = TRY_CTX(host::probe_facts(), "look at this machine");
  return machine_layer(agent, dirs, facts);
}

Result<LayerBefore> layer_before(const store::AgentRecord& agent, const host::StateDirs& dirs) {
  if (!is_machine(agent)) return engine_layer_before(agent);
  const plan::HostFacts facts = TRY_CTX(host::probe_facts(), "look at this machine");
  return machine_layer_before(agent, dirs, facts);
}

hutch::Status keep_layer(const store::AgentRecord& agent, const host::StateDirs& dirs, KeptSandbox& installer,
                         const std::vector<std::string>& package_hosts) {
  if (!is_machine(agent)) {
    const backend::KeptRoot kept = TRY(next_engine_layer(agent, package_hosts));
    TRY_CTX(installer.keep_root(kept), "keep what was installed");
    return {};
  }
  const auto machine = installer.running();
  if (!machine) return fail({Code::kConflict, 0, "the installation's machine does not run any more"});
  TRY(flush_disk(*machine));
  const plan::HostFacts facts = TRY_CTX(host::probe_facts(), "look at this machine");
  const backend::KeptRoot kept = TRY(next_machine_layer(agent, dirs, facts, package_hosts));
  TRY_CTX(installer.keep_root(kept), "keep what was installed");
  // Whatever still writes there ends before the disk is read.
  installer.stop();
  return {};
}

hutch::Status check_nothing_runs(const KeptSandbox& kept) {
  if (!kept.is_busy()) return {};
  return fail(
      {Code::kConflict, 0,
       "what is installed in a container, or a machine, is there from its next start on, and processes run in it; "
       "end them, or wait for their end, and try again"});
}

}  // namespace

AgentSandbox::AgentSandbox(store::AgentRecord record, host::StateDirs dirs, Hooks hooks)
    : record_(std::move(record)),
      network_now_(std::make_shared<AgentNetworkNow>(record_.name, record_.network)),
      dirs_(std::move(dirs)),
      given_policy_(std::move(hooks.policy)),
      take_slot_(std::move(hooks.take_slot)),
      directories_(agent_directories(dirs_, record_)),
      places_(places_of(record_, directories_, store::backend_kind(record_))),
      audience_(std::move(hooks.audience)),
      secrets_(hooks.secrets, record_.name),
      changed_(std::move(hooks.changed)),
      tell_(hooks.tell),
      next_(record_),
      kept_({.what = cat({"agent ", record_.name}),
             .judge = [this](const Stop& stop) { return judge(stop); },
             .record = {.directory = dirs_.data,
                        .tell = hooks.tell,
                        .agent = record_.name,
                        .name = record_.name,
                        .command = {"hutch", "agent", "start", record_.name},
                        .scrub = [this](const std::string& text) { return secrets_.scrubber()->scrub(text); }},
             .changed =
                 [this](std::string_view state, const std::string& reason) {
                   if (changed_) changed_(record_.name, state, reason);
                 },
             .next_number = hooks.next_number,
             .audience = audience_.get(),
             .saved = std::move(hooks.saved),
             .asked_before = hooks.asked_before,
             .placeholders = [this](const policy::Host& host) { return secrets_.placeholders_for(host); },
             .bridge = {std::string(kBridgePlace),
                        hooks.serve_bridge ? cat({bridge_directory(dirs_, record_.name), "/", kBridgeName}) : ""},
             .take_bridge = [this](UniqueFd socket) { bridge_.take(std::move(socket)); },
             .limits_with = &limits_}),
      // Nobody is asked anything: an answer would hold for what a package runs as root.
      installer_({.what = cat({"the installation for agent ", record_.name}),
                  .judge = [this](const Stop& stop) { return judge_install(stop); },
                  .record = {.directory = dirs_.data,
                             .tell = std::move(hooks.tell),
                             .agent = record_.name,
                             .name = record_.name,
                             .command = {"hutch", "tool", "call", record_.name, "sandbox_install"}},
                  .next_number = hooks.next_number,
                  .limits_with = &limits_}),
      root_(root_settings(hooks)),
      serve_bridge_(std::move(hooks.serve_bridge)),
      next_number_(std::move(hooks.next_number)),
      bridge_(bridge_directory(dirs_, record_.name), store::backend_kind(record_),
              serve_bridge_ ? AgentBridge::Serve([this](UniqueFd socket, const sys::Peer&) {
                serve_bridge_(*this, nullptr, std::move(socket));
              })
                            : AgentBridge::Serve()) {
  // What tools give commands as PATH, which no login shell has a word in.
  const std::string programs = bridge_.programs();
  if (!programs.empty()) places_.layout.path = cat({kUsualPath, ":", programs});
}

store::AutonomousExec AgentSandbox::autonomous_exec() const {
  const std::scoped_lock lock(next_mutex_);
  return next_.autonomous_exec;
}

void AgentSandbox::set_now(const store::AgentRecord& record) {
  network_now_->set(record.network);
  const std::scoped_lock lock(next_mutex_);
  next_ = record;
}

store::AgentRecord AgentSandbox::next() const {
  const std::scoped_lock lock(next_mutex_);
  return next_;
}

void AgentSandbox::tell_artifacts_changed() const {
  if (changed_) changed_(record_.name, kArtifactsChanged, "");
}

std::string AgentSandbox::host_program() const {
  const std::string programs = bridge_.programs();
  return programs.empty() ? std::string() : cat({programs, "/hutch-host"});
}

void AgentSandbox::end_bridge() {
  plugins_.end_all();
  bridge_.end();
}

// What is installed ends first, and once more: it may have begun with what was running still.
void AgentSandbox::stop(After after) {
  if (after == After::kNever) plugins_.retire();
  plugins_.end_all();
  installer_.stop();
  root_.stop();
  kept_.stop(after);
  installer_.stop(after);
  root_.stop(after);
}

std::vector<std::future<AgentSandbox::Notes>> AgentSandbox::reload_policy() {
  std::vector<std::future<Notes>> reloading;
  reloading.push_back(kept_.reload_policy());
  reloading.push_back(installer_.reload_policy());
  // What a plugin may reach is settled when its sandbox starts: the next one goes by the policy as it is then.
  stop_plugins();
  // So is what its root sees of the host.
  root_.stop();
  return reloading;
}

void AgentSandbox::stop_plugins() {
  for (const auto& sandbox : plugins_.all()) sandbox->kept().stop();
}

bool AgentSandbox::retire() {
  if (!kept_.retire()) return false;
  plugins_.retire();
  installer_.stop(After::kNever);
  root_.stop(After::kNever);
  return true;
}

Result<Installation> AgentSandbox::begin_install(std::chrono::milliseconds patience) {
  if (!store::has_image(record_) && !starts_anew(record_)) return fail(no_system(record_, next()));
  std::unique_lock turn(install_mutex_, std::defer_lock);
  if (!turn.try_lock_for(patience)) return fail({Code::kConflict, 0, "another installation is under way"});
  if (starts_anew(record_)) {
    TRY(check_nothing_runs(kept_));
    TRY(find_package_hosts());
  }
  auto resident = TRY(installer_.resident());
  return Installation(std::move(turn), installer_, std::move(resident));
}

// Of a container that is as the agent's image says, with what was installed by root alone.
Result<std::vector<std::string>> AgentSandbox::recipe_hosts() {
  static constexpr std::chrono::seconds kTurn{60};
  std::vector<std::string> hosts;
  std::vector<std::string> of_languages;
  if (starts_anew(record_)) {
    const std::unique_lock turn(install_mutex_, kTurn);
    if (!turn) return fail({Code::kConflict, 0, "an installation is under way"});
    TRY(resident());
    TRY(find_package_hosts());
    hosts = package_hosts_;
    TRY(installer_.resident());
    of_languages = language_hosts(files_in(installer_));
    installer_.stop();
  } else {
    std::string root = "/";
    const plan::HostFacts facts = TRY_CTX(host::probe_facts(), "look at this machine");
    if (store::has_image(record_)) {
      const plan::ImageInput image = TRY(image_input(record_.image, facts));
      root = image.root;
    }
    hosts = TRY(package_hosts(root));
    of_languages = TRY(language_hosts(root));
  }
  std::ranges::move(of_languages, std::back_inserter(hosts));
  return hosts;
}

// Where nothing has been installed yet a container, or a machine, is asked in which nothing has run; what has been
// installed since says nothing.
hutch::Status AgentSandbox::find_package_hosts() {
  if (is_machine(record_)) {
    if (auto layer = TRY(installed_in_machine(record_, dirs_))) {
      package_hosts_ = std::move(layer->package_hosts);
      return {};
    }
  } else if (auto layer = TRY(engine_layer(record_))) {
    package_hosts_ = std::move(layer->package_hosts);
    return {};
  }
  package_hosts_.clear();
  TRY(installer_.resident());
  package_hosts_ = package_hosts(files_in(installer_));
  installer_.stop();
  return {};
}

hutch::Status AgentSandbox::keep_installed() {
  if (!starts_anew(record_)) return {};
  const LayerBefore before = TRY(layer_before(record_, dirs_));
  const hutch::Status kept = keep_layer(record_, dirs_, installer_, package_hosts_);
  if (!kept) {
    before.forget();
    return kept;
  }
  if (kept_.is_busy()) {
    before.forget();
    return fail(
        {Code::kConflict, 0,
         "a process was started meanwhile, so that it is there from the sandbox's next start on; end what runs, "
         "and have the agent stopped"});
  }
  kept_.stop();
  stop_plugins();
  const auto started = kept_.resident();
  if (started) {
    before.forget();
    return {};
  }
  TRY_CTX(before.restore(), "undo what was installed, with which no sandbox starts");
  return fail(hutch::Error(started.error()).with_context("what was installed is undone: no sandbox starts with it"));
}

Result<PlaceRequest> AgentSandbox::place_now() const { return place_request(record_, given_policy_, network_now_); }

// On the thread that keeps the sandbox.
Result<Judged> AgentSandbox::judge(const Stop& stop) {
  const store::Settings::Security security = TRY(store::SettingsFile(dirs_.config).read()).security;
  if (security.sandboxes_max && take_slot_) {
    TRY(take_slot_(record_.name, static_cast<std::size_t>(*security.sandboxes_max)));
  }
  // Of a sandbox that ended by itself: two may not have the layer.
  installer_.stop();
  root_.stop();
  if (store::has_image(record_)) stop_plugins();
  PlaceRequest place = TRY(place_now());
  place.usual_hosts = security.allowed_hosts;
  place.environment = places_.environment;
  Residence residence = places_.residence;
  residence.swaps = secrets_.has_placeholders();
  TRY(bridge_.begin());
  TRY_CTX(bridge_.add_to(residence, place.environment), "offer the bridge");
  Judged judged = TRY(judge_for(std::move(place), std::move(residence), given_policy_.questions, stop));
  TRY(bridge_.settle(judged.prepared.plan));
  return judged;
}

// On the thread that keeps the installation.
Result<Judged> AgentSandbox::judge_install(const Stop& stop) {
  const auto beside = running();
  if (!beside) return fail({Code::kConflict, 0, "the agent's sandbox does not run"});
  PlaceRequest place = TRY(place_now());
  place.usual_hosts = TRY(store::SettingsFile(dirs_.config).read()).security.allowed_hosts;
  const plan::HostFacts facts = TRY_CTX(host::probe_facts(), "look at this machine");
  std::vector<std::string> hosts = package_hosts_;
  if (!starts_anew(record_)) {
    const plan::ImageInput image = TRY(image_input(record_.image, facts));
    hosts = TRY(package_hosts(image.root));
  }
  std::ranges::move(hosts, std::back_inserter(place.usual_hosts));
  place.environment = {"LOGNAME=root", "LC_ALL=C.UTF-8"};
  if (is_machine(record_)) place.environment.push_back(cat({"PATH=", kUsualPath}));
  Residence residence;
  residence.purpose = Residence::Purpose::kInstall;
  residence.cwd = "/";
  Judged judged = TRY(judge_for(std::move(place), std::move(residence), plan::FileQuestions::kNone, stop));
  if (!starts_anew(record_)) judged.given_root = TRY_CTX(beside->hand_root(), "have the agent's root");
  return judged;
}

// On the thread that keeps the plugin's sandbox. With an image it has the root of the agent's own; of a container it is
// another one of the same image.
Result<Judged> AgentSandbox::judge_plugin(PluginSandbox& sandbox, const Stop& stop) {
  using Kind = plugin::NetworkPermission::Kind;
  TRY(check_plugin_sandbox());
  const bool has_root = store::has_image(record_) && !is_container(record_);
  const auto beside = has_root ? running() : nullptr;
  if (has_root && !beside) return fail({Code::kConflict, 0, "the agent's sandbox does not run"});
  PlaceRequest place = TRY(place_now());
  place.usual_hosts = TRY(store::SettingsFile(dirs_.config).read()).security.allowed_hosts;
  place.environment = places_.environment;
  Residence residence = places_.residence;
  residence.swaps = secrets_.has_placeholders();
  if (sandbox.rights().registries) {
    const plan::HostFacts facts = TRY_CTX(host::probe_facts(), "look at this machine");
    std::ranges::move(registry_hosts(facts.home), std::back_inserter(place.usual_hosts));
  }
  const plugin::NetworkPermission& network = sandbox.rights().network;
  if (network.kind != Kind::kOfAgent) residence.hosts_at_most = network.hosts;
  TRY(sandbox.bridge().begin());
  TRY_CTX(sandbox.bridge().add_to(residence, place.environment), "offer the bridge");
  Judged judged = TRY(judge_for(std::move(place), std::move(residence), plan::FileQuestions::kNone, stop));
  TRY(sandbox.bridge().settle(judged.prepared.plan));
  if (has_root) {
    // What is changed there is the agent's: two may not have the layer.
    judged.prepared.plan.mounts.front().kind = plan::MountKind::kGivenRoot;
    judged.given_root = TRY_CTX(beside->hand_root(), "have the agent's root");
  }
  const BackendKind backend = judged.prepared.backend;
  if (policy::traits_of(backend).isolates) return judged;
  return fail(Error::unsupported(
      cat({"backend ", name_of(backend), " has no sandbox for a plugin that may do less than its agent"})));
}

KeptSandboxSettings AgentSandbox::plugin_settings(PluginSandbox& sandbox) {
  const std::string& plugin = sandbox.rights().plugin;
  // Nobody is asked anything: an answer would be the agent's.
  return {.what = cat({"the sandbox of plugin ", plugin, " for agent ", record_.name}),
          .judge = [this, &sandbox](const Stop& stop) { return judge_plugin(sandbox, stop); },
          .record = {.directory = dirs_.data,
                     .tell = tell_,
                     .agent = record_.name,
                     .name = record_.name,
                     .command = {"hutch", "plugin", plugin, record_.name},
                     .scrub = [this](const std::string& text) { return secrets_.scrubber()->scrub(text); }},
          .next_number = next_number_,
          .placeholders =
              [this, &sandbox](const policy::Host& host) {
                return secrets_.placeholders_for(host, &sandbox.rights().secrets);
              },
          .bridge = {std::string(kBridgePlace), sandbox.bridge().socket()},
          .take_bridge = [&sandbox](UniqueFd socket) { sandbox.bridge().take(std::move(socket)); },
          .limits_with = &limits_};
}

hutch::Status AgentSandbox::check_plugin_sandbox() const {
  const BackendKind backend = store::backend_kind(record_);
  if (policy::traits_of(backend).isolates) return {};
  return fail(Error::unsupported(
      cat({"a plugin that may do less than its agent needs a sandbox of its own beside the agent's, which backend ",
           name_of(backend), " does not have: use an agent with backend ",
           policy::backend_list("or", &policy::BackendTraits::isolates), ", or change the plugin's `permissions`"})));
}

Result<std::shared_ptr<PluginSandbox>> AgentSandbox::plugin_sandbox(const PluginRights& rights) {
  TRY(check_plugin_sandbox());
  // Its root is the agent's.
  if (store::has_image(record_) && !is_container(record_)) TRY(resident());
  return plugins_.get(rights, [&] {
    AgentBridge::Serve serve;
    if (serve_bridge_) {
      serve = [this, rights](UniqueFd socket, const sys::Peer&) { serve_bridge_(*this, &rights, std::move(socket)); };
    }
    // One of the same plugin may be ending still: each has a place of its own.
    const std::string place =
        cat({bridge_directory(dirs_, record_.name), "/p/", std::to_string(plugins_.next_place())});
    return std::make_shared<PluginSandbox>(rights, place, store::backend_kind(record_), std::move(serve),
                                           [this](PluginSandbox& sandbox) { return plugin_settings(sandbox); });
  });
}

std::vector<std::string> AgentSandbox::plugin_environment(PluginSandbox& sandbox) const {
  return with_own_programs(sandbox.kept().terms().environment, layout().home, sandbox.bridge().programs());
}

bool AgentSandbox::is_busy() const {
  const auto works = [](const auto& sandbox) { return sandbox->kept().is_busy(); };
  return kept_.is_busy() || root_.is_busy() || installer_.is_busy() || std::ranges::any_of(plugins_.all(), works);
}

bool AgentSandbox::has_leftovers() const {
  const auto lives = [](const auto& sandbox) { return sandbox->kept().has_leftovers(); };
  return kept_.has_leftovers() || root_.has_leftovers() || std::ranges::any_of(plugins_.all(), lives);
}

Result<Judged> AgentSandbox::judge_for(PlaceRequest place, Residence residence, plan::FileQuestions questions,
                                       const Stop& stop) {
  // Those of an OS user are its own: hutch init has made them.
  if (store::backend_kind(record_) != BackendKind::kUser) TRY(make_agent_directories(directories_));
  Judged judged{.facts = TRY_CTX(host::probe_facts(), "look at this machine"),
                .prepared = {},
                .guest_program = TRY(guest_program())};
  TRY(host::make_store_directories(judged.facts));
  judged.facts.cwd = record_.dir.empty() ? directories_.home : record_.dir;
  const BuildStop ends{stop};
  if (is_container(record_)) {
    TRY(ensure_engine_image(engine_image(record_), Signals::kOthers, judged.facts, tell_, &ends));
    const auto layer = TRY(engine_layer(record_));
    place.image = layer ? layer->image : engine_image(record_);
  } else if (store::has_image(record_)) {
    place.image = record_.image;
    TRY(ensure_image(record_.image, Signals::kOthers, judged.facts, tell_, &ends));
    const store::ImageManifest image = TRY(show_image(record_.image, judged.facts));
    residence.layer = TRY(layer_over(image, record_.name, dirs_));
  }
  judged.place = place;
  judged.prepared = TRY(prepare(
      place, judged.facts, {.environment = sys::own_environment(), .residence = &residence, .questions = questions}));
  if (is_machine(record_)) {
    if (const auto layer = TRY(installed_in_machine(record_, dirs_))) begin_with(*layer, judged.prepared.plan);
  }
  const std::string& source = judged.prepared.policy.source;
  if ((judged.prepared.backend == BackendKind::kNone) != (store::backend_kind(record_) == BackendKind::kNone)) {
    return fail(Error::invalid(
        cat({source, ": backend none is for an agent to say: hutch agent set ", record_.name, " backend=none"})));
  }
  if ((judged.prepared.backend == BackendKind::kUser) != (store::backend_kind(record_) == BackendKind::kUser)) {
    return fail(Error::invalid(cat({source,
                                    ": backend user is for a new agent to say: hutch agent create NAME "
                                    "backend=user"})));
  }
  return judged;
}

// As judge_plugin() has it for a set-up whose person opens the package registries.
bool AgentSandbox::registries_open(const std::vector<std::pair<std::string, int>>& hosts) const {
  auto facts = host::probe_facts();
  auto place = place_now();
  if (!facts || !place) return false;
  facts->cwd = record_.dir.empty() ? directories_.home : record_.dir;
  place->usual_hosts = registry_hosts(facts->home);
  auto loaded = load_policy(*place, *facts, sys::own_environment());
  if (!loaded) return false;
  policy::Network& network = loaded->policy.network;
  if (!policy::amend(network, network_options(*place, network))) return false;
  return std::ranges::any_of(hosts, [&](const std::pair<std::string, int>& refused) {
    const auto host = policy::canonical_host(refused.first);
    if (!host) return false;
    const policy::HostDecision decision =
        refused.second == 0 ? policy::decide_name(network, *host) : policy::decide_host(network, *host, refused.second);
    return decision.verdict == policy::HostVerdict::kAllow;
  });
}

Result<std::string> AgentSandbox::status_line() const {
  plan::HostFacts facts = TRY_CTX(host::probe_facts(), "look at this machine");
  facts.cwd = record_.dir.empty() ? directories_.home : record_.dir;
  const PlaceRequest place = TRY(place_now());
  LoadedPolicy loaded = TRY(load_policy(place, facts, sys::own_environment()));
  if (store::backend_kind(record_) == BackendKind::kNone) loaded.policy.enabled = policy::Switch::kDisabled;
  return service::status_line(loaded.policy);
}

Result<std::vector<std::string>> AgentSandbox::environment(const std::vector<std::string>& more) {
  const auto running = TRY(resident());
  const std::scoped_lock lock(login_.mutex);
  std::string files = login_files(directories_.home);
  if (login_.variables.empty() || login_.of.lock() != running || login_.files != files) {
    login_.variables = TRY(ask_login_shell(*running));
    login_.of = running;
    login_.files = std::move(files);
  }
  std::vector<std::string> own = login_.variables;
  TRY(secrets_.add_variables(own));
  return merged(own, more);
}

// A login shell with its profile scripts takes a hundred times as long as a command: it is asked once. One that fails,
// or is not there, changes nothing.
Result<std::vector<std::string>> AgentSandbox::ask_login_shell(sandbox::Resident& resident) {
  const std::vector<std::string> planned = kept_.terms().environment;
  // Which shell there is, is seen in there alone. As after a login SHELL is set: else each bash asks the system who it
  // is, which takes as long as the rest of its start.
  static constexpr const char* kEither =
      "if [ -x /bin/bash ]; then export SHELL=\"${SHELL:-/bin/bash}\"; exec /bin/bash -l -c 'env -0'; fi\n"
      "export SHELL=\"${SHELL:-/bin/sh}\"; exec /bin/sh -l -c 'env -0'";
  const auto process = TRY(resident.spawn({.arguments = {"/bin/sh", "-c", kEither},
                                           .environment = planned,
                                           .cwd = layout().base,
                                           .timeout = kLoginWait,
                                           .shown = sandbox::ProcessRequest::Shown::kNo},
                                          sandbox::Input::kNone));
  const auto end = process->wait(sandbox::Process::Clock::now() + kLoginWait + 3 * limits::kTermGrace);
  if (end && end->ended_by == sandbox::EndedBy::kGuestGone) return fail({Code::kConflict, 0, end->reason});
  if (!end || end->exit_code != 0) return planned;
  const sandbox::Capture output = process->captured(sandbox::OutputStream::kOutput);
  std::vector<std::string> found;
  for (const std::string_view entry : split(output.head(), '\0')) {
    const bool of_shell = entry.starts_with("_=") || entry.starts_with("SHLVL=") || entry.starts_with("PWD=");
    if (!of_shell && entry.contains('=')) found.emplace_back(entry);
  }
  return with_own_programs(merged(planned, found), layout().home, bridge_.programs());
}

// The home is of the sandbox, all above it is not: in one new name that is no link nothing can be put in the way.
// In the home of another user only root makes files: then there is none, which the tool says.
Result<sandbox::LogFile> AgentSandbox::make_log(const std::string& path) const {
  if (store::backend_kind(record_) == BackendKind::kUser && sys::user_id() != 0) return sandbox::LogFile();
  const std::string& home = layout().home;
  const bool below = path.starts_with(home) && path.size() > home.size() + 1 && path[home.size()] == '/';
  const std::string name = below ? path.substr(home.size() + 1) : std::string();
  if (name.empty() || name.contains('/')) {
    return fail(Error::invalid(cat({printable(path), " is no file of the agent's home"})));
  }
  const std::string on_host = cat({directories_.home, "/", name});
  return sandbox::LogFile{TRY_CTX(sys::make_file(sys::kCwd, on_host, 0644), "make the log file"), path};
}

Result<sandbox::ProcessRequest> AgentSandbox::request(std::vector<std::string> arguments, const std::string& cwd,
                                                      const std::vector<std::string>& environment) {
  sandbox::ProcessRequest request;
  request.environment = TRY(this->environment(environment));
  request.arguments = std::move(arguments);
  request.cwd = layout().base;
  if (!cwd.empty()) request.cwd = cwd.starts_with('/') ? cwd : cat({layout().base, "/", cwd});
  const KeptSandbox::Terms terms = kept_.terms();
  request.processes_max = terms.processes_max;
  request.address_space_max = terms.address_space_max;
  return request;
}

}  // namespace hutch::service
