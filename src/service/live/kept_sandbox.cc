// A sandbox that stays, and its life.
#include "service/live/kept_sandbox.h"

#include <algorithm>
#include <cerrno>
#include <future>

#include "base/text.h"
#include "plan/make/bridge_place.h"
#include "service/common/filter.h"
#include "service/common/isolation_question.h"
#include "service/common/load_policy.h"
#include "service/common/programs.h"
#include "service/explain/missing_repository.h"
#include "service/git/commits.h"
#include "service/live/refused_place.h"
#include "service/prepare/doctor.h"
#include "service/prepare/start.h"
#include "service/prepare/trust.h"
#include "store/settings_file.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

Result<store::MachineSettings> settings_of_machines(const plan::HostFacts& facts) {
  return store::MachineSettingsFile(config_directory(facts, sys::own_environment())).read();
}

store::SettingsFile settings_file(const plan::HostFacts& facts) {
  return store::SettingsFile(config_directory(facts, sys::own_environment()));
}

backend::StartOptions start_options(const Judged& judged) {
  backend::StartOptions options{.guest_program = judged.guest_program,
                                .landlock_abi = judged.facts.landlock_abi,
                                .service = wire::Service::kManyCommands,
                                .admit = {},
                                .given_root = judged.given_root.get()};
  const auto& beside = judged.beside;
  if (beside) options.beside.emplace(beside->user.get(), beside->mounts.get(), beside->init, beside->pidfd.get());
  return options;
}

std::vector<std::string> own_places(const plan::SandboxPlan& plan) {
  static constexpr unsigned kForAll = 01777;
  std::vector<std::string> places;
  for (const plan::MountStep& step : plan.mounts) {
    const bool is_for_all = step.mode == kForAll || step.target == "/run";
    if (step.kind == plan::MountKind::kTmpfs && is_for_all) places.push_back(step.target);
  }
  return places;
}

Result<sandbox::AccessRules> access_of(const Judged& judged, const std::string& data) {
  const Prepared& prepared = judged.prepared;
  auto rules = TRY(sandbox::access_rules(judged.guest_program, prepared.plan, data, prepared.committed));
  rules.allowed_by = sandbox::AllowedBy::kPolicy;
  rules.explain = place_explainer(prepared.rules, rules.allowed_by, {});
  return rules;
}

// Whether a file may have a new name afterwards. An upload has no name until it ends.
bool puts_files(const wire::FileRequest& request) {
  return std::holds_alternative<wire::WriteFile>(request) || std::holds_alternative<wire::MoveFile>(request) ||
         std::holds_alternative<wire::MakeDirectory>(request) || std::holds_alternative<wire::EndUpload>(request) ||
         std::holds_alternative<wire::EndTree>(request);
}

std::shared_ptr<const LivePolicy> live_policy(const Judged& judged) {
  policy::Policy at_start = judged.prepared.policy;
  at_start.network = judged.prepared.own_network;
  return std::make_shared<const LivePolicy>(judged.place, judged.facts, sys::own_environment(), std::move(at_start));
}

}  // namespace

std::string_view name_of(LifeState state) {
  switch (state) {
    case LifeState::kPending: return "pending";
    case LifeState::kStarting: return "starting";
    case LifeState::kRunning: return "running";
    case LifeState::kStopping: return "stopping";
    case LifeState::kStopped: return "stopped";
    case LifeState::kError: return "error";
  }
  return "";
}

void KeptSandbox::set_state(LifeState state, std::string reason) {
  if (status_.state != state && settings_.changed) settings_.changed(name_of(state), reason);
  status_.state = state;
  status_.reason = std::move(reason);
}

Result<std::shared_ptr<sandbox::Resident>> KeptSandbox::resident() {
  {
    const std::scoped_lock lock(mutex_);
    ++waiting_;
  }
  auto started = started_or_start();
  const std::scoped_lock lock(mutex_);
  --waiting_;
  return started;
}

