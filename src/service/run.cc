// run: one command in a sandbox.
#include "service/run.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "backend/namespace/namespace_backend.h"
#include "base/text.h"
#include "host/facts.h"
#include "host/state_dirs.h"
#include "policy/reader.h"
#include "sandbox/cgroup.h"
#include "sandbox/control.h"
#include "sandbox/network.h"
#include "sandbox/questions.h"
#include "sandbox/streams.h"
#include "sandbox/supervise.h"
#include "service/doctor.h"
#include "service/explain.h"
#include "service/load_policy.h"
#include "service/policy_summary.h"
#include "service/prepare.h"
#include "service/programs.h"
#include "service/recorder.h"
#include "service/start.h"
#include "service/trust.h"
#include "store/policies.h"
#include "sys/files.h"
#include "sys/io.h"
#include "sys/tree.h"

namespace hutch::service {

namespace {

// One run on its way, everything judged and nothing started.
struct Job {
  const RunRequest& request;
  const std::vector<std::string>& command;
  const plan::HostFacts& facts;
  Prepared& prepared;
  int signals;
  sandbox::Control* control;  // absent where nobody listens
  const std::function<Recorder&()>& record;  // the first call opens it and writes the run's start
  std::unique_ptr<backend::Backend>& ahead;  // null where none was started ahead
};

Result<std::vector<std::string>> command_of(const RunRequest& request);
Result<RunReport> run_prepared(const Job& job);
std::string rule_hiding(const Job& job, const std::string& path);
Result<std::unique_ptr<sandbox::Network>> make_network(const Job& job, sandbox::Questions* questions);
std::unique_ptr<sandbox::Questions> make_questions(const Job& job, const sandbox::ScreenWatch* screen);
approval::Place place_of(const Job& job);
sandbox::Control::Handlers control_handlers(const Job& job, sandbox::Network* network, sandbox::Questions* questions);
Result<backend::Instance> start_backend(const Job& job, Holding& holding);
// No mount can hold a name that is not there. These, made new, undo what the mounts on hooks and config protect, so the
// person hears of them before they run git.
void tell_redirected_git(const Prepared& prepared, const Tell& tell) {
  static constexpr std::string_view kHooks = "hooks";
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

std::unique_ptr<backend::Backend> start_ahead(const PlaceRequest& place);
Colour terminal_colour();
Result<sandbox::Outcome> conclude(sandbox::Outcome outcome, const Holding& holding);
void tell_redirected_git(const Prepared& prepared, const Tell& tell);

}  // namespace

Result<RunReport> run(const RunRequest& request, const Tell& tell) {
  const std::vector<std::string> command = TRY(command_of(request));
  // Before anything of our own can have that number.
  std::optional<sandbox::Control> control;
  if (request.control_fd >= 0) control.emplace(TRY(sandbox::Control::open(request.control_fd)));
  const UniqueFd signals = TRY(sandbox::take_signals());
  std::unique_ptr<backend::Backend> ahead = start_ahead(request.place);

  const plan::HostFacts facts = TRY_CTX(host::probe_facts(), "look at this machine");
  TRY(host::make_store_directories(facts));
  Prepared prepared =
      TRY(prepare(request.place, facts, {.environment = sys::own_environment(), .command = command.front()}));
  if (ahead && ahead->name() != prepared.backend) ahead.reset();
  TRY(add_filter(prepared.plan, facts));
  for (const std::string& note : prepared.plan.notes) tell(note);
  const bool disabled = prepared.policy.enabled == policy::Switch::kDisabled && prepared.backend == "none";
  if (disabled) tell(status_line(prepared.policy, terminal_colour()));

  std::optional<Recorder> recorder;
  const std::function<Recorder&()> record = [&]() -> Recorder& {
    if (recorder) return *recorder;
    recorder.emplace(host::own_state_dirs(facts.uid, facts.home).data, tell);
    recorder->started({command, prepared.plan.cwd, prepared.policy.source, prepared.backend});
    if (disabled)
      recorder->decided({"run without isolation", "allowed", "enabled: false in " + prepared.policy.source});
    return *recorder;
  };
  const Job job{request, command, facts, prepared, signals.get(), control ? &*control : nullptr, record, ahead};
  auto report = run_prepared(job);
  tell_redirected_git(prepared, tell);
  if (!report) {
    record().failed(report.error());
    return report;
  }
  for (const sandbox::Refusal& refusal : report->outcome.refusals) record().refused(refusal);
  record().ended(report->outcome);
  if (control) control->done(outcome_json(*report));
  return report;
}

namespace {

Colour terminal_colour() {
  return sys::stream_kind(2) == sys::StreamKind::kTerminal ? Colour::kTerminal : Colour::kPlain;
}

Result<RunReport> run_prepared(const Job& job) {
  const plan::SandboxPlan& plan = job.prepared.plan;
  Holding holding = TRY(hold_limits(plan, job.facts));
  sandbox::ScreenWatch screen;
  const std::unique_ptr<sandbox::Questions> questions = make_questions(job, &screen);
  const std::unique_ptr<sandbox::Network> network = TRY(make_network(job, questions.get()));
  if (network) network->tell_passed_to([&](const egress::Passed& passed) { job.record().connected(passed); });
  if (network && wants_trust(plan)) {
    const wire::InspectReady trust = TRY(network->gateway().inspector_trust());
    TRY(fill_trust(job.prepared.plan, trust));
  }
  backend::Instance instance = TRY(start_backend(job, holding));
  // From here the plan is being applied. What follows takes place meanwhile; the command waits for `supervise`.
  job.record();
  const bool json = job.request.form == OutputForm::kJson;
  sandbox::Streams streams = TRY(sandbox::Streams::open({
      .output = json ? sandbox::Output::kCapture : sandbox::Output::kPass,
      .watch_output = plan.limits.idle_timeout.count() > 0,
      .screen = &screen,
  }));

  sandbox::Supervision supervision{.instance = instance,
                                   .streams = streams,
                                   .signals = job.signals,
                                   .access = {plan.names.empty() ? std::string() : TRY(guest_program()), plan.names},
                                   .network = network.get(),
                                   .questions = questions.get()};
  supervision.rule_hiding = [&](const std::string& path) { return rule_hiding(job, path); };
  if (job.control != nullptr) {
    job.control->handle_by(control_handlers(job, network.get(), questions.get()));
    supervision.control = {job.control->fd(), [&] { return job.control->read(); }};
    supervision.on_refusal = [&](const sandbox::Refusal& refusal) { job.control->violation(refusal); };
  }
  auto outcome = sandbox::supervise(supervision, {.arguments = job.command,
                                                  .environment = plan.environment,
                                                  .cwd = plan.cwd,
                                                  .processes_max = holding.processes_max,
                                                  .address_space_max = holding.address_space_max,
                                                  .timeout = plan.limits.timeout,
                                                  .idle_timeout = plan.limits.idle_timeout});
  if (!outcome) return fail(explain_backend_failure(job.prepared.backend, std::move(outcome).error()));
  return RunReport{job.prepared.backend, TRY(conclude(std::move(*outcome), holding))};
}

// Null where the plan has no gateway.
Result<std::unique_ptr<sandbox::Network>> make_network(const Job& job, sandbox::Questions* questions) {
  if (job.prepared.plan.network != plan::NetworkKind::kGateway) return std::unique_ptr<sandbox::Network>();
  return sandbox::Network::make(gateway_settings(job.prepared, TRY(guest_program())), questions);
}

// The terminal and the control descriptor answer, whoever is first.
std::unique_ptr<sandbox::Questions> make_questions(const Job& job, const sandbox::ScreenWatch* screen) {
  if (job.prepared.plan.network != plan::NetworkKind::kGateway) return nullptr;
  const store::Policies policies(config_directory(job.facts, sys::own_environment()));
  sandbox::Questions::Settings settings;
  settings.limits.wait = job.prepared.policy.ask_timeout.value_or(settings.limits.wait);
  settings.place = [&job] { return place_of(job); };
  settings.save = [&job, policies](const approval::Save& save) -> Status {
    const auto apply = [&](const std::string& policy) -> Result<std::string> {
      std::string text = policy;
      for (const policy::Edit& edit : save.edits) text = TRY(policy::edited(text, edit));
      return text;
    };
    TRY(policies.change(save.scope, job.facts.cwd, apply));
    return {};
  };
  settings.record = [&job](const approval::Desk::Closed& closed) {
    job.record().decided({approval::subject_of(closed.question), std::string(approval::name_of(closed.answer)),
                          closed.by, closed.question.process.pid, closed.question.process.program});
  };
  return std::make_unique<sandbox::Questions>(std::move(settings), job.control, sandbox::TerminalPrompt::open(screen));
}

approval::Place place_of(const Job& job) {
  approval::Place place{approval::Coverage::kFixed, job.facts.cwd, {}};
  if (job.request.place.policy_file) return place;
  const auto coverage = store::Policies(config_directory(job.facts, sys::own_environment())).coverage(job.facts.cwd);
  // A file that somebody broke meanwhile cannot be written to.
  if (!coverage) return place;
  place.coverage = !coverage->project ? approval::Coverage::kNone
                   : coverage->exact  ? approval::Coverage::kExact
                                      : approval::Coverage::kParent;
  place.project = coverage->project.value_or("");
  return place;
}

// Of what a caller may say while the command runs, the network alone can be changed: mounts are fixed at the start. The
// options of the command line hold on.
sandbox::Control::Handlers control_handlers(const Job& job, sandbox::Network* network, sandbox::Questions* questions) {
  if (network == nullptr) return {};
  const auto update = [&job, network](const wire::ControlUpdate& given) -> Status {
    policy::Policy policy = TRY_CTX(policy::read_policy(given.policy, "control: policy"), "control");
    const std::string& project = job.prepared.plan.project;
    TRY_CTX(settle_network(policy.network, job.request.place.network, job.facts, project), "control");
    TRY_CTX(network->replace_rules(std::move(policy.network)), "control");
    return {};
  };
  return {.on_answer = [questions](const wire::ControlAnswer& answer) { return questions->answer(answer); },
          .on_update = update};
}

// For a command that was not found: the record says which rule kept it out.
std::string rule_hiding(const Job& job, const std::string& path) {
  if (!path.contains('/')) return {};
  const auto verdict = judge_path(job.prepared, job.facts, path, policy::Access::kRead);
  return verdict && !verdict->allowed ? verdict->rule : std::string();
}

Result<backend::Instance> start_backend(const Job& job, Holding& holding) {
  const bool ahead = job.ahead != nullptr;
  const auto chosen = ahead ? std::move(job.ahead) : TRY(backend_named(job.prepared.backend));
  backend::StartOptions options{.guest_program = ahead ? std::string() : TRY(guest_program()),
                                .landlock_abi = job.facts.landlock_abi,
                                .admit = {}};
  if (holding.cgroup) options.admit = [&](pid_t process) { return holding.cgroup->admit(process); };
  auto instance = chosen->start(job.prepared.plan, options);
  // The kernel's answer alone does not help a person whose machine forbids namespaces: the doctor knows why.
  if (!instance) return fail(explain_backend_failure(job.prepared.backend, std::move(instance).error()));
  return instance;
}

Result<std::vector<std::string>> command_of(const RunRequest& request) {
  if (request.shell) {
    const char* shell = sys::exists("/bin/bash") ? "/bin/bash" : "/bin/sh";
    return std::vector<std::string>{shell, "-c", *request.shell};
  }
  if (request.command.empty()) return fail(Error::invalid("no command: hutch run -- COMMAND ARG..."));
  if (request.command.front().empty()) return fail(Error::invalid("the command's name is empty"));
  return request.command;
}

// Which backend it will be is known with the policy alone, and hardly one names another than this. What fails here is
// told when its turn comes.
std::unique_ptr<backend::Backend> start_ahead(const PlaceRequest& place) {
  if (place.backend.value_or("namespace") != "namespace") return nullptr;
  const auto guest = guest_program();
  auto ahead = std::make_unique<backend::NamespaceBackend>();
  if (!guest || !ahead->start_ahead(*guest)) return nullptr;
  return ahead;
}

Result<sandbox::Outcome> conclude(sandbox::Outcome outcome, const Holding& holding) {
  outcome.limits_by = holding.by;
  if (holding.cgroup) {
    const sandbox::CgroupEvents events = holding.cgroup->events();
    outcome.pids_limit_hits = events.pids_refused;
    const bool died = outcome.ended_by == sandbox::EndedBy::kGuestGone || outcome.exit_code == 137;
    if (events.killed_for_memory > 0 && died) outcome.ended_by = sandbox::EndedBy::kMemoryLimit;
  }
  if (outcome.ended_by == sandbox::EndedBy::kGuestGone) {
    return fail(Error{Code::kSystem, 0, "the sandbox ended by itself: its init was killed from outside"});
  }
  return outcome;
}

}  // namespace

}  // namespace hutch::service
