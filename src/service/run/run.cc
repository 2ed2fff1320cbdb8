// run: one command in a sandbox.
#include "service/run/run.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "backend/namespace/namespace_backend.h"
#include "base/text.h"
#include "host/daemon_paths.h"
#include "host/machine/cgroup.h"
#include "host/machine/facts.h"
#include "host/state_dirs.h"
#include "sandbox/io/network.h"
#include "sandbox/io/streams.h"
#include "sandbox/run/control.h"
#include "sandbox/run/supervise.h"
#include "service/common/filter.h"
#include "service/common/programs.h"
#include "service/common/recorder.h"
#include "service/common/told_files.h"
#include "service/explain/explain.h"
#include "service/explain/missing_repository.h"
#include "service/git/after.h"
#include "service/git/commits.h"
#include "service/image/build.h"
#include "service/image/recipe.h"
#include "service/live/refused_place.h"
#include "service/live/run_questions.h"
#include "service/prepare/containers.h"
#include "service/prepare/doctor.h"
#include "service/prepare/named_directories.h"
#include "service/prepare/policy_summary.h"
#include "service/prepare/prepare.h"
#include "service/prepare/start.h"
#include "service/prepare/trust.h"
#include "service/prepare/wide_start.h"
#include "service/questions/host_sockets.h"
#include "store/settings_file.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/files/umask.h"
#include "sys/io.h"
#include "sys/process/signals.h"