Result<std::shared_ptr<sandbox::Resident>> KeptSandbox::started_or_start() {
  {
    std::unique_lock lock(mutex_);
    const bool others = status_.state == LifeState::kStarting;
    const unsigned stops = stops_;
    changed_.wait(lock, [&] { return status_.state != LifeState::kStarting && status_.state != LifeState::kStopping; });
    if (status_.state == LifeState::kRunning && resident_->is_alive()) return resident_;
    if (retired_) {
      return fail({Code::kConflict, 0, cat({settings_.what, " was changed or removed meanwhile"})});
    }
    if (others && status_.state == LifeState::kError && start_error_) return fail(*start_error_);
    // A stop is for all who waited: each that tried again would have it wait again.
    if (stops != stops_) return fail({Code::kConflict, 0, cat({settings_.what, " was stopped meanwhile"})});
    // On the starter's thread: those for whom it is.
    if (is_left_ && waiting_ == 0) return fail({Code::kConflict, 0, cat({"start ", settings_.what, ": nobody waits"})});
    set_state(LifeState::kStarting);
    start_error_.reset();
    starting_ = std::stop_source();
    changed_.notify_all();  // whoever wants it stopped
  }
  return start();
}

Result<std::shared_ptr<sandbox::Resident>> KeptSandbox::start() {
  std::shared_ptr<sandbox::Resident> before;
  {
    const std::scoped_lock lock(mutex_);
    before = std::move(resident_);
  }
  if (before) before->stop();
  const auto git = std::make_shared<std::shared_ptr<GitWatch>>();
  auto started = sandbox::Resident::start({
      .begin = [this, git] { return begin(*git); },
      .on_refusal = [this](const sandbox::Refusal& refusal) { record_.refused(refusal); },
      .on_process_start = [this](const sandbox::Process& process) { record_.process_started(process); },
      .on_process_end = [this](const sandbox::Process& process,
                               const sandbox::ProcessEnd& end) { record_.process_ended(process, end); },
      .before_change =
          [git](sandbox::Changes changes, const sandbox::Surroundings& now) {
            if (*git) (*git)->begins(changes, now);
          },
      .after_change =
          [git](const sandbox::Surroundings& now) { return *git ? (*git)->ended(now) : sandbox::Others::kNone; },
      .before_first_change =
          [git] {
            if (*git) (*git)->changes();
          },
      .on_quiet =
          [git] {
            if (*git) (*git)->quiet();
          },
      .on_end =
          [this, git](const std::optional<Error>& reason) {
            if (*git) (*git)->over();
            ended(reason);
          },
      .next_number = settings_.next_number,
      .stop = starting_.get_token(),
  });
  const std::scoped_lock lock(mutex_);
  if (started) {
    resident_ = std::shared_ptr<sandbox::Resident>(std::move(*started));
    // What was set while it started, after it was judged.
    if (is_outdated_ && policy_) {
      resident_->on_keeping_thread(
          [this, questions = questions_, policy = policy_] { (void)reload_now(questions.get(), *policy); });
    }
    const bool alive = resident_->is_alive();
    set_state(alive ? LifeState::kRunning : LifeState::kError, alive ? std::string() : status_.reason);
  } else if (starting_.stop_requested()) {
    set_state(LifeState::kStopped);
    start_error_ = Error{Code::kConflict, 0, "it was stopped"};
  } else {
    set_state(LifeState::kError, started.error().message);
    start_error_ = std::move(started).error();
  }
  changed_.notify_all();
  if (start_error_) {
    start_error_ = std::move(*start_error_).with_context(cat({"start ", settings_.what}));
    return fail(*start_error_);
  }
  return resident_;
}

KeptSandbox::~KeptSandbox() {
  stop(After::kNever);
  if (starter_.joinable()) starter_.join();
}

std::shared_ptr<sandbox::Resident> KeptSandbox::running() const {
  const std::scoped_lock lock(mutex_);
  return status_.state == LifeState::kRunning ? resident_ : nullptr;
}

bool KeptSandbox::retire() {
  const std::scoped_lock lock(mutex_);
  const LifeState state = status_.state;
  if (state == LifeState::kRunning || state == LifeState::kStarting || state == LifeState::kStopping) return false;
  retired_ = true;
  return true;
}

