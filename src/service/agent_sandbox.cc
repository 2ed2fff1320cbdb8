// One agent's sandbox and its life.
#include "service/agent_sandbox.h"

#include <algorithm>
#include <map>

#include "base/limits.h"
#include "base/text.h"
#include "host/facts.h"
#include "policy/units.h"
#include "service/doctor.h"
#include "service/programs.h"
#include "service/start.h"
#include "service/trust.h"
#include "sys/files.h"
#include "sys/tree.h"

namespace hutch::service {

namespace {

constexpr std::chrono::milliseconds kLoginWait{10'000};
constexpr std::size_t kRefusalsMax = 500;  // that one start tells of

Result<PlaceRequest> place_of(const store::AgentRecord& record) {
  PlaceRequest place;
  if (!record.backend.empty()) place.backend = record.backend;
  if (!record.policy.empty()) place.policy_file = record.policy;
  const store::AgentLimits& limits = record.limits;
  if (!limits.memory.empty()) place.limits.memory_bytes = TRY(policy::parse_size(limits.memory));
  if (!limits.cpus.empty()) place.limits.cpu_millis = TRY(policy::parse_cpus(limits.cpus));
  if (!limits.pids.empty()) place.limits.pids = TRY(policy::parse_size(limits.pids));
  if (!limits.tmp_size.empty()) place.limits.tmp_bytes = TRY(policy::parse_size(limits.tmp_size));
  return place;
}

// Later ones win.
std::vector<std::string> merged(const std::vector<std::string>& base, const std::vector<std::string>& more) {
  std::map<std::string, std::string, std::less<>> variables;
  for (const auto* entries : {&base, &more}) {
    for (const std::string& entry : *entries) {
      const std::size_t equals = entry.find('=');
      if (equals != std::string::npos && equals > 0) variables[entry.substr(0, equals)] = entry.substr(equals + 1);
    }
  }
  std::vector<std::string> environment;
  for (const auto& [name, value] : variables) environment.push_back(cat({name, "=", value}));
  return environment;
}

}  // namespace

std::string_view name_of(AgentState state) {
  switch (state) {
    case AgentState::kPending: return "pending";
    case AgentState::kStarting: return "starting";
    case AgentState::kRunning: return "running";
    case AgentState::kStopping: return "stopping";
    case AgentState::kStopped: return "stopped";
    case AgentState::kError: return "error";
  }
  return "";
}

AgentSandbox::AgentSandbox(store::AgentRecord record, host::StateDirs dirs, Hooks hooks)
    : record_(std::move(record)),
      dirs_(std::move(dirs)),
      directories_(agent_directories(dirs_, record_.name)),
      places_(places_of(record_, directories_, record_.backend)),
      hooks_(std::move(hooks)) {}

void AgentSandbox::set_state(AgentState state, std::string reason) {
  if (status_.state != state && hooks_.changed) hooks_.changed(record_.name, name_of(state), reason);
  status_.state = state;
  status_.reason = std::move(reason);
}

Result<std::shared_ptr<sandbox::Resident>> AgentSandbox::resident() {
  {
    std::unique_lock lock(mutex_);
    const bool others = status_.state == AgentState::kStarting;
    changed_.wait(lock,
                  [&] { return status_.state != AgentState::kStarting && status_.state != AgentState::kStopping; });
    if (status_.state == AgentState::kRunning && resident_->is_alive()) return resident_;
    if (retired_) {
      return fail({Code::kConflict, 0, cat({"agent ", record_.name, " was changed or removed meanwhile"})});
    }
    if (others && status_.state == AgentState::kError && start_error_) return fail(*start_error_);
    set_state(AgentState::kStarting);
    start_error_.reset();
    starting_ = std::stop_source();
  }
  return start();
}

// The caller has set kStarting, so that nobody else is here.
Result<std::shared_ptr<sandbox::Resident>> AgentSandbox::start() {
  std::shared_ptr<sandbox::Resident> before;
  {
    const std::scoped_lock lock(mutex_);
    before = std::move(resident_);
  }
  if (before) before->stop();
  {
    const std::scoped_lock lock(login_mutex_);
    login_environment_.clear();
  }
  auto started = sandbox::Resident::start({
      .begin = [this] { return begin(); },
      .on_refusal = [this](const sandbox::Refusal& refusal) { record_refusal(refusal); },
      .on_process_start = [this](const sandbox::Process& process) { record_start(process); },
      .on_process_end = [this](const sandbox::Process& process,
                               const sandbox::ProcessEnd& end) { record_end(process, end); },
      .on_end = [this](const std::optional<Error>& reason) { ended(reason); },
      .next_number = hooks_.next_number,
      .stop = starting_.get_token(),
  });
  const std::scoped_lock lock(mutex_);
  if (started) {
    resident_ = std::shared_ptr<sandbox::Resident>(std::move(*started));
    const bool alive = resident_->is_alive();
    set_state(alive ? AgentState::kRunning : AgentState::kError, alive ? std::string() : status_.reason);
  } else if (starting_.stop_requested()) {
    set_state(AgentState::kStopped);
    start_error_ = Error{Code::kConflict, 0, "it was stopped"};
  } else {
    set_state(AgentState::kError, started.error().message);
    start_error_ = std::move(started).error();
  }
  changed_.notify_all();
  if (start_error_) {
    start_error_ = std::move(*start_error_).with_context(cat({"start agent ", record_.name}));
    return fail(*start_error_);
  }
  return resident_;
}

std::shared_ptr<sandbox::Resident> AgentSandbox::running() const {
  const std::scoped_lock lock(mutex_);
  return status_.state == AgentState::kRunning ? resident_ : nullptr;
}

bool AgentSandbox::retire() {
  const std::scoped_lock lock(mutex_);
  const AgentState state = status_.state;
  if (state == AgentState::kRunning || state == AgentState::kStarting || state == AgentState::kStopping) return false;
  retired_ = true;
  return true;
}

void AgentSandbox::stop(After after) {
  std::shared_ptr<sandbox::Resident> leaving;
  {
    std::unique_lock lock(mutex_);
    starting_.request_stop();
    changed_.wait(lock,
                  [&] { return status_.state != AgentState::kStarting && status_.state != AgentState::kStopping; });
    if (after == After::kNever) retired_ = true;
    if (!resident_) {
      if (status_.state != AgentState::kPending) set_state(AgentState::kStopped);
      return;
    }
    leaving = std::move(resident_);
    set_state(AgentState::kStopping);
  }
  leaving->stop();
  const std::scoped_lock lock(mutex_);
  set_state(AgentState::kStopped);
  changed_.notify_all();
}

AgentSandbox::Status AgentSandbox::status() const {
  const std::scoped_lock lock(mutex_);
  return status_;
}

bool AgentSandbox::is_busy() const {
  std::shared_ptr<sandbox::Resident> resident;
  {
    const std::scoped_lock lock(mutex_);
    if (status_.state == AgentState::kStarting) return true;
    resident = resident_;
  }
  return resident && resident->is_busy();
}

void AgentSandbox::record_refusal(const sandbox::Refusal& refusal) {
  // A program can ask for any number of hosts: what it writes into hutch's record has an end.
  if (told_.size() >= kRefusalsMax || std::ranges::find(told_, refusal) != told_.end()) return;
  told_.push_back(refusal);
  hooks_.tell(cat({record_.name, ": ", refusal.what}));
  if (recorder_) recorder_->refused(refusal);
}

void AgentSandbox::record_start(const sandbox::Process& process) {
  store::RunStart start = record_of_start_;
  start.command = process.arguments();
  if (!recorder_) return;
  const auto [at, added] = process_recorders_.try_emplace(process.number(), recorder_->another());
  at->second.started(start);
}

void AgentSandbox::record_end(const sandbox::Process& process, const sandbox::ProcessEnd& end) {
  const auto at = process_recorders_.find(process.number());
  // One that could not be executed never started.
  if (at == process_recorders_.end()) return;
  sandbox::Outcome outcome;
  outcome.exit_code = end.exit_code;
  outcome.signal = end.signal;
  outcome.ended_by = end.ended_by;
  outcome.duration = end.duration;
  at->second.ended(outcome);
  process_recorders_.erase(at);
}

void AgentSandbox::ended(const std::optional<Error>& reason) {
  if (recorder_ && reason) recorder_->failed(*reason);
  if (recorder_ && !reason) {
    sandbox::Outcome stopped;
    stopped.exit_code = 0;
    recorder_->ended(stopped);
  }
  recorder_.reset();
  const std::scoped_lock lock(mutex_);
  // A sandbox that ends as soon as it has started: why is known before that it did.
  if (status_.state == AgentState::kStarting && reason) status_.reason = reason->message;
  if (status_.state != AgentState::kRunning) return;
  set_state(reason ? AgentState::kError : AgentState::kStopped, reason ? reason->message : std::string());
}

// On the thread that keeps the sandbox.
Result<sandbox::Resident::Parts> AgentSandbox::begin() {
  TRY(make_agent_directories(directories_));
  plan::HostFacts facts = TRY_CTX(host::probe_facts(), "look at this machine");
  facts.cwd = record_.dir.empty() ? directories_.home : record_.dir;
  PlaceRequest place = TRY(place_of(record_));
  place.environment = places_.environment;
  Prepared prepared =
      TRY(prepare(place, facts, {.environment = sys::own_environment(), .residence = &places_.residence}));
  if ((prepared.backend == "none") != (record_.backend == "none")) {
    return fail(Error::invalid(cat({prepared.policy.source, ": backend none is for an agent to say: hutch agent set ",
                                    record_.name, " backend=none"})));
  }
  TRY(add_filter(prepared.plan, facts));
  {
    const std::scoped_lock lock(mutex_);
    status_.backend = prepared.backend;
    plan_environment_ = prepared.plan.environment;
  }
  Holding holding = TRY(hold_limits(prepared.plan, facts));
  processes_max_ = holding.processes_max;
  address_space_max_ = holding.address_space_max;
  std::unique_ptr<sandbox::Network> network;
  if (prepared.plan.network == plan::NetworkKind::kGateway) {
    network = TRY(sandbox::Network::make(gateway_settings(prepared), nullptr));
    if (wants_trust(prepared.plan)) {
      const wire::InspectReady trust = TRY(network->gateway().inspector_trust());
      TRY(fill_trust(prepared.plan, trust));
    }
  }
  backend::StartOptions options{.guest_program = TRY(guest_program()),
                                .landlock_abi = facts.landlock_abi,
                                .service = wire::Service::kManyCommands,
                                .admit = {}};
  if (holding.cgroup) options.admit = [&](pid_t process) { return holding.cgroup->admit(process); };
  record_of_start_ = {.command = {"hutch", "agent", "start", record_.name},
                      .cwd = prepared.plan.cwd,
                      .policy = prepared.policy.source,
                      .backend = prepared.backend};
  told_.clear();
  recorder_.emplace(dirs_.data, hooks_.tell, record_.name);
  recorder_->started(record_of_start_);
  if (network) network->tell_passed_to([this](const egress::Passed& passed) { recorder_->connected(passed); });
  const auto chosen = TRY(backend_named(prepared.backend));
  auto instance = chosen->start(prepared.plan, options);
  if (!instance) return fail(explain_backend_failure(prepared.backend, std::move(instance).error()));
  return sandbox::Resident::Parts{std::move(*instance), std::move(network), std::move(holding.cgroup)};
}

Result<std::vector<std::string>> AgentSandbox::environment(const std::vector<std::string>& more) {
  const auto running = TRY(resident());
  const std::scoped_lock lock(login_mutex_);
  if (login_environment_.empty()) login_environment_ = TRY(ask_login_shell(*running));
  return merged(login_environment_, more);
}

// A login shell with its profile scripts takes a hundred times as long as a command: it is asked once. One that fails,
// or is not there, changes nothing.
Result<std::vector<std::string>> AgentSandbox::ask_login_shell(sandbox::Resident& resident) {
  std::vector<std::string> planned;
  {
    const std::scoped_lock lock(mutex_);
    planned = plan_environment_;
  }
  const char* shell = sys::exists("/bin/bash") ? "/bin/bash" : "/bin/sh";
  const auto process = TRY(resident.spawn({.arguments = {shell, "-l", "-c", "env -0"},
                                           .environment = planned,
                                           .cwd = layout().base,
                                           .timeout = kLoginWait,
                                           .shown = sandbox::ProcessRequest::Shown::kNo},
                                          sandbox::Input::kNone));
  const auto end = process->wait(sandbox::Process::Clock::now() + kLoginWait + 3 * limits::kTermGrace);
  if (!end || end->exit_code != 0) return planned;
  const sandbox::Capture output = process->captured(sandbox::OutputStream::kOutput);
  std::vector<std::string> found;
  for (const std::string_view entry : split(output.head(), '\0')) {
    const bool of_shell = entry.starts_with("_=") || entry.starts_with("SHLVL=") || entry.starts_with("PWD=");
    if (!of_shell && entry.contains('=')) found.emplace_back(entry);
  }
  return merged(planned, found);
}

Result<wire::FileReply> AgentSandbox::file(const wire::FileRequest& request) {
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
  return files->ask(request);
}

Result<sandbox::ProcessRequest> AgentSandbox::request(std::vector<std::string> arguments, const std::string& cwd,
                                                      const std::vector<std::string>& environment) {
  sandbox::ProcessRequest request;
  request.environment = TRY(this->environment(environment));
  request.arguments = std::move(arguments);
  request.cwd = cwd.empty() ? layout().base : cwd;
  const std::scoped_lock lock(mutex_);
  request.processes_max = processes_max_;
  request.address_space_max = address_space_max_;
  return request;
}

}  // namespace hutch::service