namespace hutch::service {

namespace {

// What the user's repositories were like before the run's first change.
struct GitBeforeChange {
  std::optional<GitBefore> before;  // none until a file may change, or if nothing is isolated
  std::vector<std::string> widened;  // as of GitBefore
};

// One run on its way, everything judged and nothing started.
struct Job {
  const RunRequest& request;
  const std::vector<std::string>& command;
  const plan::HostFacts& facts;
  const host::StateDirs& dirs;
  Prepared& prepared;
  int signals;
  sandbox::Control* control;  // absent where nobody listens
  const Tell& tell;
  const SessionLink& session;
  const std::function<Recorder&()>& record;  // the first call opens it and writes the run's start
  const std::string& guest;                  // the program
  std::unique_ptr<backend::Backend>& ahead;  // null where none was started ahead
  GitBeforeChange& git;
  std::uint16_t mask;  // of the command: umask(2)
};

// Whoever answers the sandbox, from beside it; null where the plan has none.
struct Beside {
  std::unique_ptr<RunQuestions> questions;
  std::unique_ptr<sandbox::Network> network;
  std::unique_ptr<HostSockets> sockets;
  std::unique_ptr<HostFiles> files;
};

Result<std::vector<std::string>> command_of(const RunRequest& request);
Result<Beside> make_beside(const Job& job, const sandbox::ScreenWatch* screen);
Result<Prepared> prepare_with_directories(const PlaceRequest& place, const plan::HostFacts& facts, const Caller& caller,
                                          const Tell& tell);
Result<RunReport> run_prepared(const Job& job);
std::string rule_hiding(const Job& job, const std::string& path);
void remember_git(const Job& job);
void take_repository(const Job& job, const wire::Repository& repository);
Result<std::unique_ptr<sandbox::Network>> make_network(const Job& job, sandbox::Questions* questions);
std::unique_ptr<RunQuestions> make_questions(const Job& job, const sandbox::ScreenWatch* screen);
std::unique_ptr<HostSockets> make_sockets(const Job& job, RunQuestions* questions);
std::unique_ptr<HostFiles> make_files(const Job& job, RunQuestions* questions);
Result<backend::Instance> start_backend(const Job& job, Holding& holding);
std::unique_ptr<backend::Backend> start_ahead(const PlaceRequest& place, const std::string& guest);
Status build_missing(const PlaceRequest& place, const Tell& tell);
Colour terminal_colour();
Result<sandbox::Outcome> conclude(sandbox::Outcome outcome, const Holding& holding);
std::uint16_t commands_umask(BackendKind backend);
void settle_refusals(sandbox::Outcome& outcome, const Prepared& prepared, const plan::HostFacts& facts);
void tell_redirected_git(const Prepared& prepared, const Tell& tell);
void hold_git_states(GitBefore& before, Prepared& prepared, const host::StateDirs& dirs, const RunDecisions& decide,
                     const Tell& tell);

}  // namespace

Result<RunReport> run(const RunRequest& request, const Tell& tell, const SessionLink& session,
                      const RunDecisions& decide) {
  const std::vector<std::string> command = TRY(command_of(request));
  // Before anything of our own can have that number.
  std::optional<sandbox::Control> control;
  if (request.control_fd >= 0) control.emplace(TRY(sandbox::Control::open(request.control_fd)));
  // It can take minutes, which a person may want to end.
  TRY(build_missing(request.place, tell));
  const UniqueFd signals = TRY(sandbox::take_signals());
  const std::string guest = TRY(guest_program());
  std::unique_ptr<backend::Backend> ahead = start_ahead(request.place, guest);

  const plan::HostFacts facts = TRY_CTX(host::probe_facts(), "look at this machine");
  if (request.start == RunRequest::Start::kNarrow) TRY(check_start(request.place, facts, decide.start_wide));
  TRY(host::make_store_directories(facts));
  const host::StateDirs dirs = TRY(host::own_state_dirs(facts.uid, facts.home));
  const Caller caller{.environment = sys::own_environment(),
                      .command = command.front(),
                      .questions = control || sandbox::TerminalPrompt::may_ask() ? plan::FileQuestions::kAll
                                                                                 : plan::FileQuestions::kNone};
  Prepared prepared = TRY(prepare_with_directories(request.place, facts, caller, tell));
  if (ahead && ahead->name() != name_of(prepared.backend)) ahead.reset();
  TRY(add_filter(prepared, facts));
  for (const std::string& note : prepared.plan.notes) tell(note);
  const bool disabled = prepared.policy.enabled == policy::Switch::kDisabled && prepared.backend == BackendKind::kNone;
  if (disabled) tell(status_line(prepared.policy, terminal_colour()));

  std::optional<Recorder> recorder;
  const std::function<Recorder&()> record = [&]() -> Recorder& {
    if (recorder) return *recorder;
    recorder.emplace(dirs.data, tell);
    recorder->started({command, prepared.plan.cwd, prepared.policy.source, std::string(name_of(prepared.backend))});
    const bool by_session = request.place.enabled == policy::Switch::kDisabled;
    if (disabled) {
      recorder->decided({"run without isolation", "allowed",
                         by_session ? "disabled for this session" : "enabled: false in " + prepared.policy.source});
    }
    return *recorder;
  };
  GitBeforeChange git;
  const Job job{request, command, facts,  dirs,  prepared, signals.get(), control ? &*control : nullptr,
                tell,    session, record, guest, ahead,    git,           commands_umask(prepared.backend)};
  auto report = run_prepared(job);
  if (git.before || prepared.backend == BackendKind::kNone) tell_redirected_git(prepared, tell);
  if (git.before) hold_git_states(*git.before, prepared, dirs, decide, tell);
  if (!report) {
    record().failed(report.error());
    return report;
  }
  settle_refusals(report->outcome, prepared, facts);
  for (const sandbox::Refusal& refusal : report->outcome.refusals) record().refused(refusal);
  record().ended(report->outcome);
  if (control) control->done(outcome_json(*report));
  return report;
}

namespace {

Colour terminal_colour() {
  return sys::stream_kind(2) == sys::StreamKind::kTerminal ? Colour::kTerminal : Colour::kPlain;
}

// The files of an OS user are its caller's too by their group, whose rights therefore stay (guest/setup/enter.cc).
// Reading the mask sets it for a moment: this comes before the first thread that makes files.
std::uint16_t commands_umask(BackendKind backend) {
  const unsigned mask = sys::own_umask();
  return static_cast<std::uint16_t>(backend == BackendKind::kUser ? mask & ~070U : mask);
}

// Directories that options or a preset name are made first; then all is judged again.
Result<Prepared> prepare_with_directories(const PlaceRequest& place, const plan::HostFacts& facts, const Caller& caller,
                                          const Tell& tell) {
  Prepared prepared = TRY(prepare(place, facts, caller));
  const std::vector<std::string> named = TRY(make_named_directories(prepared, facts));
  for (const std::string& directory : named) tell(cat({"made ", printable(directory), ", which --allow-write names"}));
  const bool has_state = place.policy_file && TRY(make_state_directories(*place.policy_file, prepared, facts, tell));
  if (named.empty() && !has_state) return prepared;
  return prepare(place, facts, caller);
}

Result<Beside> make_beside(const Job& job, const sandbox::ScreenWatch* screen) {
  Beside made;
  made.questions = make_questions(job, screen);
  made.network = TRY(make_network(job, made.questions ? &made.questions->questions() : nullptr));
  if (made.network) made.questions->serve(*made.network);
  made.sockets = make_sockets(job, made.questions.get());
  made.files = make_files(job, made.questions.get());
  if (made.network)
    made.network->tell_passed_to([&job](const egress::Passed& passed) { job.record().connected(passed); });
  return made;
}

Result<RunReport> run_prepared(const Job& job) {
  const plan::SandboxPlan& plan = job.prepared.plan;
  Holding holding = TRY(hold_limits(job.prepared, job.facts));
  if (holding.address_space_max != 0) {
    job.tell("no cgroup here: rlimits hold --memory for each process; private directories hold as much together");
  }
  sandbox::ScreenWatch screen;
  // What it trusts is part of the plan.
  const bool is_asked_first = wants_trust(plan);
  Beside beside;
  if (is_asked_first) beside = TRY(make_beside(job, &screen));
  if (is_asked_first && beside.network) {
    const wire::InspectReady trust = TRY(beside.network->gateway().inspector_trust());
    TRY(fill_trust(job.prepared.plan, trust));
  }
  backend::Instance instance = TRY(start_backend(job, holding));
  // From here the plan is being applied. What follows takes place meanwhile; the command waits for `supervise`.
  if (!is_asked_first) beside = TRY(make_beside(job, &screen));
  const auto& [questions, network, sockets, files] = beside;
  look_at_cut_off(job.dirs.data, job.tell);
  job.record();
  if (job.prepared.backend != BackendKind::kNone && !GitBefore::is_announced(job.prepared)) remember_git(job);
  const bool as_json = job.request.form == OutputForm::kJson;
  sandbox::Streams streams = TRY(sandbox::Streams::open({
      .output = as_json ? sandbox::Output::kCapture : sandbox::Output::kPass,
      .watch_output = plan.limits.idle_timeout.count() > 0,
      .screen = &screen,
  }));

  sandbox::AccessRules access = TRY(sandbox::access_rules(job.guest, plan, job.dirs.data, job.prepared.committed));
  access.explain = place_explainer(job.prepared.rules, sandbox::AllowedBy::kOption, job.facts.home);
  access.works_in = [&job](const wire::Repository& repository) { take_repository(job, repository); };
  sandbox::Supervision supervision{.instance = instance,
                                   .streams = streams,
                                   .signals = job.signals,
                                   .access = std::move(access),
                                   .files = files ? files->judge() : sandbox::FileJudge(),
                                   .before_change = [&job] { remember_git(job); },
                                   .network = network.get(),
                                   .questions = questions ? &questions->questions() : nullptr};
  if (sockets) {
    supervision.judge_socket = [&](const sandbox::SocketRequest& asked, const sandbox::SettleSocket& settle) {
      sockets->judge(asked, settle);
    };
  }
  supervision.rule_hiding = [&](const std::string& path) { return rule_hiding(job, path); };
  if (job.control != nullptr) {
    supervision.control = {job.control->fd(), [&] { return job.control->read(); }};
    supervision.on_refusal = [&](const sandbox::Refusal& refusal) { job.control->violation(refusal); };
  }
  if (questions) {
    const Status offered = questions->open_socket(job.command, job.facts.cwd);
    if (!offered) job.tell(cat({"hutch questions does not find this run: ", offered.error().message}));
    supervision.clients = {questions->fd(), [&]() -> Result<bool> {
                             TRY(questions->step());
                             return true;
                           }};
  }
  auto outcome = sandbox::supervise(std::move(supervision), {.arguments = job.command,
                                                             .environment = plan.environment,
                                                             .cwd = plan.cwd,
                                                             .processes_max = holding.processes_max,
                                                             .address_space_max = holding.address_space_max,
                                                             .creation_mask = job.mask,
                                                             .timeout = plan.limits.timeout,
                                                             .idle_timeout = plan.limits.idle_timeout});
  if (!outcome) return fail(explain_backend_failure(job.prepared.backend, std::move(outcome).error()));
  if (questions) std::ranges::move(questions->take_refusals(), std::back_inserter(outcome->refusals));
  return RunReport{std::string(name_of(job.prepared.backend)), TRY(conclude(std::move(*outcome), holding))};
}

void remember_git(const Job& job) {
  if (!job.git.before) {
    job.git.before.emplace(job.prepared, job.dirs.data, GitBefore::Known{.more = job.git.widened});
  }
}

void take_repository(const Job& job, const wire::Repository& repository) {
  remember_git(job);
  job.git.before->works_in(repository);
}

// Null where the plan has no gateway.
Result<std::unique_ptr<sandbox::Network>> make_network(const Job& job, sandbox::Questions* questions) {
  if (job.prepared.plan.network != plan::NetworkKind::kGateway) return std::unique_ptr<sandbox::Network>();
  return sandbox::Network::make(gateway_settings(job.prepared, job.guest), questions);
}

// Null where there is no supervisor.
std::unique_ptr<HostSockets> make_sockets(const Job& job, RunQuestions* questions) {
  const Prepared& prepared = job.prepared;
  if (prepared.plan.supervisor == plan::Supervisor::kNone) return nullptr;
  auto sockets = std::make_unique<HostSockets>(
      HostSockets::Settings{.network = prepared.policy.network,
                            .asks = prepared.policy.asks,
                            .rules = prepared.rules,
                            .questions = questions != nullptr ? &questions->questions() : nullptr});
  if (questions != nullptr) questions->serve(*sockets);
  return sockets;
}

// Null where nobody stands beside the sandbox who could be told of other rules.
std::unique_ptr<HostFiles> make_files(const Job& job, RunQuestions* questions) {
  if (job.prepared.plan.supervisor == plan::Supervisor::kNone || questions == nullptr) return nullptr;
  auto files = std::make_unique<HostFiles>(
      HostFiles::Settings{.facts = job.facts,
                          .prepared = job.prepared,
                          .look = [&job] { return files_now(job.request.place, job.facts, sys::own_environment()); },
                          .questions = &questions->questions()});
  files->tell_before_change([&git = job.git](const std::string& root) {
    git.widened.push_back(root);
    if (git.before) git.before->widen(root);
  });
  questions->serve(*files);
  return files;
}

// Null where the plan has neither gateway nor supervisor: nothing else is asked about.
std::unique_ptr<RunQuestions> make_questions(const Job& job, const sandbox::ScreenWatch* screen) {
  const plan::SandboxPlan& plan = job.prepared.plan;
  if (plan.network != plan::NetworkKind::kGateway && plan.supervisor == plan::Supervisor::kNone) return nullptr;
  approval::DeskLimits limits;
  limits.wait = job.prepared.policy.ask_timeout.value_or(limits.wait);
  return std::make_unique<RunQuestions>(
      RunQuestions::Settings{.policy = LivePolicy(job.request.place, job.facts, sys::own_environment()),
                             .limits = limits,
                             .runs = host::runs_directory(job.dirs),
                             .record = job.record,
                             .control = job.control,
                             .screen = screen,
                             .session = job.session});
}

// For a command that was not found: the record says which rule kept it out.
std::string rule_hiding(const Job& job, const std::string& path) {
  if (!path.contains('/')) return {};
  const auto verdict = judge_path(job.prepared, job.facts, path, policy::Access::kRead);
  return verdict && !verdict->allowed ? verdict->rule : std::string();
}

Result<backend::Instance> start_backend(const Job& job, Holding& holding) {
  const bool ahead = job.ahead != nullptr;
  const auto chosen = ahead ? std::move(job.ahead) : TRY(make_backend(job.prepared.backend));
  backend::StartOptions options{.guest_program = job.guest, .landlock_abi = job.facts.landlock_abi, .admit = {}};
  if (holding.cgroup) options.admit = [&](pid_t process) { return holding.cgroup->admit(process); };
  auto instance = chosen->start(job.prepared.plan, options);
  // The kernel's answer alone does not help a person whose machine forbids namespaces: the doctor knows why.
  if (!instance) return fail(explain_backend_failure(job.prepared.backend, std::move(instance).error()));
  return instance;
}

Result<std::vector<std::string>> command_of(const RunRequest& request) {
  if (request.shell) {
    const char* shell = !request.place.image && sys::exists("/bin/bash") ? "/bin/bash" : "/bin/sh";
    return std::vector<std::string>{shell, "-c", *request.shell};
  }
  if (request.command.empty()) return fail(Error::invalid("no command: hutch run -- COMMAND ARG..."));
  if (request.command.front().empty()) return fail(Error::invalid("the command's name is empty"));
  return request.command;
}

// Which backend it will be is known with the policy alone, and hardly one names another than this. What fails here is
// told when its turn comes.
std::unique_ptr<backend::Backend> start_ahead(const PlaceRequest& place, const std::string& guest) {
  // With an image the plan says which ids the guest gets.
  if (place.image || place.backend.value_or(BackendKind::kNamespace) != BackendKind::kNamespace) return nullptr;
  auto ahead = std::make_unique<backend::NamespaceBackend>();
  if (!ahead->start_ahead(guest)) return nullptr;
  return ahead;
}

Status build_missing(const PlaceRequest& place, const Tell& tell) {
  const bool of_engine = place.backend == BackendKind::kContainer;
  if (!place.image && !of_engine) return {};
  const plan::HostFacts facts = TRY_CTX(host::probe_facts(), "look at this machine");
  const std::string image = place.image.value_or(std::string(kDefaultImage));
  return of_engine ? ensure_engine_image(image, Signals::kOwn, facts, tell)
                   : ensure_image(image, Signals::kOwn, facts, tell);
}

void settle_refusals(sandbox::Outcome& outcome, const Prepared& prepared, const plan::HostFacts& facts) {
  settle_told_files(outcome, prepared.plan);
  merge_removed_repositories(outcome.refusals, prepared.rules);
  if (outcome.exit_code == 0) return;
  if (auto missing = missing_repository(prepared, facts, sandbox::AllowedBy::kOption))
    outcome.refusals.push_back(std::move(*missing));
}

// A mount cannot protect a name that does not exist. New files with these names undo what the mounts on hooks and
// config protect, so hutch warns the person before they run git. A supervisor judges what is written there.
void tell_redirected_git(const Prepared& prepared, const Tell& tell) {
  static constexpr std::string_view kHooks = "hooks";
  if (prepared.plan.supervisor != plan::Supervisor::kNone) return;
  for (const policy::Rule& rule : prepared.rules) {
    if (rule.origin != policy::Origin::kMandatory || !rule.path.ends_with("/hooks")) continue;
    const std::string_view git = std::string_view(rule.path).substr(0, rule.path.size() - kHooks.size());
    for (const std::string_view name : {"commondir", "config.worktree"}) {
      const std::string path = cat({git, name});
      const auto was_there = [&](const policy::Rule& other) { return other.path == path; };
      if (std::ranges::any_of(prepared.rules, was_there) || !sys::exists(path)) continue;
      tell(cat({printable(path), " was made: git would take settings and hooks from where it says; look at it first"}));
    }
  }
}

// Commands that wait for "git rebase --continue" and the like run as the user, outside.
void hold_git_states(GitBefore& before, Prepared& prepared, const host::StateDirs& dirs, const RunDecisions& decide,
                     const Tell& tell) {
  const std::string quarantine = cat({dirs.data, "/quarantine"});
  const GitBefore::After after = before.look(quarantine, decide.keep, prepared.listings, GitBefore::Ends::kYes);
  for (const std::string& line : after.told) tell(line);
  if (!after.is_complete) tell(after.incomplete_line());
  // Of one that ended meanwhile, and could not find all.
  look_at_cut_off(dirs.data, tell);
}

Result<sandbox::Outcome> conclude(sandbox::Outcome outcome, const Holding& holding) {
  // What is told from here on may find nobody who reads it.
  if (outcome.ended_by == sandbox::EndedBy::kSignal) sys::keep_told(outcome.told_by);
  outcome.limits_by = holding.by;
  if (holding.cgroup) {
    const host::CgroupEvents events = holding.cgroup->events();
    outcome.pids_limit_hits = events.pids_refused;
    outcome.killed_for_memory = events.killed_for_memory;
  }
  const bool died = outcome.ended_by == sandbox::EndedBy::kGuestGone || outcome.exit_code == 137;
  if (outcome.killed_for_memory > 0 && died) outcome.ended_by = sandbox::EndedBy::kMemoryLimit;
  if (outcome.ended_by == sandbox::EndedBy::kGuestGone) {
    return fail(Error{Code::kSystem, 0, "the sandbox ended by itself: its init was killed from outside"});
  }
  return outcome;
}

}  // namespace

}  // namespace hutch::service