void KeptSandbox::stop(After after) {
  std::shared_ptr<sandbox::Resident> leaving;
  {
    std::unique_lock lock(mutex_);
    ++stops_;
    if (after == After::kNever) retired_ = true;
    changed_.wait(lock, [&] {
      // Another start may have begun before this thread was woken.
      if (status_.state == LifeState::kStarting) starting_.request_stop();
      return status_.state != LifeState::kStarting && status_.state != LifeState::kStopping;
    });
    if (!resident_) {
      if (status_.state != LifeState::kPending) set_state(LifeState::kStopped);
      return;
    }
    leaving = std::move(resident_);
    set_state(LifeState::kStopping);
  }
  leaving->stop();
  const std::scoped_lock lock(mutex_);
  set_state(LifeState::kStopped);
  changed_.notify_all();
}

KeptSandbox::Status KeptSandbox::status() const {
  const std::scoped_lock lock(mutex_);
  return status_;
}

bool KeptSandbox::is_busy() const {
  std::shared_ptr<sandbox::Resident> resident;
  {
    const std::scoped_lock lock(mutex_);
    if (status_.state == LifeState::kStarting) return true;
    resident = resident_;
  }
  return resident && resident->is_busy();
}

bool KeptSandbox::has_leftovers() const {
  const auto running = this->running();
  return running && running->has_leftovers();
}

Result<wire::FileReply> KeptSandbox::file(const wire::FileRequest& request) {
  const auto running = TRY(resident());
  std::shared_ptr<sandbox::Files> files;
  {
    const std::scoped_lock lock(files_mutex_);
    if (!files_ || files_->is_dead() || files_of_.lock() != running) {
      files_ = std::make_shared<sandbox::Files>(TRY(running->serve_files()));
      files_of_ = running;
    }
    files = files_;
  }
  if (!puts_files(request)) return files->ask(request);
  running->begin_change();
  auto reply = files->ask(request);
  if (files->is_dead()) running->doubt_file_servers();
  running->end_change();
  return reply;
}

hutch::Status KeptSandbox::keep_root(const backend::KeptRoot& kept) {
  std::function<hutch::Status(const backend::KeptRoot&)> keep;
  {
    const std::scoped_lock lock(mutex_);
    if (status_.state != LifeState::kRunning) {
      return fail({Code::kConflict, 0, cat({settings_.what, " does not run any more"})});
    }
    keep = keep_root_;
  }
  return keep ? keep(kept) : fail(Error::unsupported("this sandbox's root is kept by no engine"));
}

std::optional<sandbox::Resources> KeptSandbox::resources(const std::string& disk) {
  const auto running = this->running();
  if (!running) return std::nullopt;
  sandbox::Usage usage = running->usage();
  const std::scoped_lock lock(meter_mutex_);
  if (meter_of_.lock() != running) {
    meter_ = sandbox::CpuMeter(running->started_at());
    meter_of_ = running;
  }
  return sandbox::resources_of(usage, terms().limits, disk, meter_);
}

std::vector<wire::ControlQuestion> KeptSandbox::questions() const {
  std::shared_ptr<sandbox::Questions> questions;
  {
    const std::scoped_lock lock(mutex_);
    questions = questions_;
  }
  return questions ? questions->open() : std::vector<wire::ControlQuestion>();
}

std::uint64_t KeptSandbox::last_question() const {
  const std::scoped_lock lock(mutex_);
  return questions_ ? questions_->last_id() : asked_before_;
}

hutch::Status KeptSandbox::answer(const wire::ControlAnswer& answer, std::string_view by) {
  std::shared_ptr<sandbox::Questions> questions;
  {
    const std::scoped_lock lock(mutex_);
    questions = questions_;
  }
  if (questions) return questions->answer(answer, by);
  return fail(Error::not_found(cat({"no question ", printable(answer.id, 64), " is open"})));
}

std::future<KeptSandbox::Notes> KeptSandbox::reload_policy() {
  // A sandbox that ends does no work any more: then nothing is left to be said.
  struct Promise {
    std::promise<Notes> promise;
    Notes notes;
    ~Promise() { promise.set_value(std::move(notes)); }
  };
  const auto promise = std::make_shared<Promise>();
  auto told = promise->promise.get_future();
  std::shared_ptr<sandbox::Resident> resident;
  std::shared_ptr<sandbox::Questions> questions;
  std::shared_ptr<const LivePolicy> policy;
  {
    const std::scoped_lock lock(mutex_);
    is_outdated_ = true;
    resident = resident_;
    questions = questions_;
    policy = policy_;
  }
  if (!resident || !policy) return told;
  resident->on_keeping_thread(
      [this, questions, policy, promise] { promise->notes = reload_now(questions.get(), *policy); });
  return told;
}

egress::Gateway::Revoked KeptSandbox::revoke(const std::string& host) {
  constexpr std::chrono::seconds kWait{2};
  std::shared_ptr<sandbox::Resident> running;
  {
    const std::scoped_lock lock(mutex_);
    if (status_.state == LifeState::kRunning && questions_) running = resident_;
  }
  if (!running) return {};
  const auto done = std::make_shared<std::promise<egress::Gateway::Revoked>>();
  auto revoked = done->get_future();
  running->on_keeping_thread([this, done, host] {
    egress::Gateway::Revoked taken;
    if (host.starts_with('/')) {
      if (sockets_) taken.grants = sockets_->revoke(host);
      if (host_files_) taken.grants += host_files_->revoke(host);
    } else if (network_ != nullptr) {
      taken = network_->gateway().revoke(host);
    }
    done->set_value(taken);
  });
  if (revoked.wait_for(kWait) != std::future_status::ready) return {};
  return revoked.get();
}

KeptSandbox::Terms KeptSandbox::terms() const {
  const std::scoped_lock lock(mutex_);
  return terms_;
}

// --- what follows is the keeping thread's ---

void KeptSandbox::ended(const std::optional<Error>& reason) {
  record_.ended(reason);
  {
    // With it goes what of a machine is left, which may take a moment.
    std::function<hutch::Status(const backend::KeptRoot&)> last;
    const std::scoped_lock lock(mutex_);
    last.swap(keep_root_);
  }
  const std::scoped_lock lock(mutex_);
  // A sandbox that ends as soon as it has started: why is known before that it did.
  if (status_.state == LifeState::kStarting && reason) status_.reason = reason->message;
  if (status_.state != LifeState::kRunning) return;
  set_state(reason ? LifeState::kError : LifeState::kStopped, reason ? reason->message : std::string());
}

Result<sandbox::Resident::Parts> KeptSandbox::begin(std::shared_ptr<GitWatch>& git) {
  std::stop_token stop;
  {
    const std::scoped_lock lock(mutex_);
    is_outdated_ = false;
    stop = starting_.get_token();
  }
  Judged judged = TRY(settings_.judge(stop));
  Prepared& prepared = judged.prepared;
  if (prepared.backend == BackendKind::kNone) TRY(ask_for_none(judged));
  TRY(add_filter(prepared, judged.facts));
  Holding holding = TRY(hold_limits(prepared, judged.facts, settings_.limits_with));
  std::optional<store::MachineSettings> machine;
  if (prepared.backend == BackendKind::kVm) machine = TRY(settings_of_machines(judged.facts));
  const auto missing = missing_repository(prepared, judged.facts, sandbox::AllowedBy::kPolicy);
  {
    const std::scoped_lock lock(mutex_);
    status_.backend = name_of(prepared.backend);
    status_.machine = machine;
    status_.console.reset();
    terms_ = {.environment = prepared.plan.environment,
              .cwd = prepared.plan.cwd,
              .processes_max = holding.processes_max,
              .address_space_max = holding.address_space_max,
              .limits = prepared.plan.limits,
              .ids = prepared.plan.ids.kind,
              .own_places = own_places(prepared.plan),
              .no_repository = missing ? missing->what : std::string(),
              .opens_tls = wants_trust(prepared.plan)};
  }
  std::unique_ptr<sandbox::Network> network = TRY(make_network(judged));
  backend::StartOptions options = start_options(judged);
  if (holding.cgroup) options.admit = [&](pid_t process) { return holding.cgroup->admit(process); };
  record_.started({.command = {},
                   .cwd = prepared.plan.cwd,
                   .policy = prepared.policy.source,
                   .backend = std::string(name_of(prepared.backend))});
  if (network) network->tell_passed_to([this](const egress::Passed& passed) { record_.connected(passed); });
  const auto chosen = TRY(make_backend(prepared.backend, std::move(judged.bwrap_arguments)));
  auto instance = chosen->start(prepared.plan, options);
  if (!instance) {
    return fail(explain_backend_failure(prepared.backend, std::move(instance).error(), judged.guest_program));
  }
  sandbox::AccessRules access = TRY(access_of(judged, settings_.record.directory));
  if (prepared.backend != BackendKind::kNone) {
    const bool sees = policy::traits_of(prepared.backend).guest_mounts;
    const auto processes = sees ? GitWatch::Processes::kSeen : GitWatch::Processes::kNotSeen;
    git = std::make_shared<GitWatch>(
        std::move(prepared), settings_.record.directory, processes, [this](const std::string& line) {
          record_.refused({.what = line, .rule = "built in", .weight = sandbox::Refusal::Weight::kAlways});
        });
    access.works_in = [git](const wire::Repository& repository) { git->works_in(repository); };
    if (host_files_) host_files_->tell_before_change([git](const std::string& root) { git->widen(root); });
  }
  const auto console = instance->console ? std::make_shared<sandbox::Console>() : nullptr;
  const std::scoped_lock lock(mutex_);
  keep_root_ = instance->keep_root;
  status_.console = console;
  return sandbox::Resident::Parts{std::move(*instance),
                                  questions_,
                                  std::move(network),
                                  std::move(holding.cgroup),
                                  std::move(access),
                                  [this](const sandbox::SocketRequest& asked, const sandbox::SettleSocket& settle) {
                                    if (sockets_) return sockets_->judge(asked, settle);
                                    settle({.file = {}, .error = EACCES, .refusal = {}});
                                  },
                                  host_files_ ? host_files_->judge() : sandbox::FileJudge(),
                                  console};
}

// A question of its own, before anything runs: the sandbox's are those of what runs.
hutch::Status KeptSandbox::ask_for_none(const Judged& judged) {
  const store::SettingsFile file = settings_file(judged.facts);
  if (none_allowed_) return {};
  const store::Settings settings = TRY(file.read());
  if (!settings.security.asks_without_isolation) return {};
  approval::DeskLimits limits;
  limits.wait = judged.prepared.policy.ask_timeout.value_or(limits.wait);
  std::shared_ptr<sandbox::Questions> questions;
  std::stop_token stop;
  {
    const std::scoped_lock lock(mutex_);
    if (questions_) asked_before_ = questions_->last_id();
    questions = std::make_shared<sandbox::Questions>(
        sandbox::Questions::Settings{.limits = limits,
                                     .place =
                                         [directory = judged.prepared.plan.cwd] {
                                           return approval::Place{approval::Coverage::kStart, directory, {}};
                                         },
                                     .save = [](const approval::Save&) { return hutch::Status(); },
                                     .record = [this](const approval::Desk::Closed& closed) { answered(closed); },
                                     .after = asked_before_},
        nullptr);
    if (settings_.audience != nullptr) questions->add(*settings_.audience);
    questions_ = questions;
    stop = starting_.get_token();
  }
  const approval::Effect effect = ask_before_start(*questions, settings_.what, stop);
  if (!effect.allowed) return fail(not_allowed_without_isolation(file.path()));
  none_allowed_ = effect.grant.has_value();
  return {};
}

// Null where the plan has no gateway.
Result<std::unique_ptr<sandbox::Network>> KeptSandbox::make_network(Judged& judged) {
  Prepared& prepared = judged.prepared;
  const bool gateway = prepared.plan.network == plan::NetworkKind::kGateway;
  {
    const std::scoped_lock lock(mutex_);
    if (questions_) asked_before_ = questions_->last_id();
    policy_ = live_policy(judged);
  }
  const bool asks = gateway || prepared.plan.supervisor != plan::Supervisor::kNone;
  const std::shared_ptr<sandbox::Questions> questions = asks ? make_questions(judged) : nullptr;
  {
    const std::scoped_lock lock(mutex_);
    questions_ = questions;
  }
  network_ = nullptr;
  network_kind_ = prepared.plan.network;
  make_sockets(judged);
  if (!gateway) return std::unique_ptr<sandbox::Network>();
  egress::Settings egress = gateway_settings(prepared, judged.guest_program);
  egress.placeholders = settings_.placeholders;
  const auto& ports = prepared.plan.host_ports;
  if (std::ranges::find(ports, plan::kBridgePort) != ports.end()) egress.bridge = settings_.take_bridge;
  auto network = TRY(sandbox::Network::make(std::move(egress), questions.get()));
  network_ = network.get();
  if (wants_trust(prepared.plan)) {
    const wire::InspectReady trust = TRY(network->gateway().inspector_trust());
    TRY(fill_trust(prepared.plan, trust));
  }
  return network;
}

void KeptSandbox::make_sockets(const Judged& judged) {
  const Prepared& prepared = judged.prepared;
  sockets_.reset();
  host_files_.reset();
  if (prepared.plan.supervisor == plan::Supervisor::kNone) return;
  sockets_ = std::make_unique<HostSockets>(HostSockets::Settings{.network = prepared.policy.network,
                                                                 .asks = prepared.policy.asks,
                                                                 .rules = prepared.rules,
                                                                 .questions = questions_.get(),
                                                                 .bridge = settings_.bridge});
  host_files_ = std::make_unique<HostFiles>(HostFiles::Settings{
      .facts = judged.facts,
      .prepared = prepared,
      .look = [place = judged.place, facts = judged.facts] { return files_now(place, facts, sys::own_environment()); },
      .questions = questions_.get(),
      .allowed_by = sandbox::AllowedBy::kPolicy});
}

std::shared_ptr<sandbox::Questions> KeptSandbox::make_questions(const Judged& judged) {
  const std::shared_ptr<const LivePolicy> policy = policy_;
  approval::DeskLimits limits;
  limits.wait = judged.prepared.policy.ask_timeout.value_or(limits.wait);
  auto questions = std::make_shared<sandbox::Questions>(
      sandbox::Questions::Settings{.limits = limits,
                                   .place = [policy] { return policy->place(); },
                                   .save = [policy](const approval::Save& save) { return policy->save(save); },
                                   .record = [this](const approval::Desk::Closed& closed) { answered(closed); },
                                   .after = asked_before_},
      nullptr);
  if (settings_.audience != nullptr) questions->add(*settings_.audience);
  return questions;
}

void KeptSandbox::answered(const approval::Desk::Closed& closed) {
  record_.decided({approval::subject_of(closed.question), std::string(approval::name_of(closed.answer)), closed.by,
                   closed.question.process.pid, closed.question.process.program});
  if (!is_saved(closed.answer)) return;
  // It is called by the questions, which are the running ones.
  (void)reload_now(questions_.get(), *policy_);
  if (settings_.saved) settings_.saved();
}

KeptSandbox::Notes KeptSandbox::reload_now(sandbox::Questions* questions, const LivePolicy& policy) {
  const auto left = policy.reload({network_, sockets_.get(), host_files_.get(), questions, network_kind_});
  Notes notes;
  if (!left) {
    notes.lines.push_back(cat({"goes on as it was: ", printable(left.error().message)}));
    notes.is_as_it_was = true;
    record_.refused({.what = cat({"the policy that was saved does not hold in what runs: ", left.error().message}),
                     .rule = "policy"});
    return notes;
  }
  for (const std::string& one : *left) notes.lines.push_back(cat({printable(one), " holds from the next start on"}));
  return notes;
}

}  // namespace hutch::service
