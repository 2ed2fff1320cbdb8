// The class that users of the library see: a sandbox that is kept, and what is asked of it.
#include <hutch/sandbox.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <semaphore>
#include <string_view>

#include "api/decider.h"
#include "api/errors.h"
#include "api/follow.h"
#include "api/guest_location.h"
#include "api/instructions.h"
#include "api/process.h"
#include "api/seatbelt_profile.h"
#include "api/settled.h"
#include "api/write_files.h"
#include "base/text.h"
#include "host/machine/facts.h"
#include "host/machine/isolation_facts.h"
#include "host/state_dirs.h"
#include "service/live/kept_sandbox.h"
#include "sys/files/identity.h"
#include "sys/files/tree.h"
#include "sys/process/host_info.h"

namespace hutch {

namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

// Each command that is waited for takes some descriptors, and a process has 1024 of them by default.
constexpr std::ptrdiff_t kCommandsAtOnceMax = 100;
constexpr milliseconds kTurnSlice{50};
constexpr double kMegabyte = 1 << 20;

SandboxError destroyed_error() { return {ErrorCode::kNotReady, 0, "the sandbox was destroyed"}; }

SandboxStatus public_status(service::LifeState state) {
  switch (state) {
    case service::LifeState::kPending: return SandboxStatus::kPending;
    case service::LifeState::kStarting: return SandboxStatus::kStarting;
    case service::LifeState::kRunning: return SandboxStatus::kRunning;
    case service::LifeState::kStopping: return SandboxStatus::kStopping;
    case service::LifeState::kStopped: return SandboxStatus::kStopped;
    case service::LifeState::kError: return SandboxStatus::kError;
  }
  return SandboxStatus::kError;
}

// Where the record of what the sandbox did lies, beside that of `hutch run`.
std::string record_directory() {
  // What is wrong with them is told by `judge`, before anything is recorded.
  const auto dirs = host::own_state_dirs(sys::user_id(), host::home_directory().value_or("/nonexistent"));
  return dirs ? dirs->data : std::string();
}

std::vector<std::string> arguments_of(const std::string& command, const std::vector<std::string>& args) {
  if (args.empty()) return {"/bin/sh", "-c", command};
  std::vector<std::string> arguments = {command};
  arguments.insert(arguments.end(), args.begin(), args.end());
  return arguments;
}

}  // namespace

struct Sandbox::Impl {
  Impl(SandboxOptions given, api::Settled looked_at)
      : options(std::move(given)), settled(std::move(looked_at)), decider(make_decider()), kept(kept_settings()) {}
  // It answers to what ends before it does.
  ~Impl() {
    if (decider) decider->stop();
  }

  std::unique_ptr<api::DeciderThread> make_decider();
  service::KeptSandbox::Settings kept_settings();
  Result<service::Judged> judge();
  void note(const std::string& line);
  Result<std::vector<std::string>> environment(const std::map<std::string, std::string>& more) const;
  Expected<std::shared_ptr<sandbox::Resident>> resident();
  Expected<SandboxProcess> launch(const std::vector<std::string>& arguments, const CommandOptions& command,
                                  std::optional<milliseconds> timeout, sandbox::Input input);
  std::optional<milliseconds> shortest(std::optional<milliseconds> asked) const;
  // Waits for its turn; false where the command was aborted meanwhile.
  bool take_turn(const std::stop_token& abort);
  SandboxProcess handle(std::shared_ptr<sandbox::Resident> keeper, std::shared_ptr<sandbox::Process> process) const;

  const SandboxOptions options;
  const api::Settled settled;
  const system_clock::time_point created = system_clock::now();
  std::atomic<system_clock::time_point> used{system_clock::time_point()};
  std::atomic<bool> destroyed = false;
  std::atomic<std::uint32_t> last_process = 0;
  std::counting_semaphore<kCommandsAtOnceMax> turns{kCommandsAtOnceMax};
  std::mutex note_mutex;
  std::unique_ptr<api::DeciderThread> decider;  // null where nobody answers
  // Last: it ends before what it uses.
  service::KeptSandbox kept;
};

std::unique_ptr<api::DeciderThread> Sandbox::Impl::make_decider() {
  if (!options.on_question) return nullptr;
  return std::make_unique<api::DeciderThread>(options.on_question, [this](const wire::ControlAnswer& answer) {
    // Too late, at worst: its time was over, or the sandbox has ended.
    (void)kept.answer(answer, "on_question");
  });
}

service::KeptSandbox::Settings Sandbox::Impl::kept_settings() {
  return {.what = cat({"sandbox ", printable(settled.id)}),
          .judge = [this](const std::stop_token&) { return judge(); },
          .record = {.directory = record_directory(),
                     .tell = [this](const std::string& line) { note(line); },
                     .agent = {},
                     .name = settled.id,
                     .command = {"hutch::Sandbox", settled.id}},
          .changed = {},
          .next_number = [this] { return ++last_process; },
          .audience = decider.get()};
}

// On the thread that keeps the sandbox.
Result<service::Judged> Sandbox::Impl::judge() {
  TRY_CTX(sys::make_private_directories(settled.working_directory), "make the working directory");
  service::Judged judged{.facts = TRY_CTX(host::probe_facts(), "look at this machine"),
                         .prepared = {},
                         .guest_program = settled.guest_program};
  TRY(host::make_store_directories(judged.facts));
  judged.facts.cwd = TRY(sys::canonical_path(settled.working_directory));
  judged.place = settled.place;
  judged.prepared =
      TRY(service::prepare(settled.place, judged.facts,
                           {.environment = sys::own_environment(),
                            .questions = decider ? plan::FileQuestions::kAll : plan::FileQuestions::kNone}));
  if (options.native_sandbox) judged.bwrap_arguments = options.native_sandbox->bwrap_args;
  if (!settled.seatbelt_profile.empty()) {
    TRY_CTX(api::keep_seatbelt_profile(settled.seatbelt_profile, judged.prepared.rules), "seatbelt_profile_path");
  }
  for (const std::string& line : judged.prepared.plan.notes) note(line);
  return judged;
}

void Sandbox::Impl::note(const std::string& line) {
  if (!options.on_note) return;
  const std::scoped_lock lock(note_mutex);
  options.on_note(line);
}

Expected<std::shared_ptr<sandbox::Resident>> Sandbox::Impl::resident() {
  if (destroyed) return std::unexpected(destroyed_error());
  auto running = kept.resident();
  if (running) return std::move(*running);
  if (destroyed) return std::unexpected(destroyed_error());
  return api::refuse(running.error());
}

// Later ones win.
Result<std::vector<std::string>> Sandbox::Impl::environment(const std::map<std::string, std::string>& more) const {
  const std::vector<std::string> added = TRY(api::environment_of(more));
  std::vector<std::string> all = kept.terms().environment;
  std::erase_if(all, [&](const std::string& entry) { return more.contains(entry.substr(0, entry.find('='))); });
  all.insert(all.end(), added.begin(), added.end());
  return all;
}

// A limit of the policy holds, whatever is asked for.
std::optional<milliseconds> Sandbox::Impl::shortest(std::optional<milliseconds> asked) const {
  const milliseconds limit = kept.terms().limits.timeout;
  if (limit.count() == 0) return asked;
  return asked ? std::min(*asked, limit) : limit;
}

Expected<SandboxProcess> Sandbox::Impl::launch(const std::vector<std::string>& arguments, const CommandOptions& command,
                                               std::optional<milliseconds> timeout, sandbox::Input input) {
  if (std::ranges::any_of(arguments, [](const std::string& word) { return word.contains('\0'); })) {
    return api::refuse(Error::invalid("the command: a word cannot hold a NUL byte"));
  }
  if (timeout && timeout->count() <= 0) return api::refuse(Error::invalid("timeout: has to be more than 0"));
  auto keeper = resident();
  if (!keeper) return std::unexpected(std::move(keeper).error());
  auto variables = environment(command.env);
  if (!variables) return api::refuse(variables.error());
  const service::KeptSandbox::Terms terms = kept.terms();
  sandbox::ProcessRequest request;
  request.arguments = arguments;
  request.environment = std::move(*variables);
  request.cwd = terms.cwd;
  if (command.cwd.starts_with('/')) {
    request.cwd = command.cwd;
  } else if (!command.cwd.empty()) {
    request.cwd += cat({"/", command.cwd});
  }
  request.timeout = shortest(timeout).value_or(milliseconds(0));
  request.processes_max = terms.processes_max;
  request.address_space_max = terms.address_space_max;
  used = system_clock::now();
  auto process = (*keeper)->spawn(std::move(request), input);
  if (!process) return destroyed ? std::unexpected(destroyed_error()) : api::refuse(process.error());
  return handle(std::move(*keeper), std::move(*process));
}

bool Sandbox::Impl::take_turn(const std::stop_token& abort) {
  while (!turns.try_acquire_for(kTurnSlice)) {
    if (abort.stop_requested()) return false;
  }
  return true;
}

SandboxProcess Sandbox::Impl::handle(std::shared_ptr<sandbox::Resident> keeper,
                                     std::shared_ptr<sandbox::Process> process) const {
  std::string id = process->id();
  return SandboxProcess(std::make_shared<SandboxProcess::Impl>(std::move(keeper), std::move(process), std::move(id)));
}

Expected<Sandbox> Sandbox::create(SandboxOptions options) {
  auto settled = api::settle(options);
  if (!settled) return api::refuse(settled.error());
  return Sandbox(std::make_unique<Impl>(std::move(options), std::move(*settled)));
}

Sandbox::Sandbox(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Sandbox::Sandbox(Sandbox&& other) noexcept = default;
Sandbox& Sandbox::operator=(Sandbox&& other) noexcept = default;
Sandbox::~Sandbox() = default;

const std::string& Sandbox::id() const { return impl_->settled.id; }
std::string_view Sandbox::name() const { return "Hutch"; }
std::string_view Sandbox::provider() const { return "hutch"; }
const std::string& Sandbox::working_directory() const { return impl_->settled.working_directory; }

SandboxStatus Sandbox::status() const {
  const SandboxStatus status = public_status(impl_->kept.status().state);
  return impl_->destroyed && status != SandboxStatus::kStopping ? SandboxStatus::kDestroyed : status;
}

bool Sandbox::is_ready() const { return status() == SandboxStatus::kRunning; }

Expected<void> Sandbox::start() {
  auto started = impl_->resident();
  if (!started) return std::unexpected(std::move(started).error());
  return {};
}

Expected<void> Sandbox::stop() {
  impl_->kept.stop();
  return {};
}

Expected<void> Sandbox::destroy() {
  impl_->destroyed = true;
  impl_->kept.stop(service::KeptSandbox::After::kNever);
  return {};
}

Expected<CommandResult> Sandbox::execute_command(const std::string& command, const std::vector<std::string>& args,
                                                 const CommandOptions& options) {
  if (impl_->destroyed) return std::unexpected(destroyed_error());
  if (options.abort.stop_requested() || !impl_->take_turn(options.abort)) return api::aborted_result();
  const auto timeout = options.timeout ? options.timeout : impl_->options.timeout;
  auto process = impl_->launch(arguments_of(command, args), options, timeout, sandbox::Input::kNone);
  if (!process) {
    impl_->turns.release();
    return std::unexpected(std::move(process).error());
  }
  auto result = process->wait(options);
  impl_->turns.release();
  return result;
}

Expected<SandboxProcess> Sandbox::spawn(const std::string& command, const std::vector<std::string>& args,
                                        const CommandOptions& options) {
  return impl_->launch(arguments_of(command, args), options, options.timeout, sandbox::Input::kWritten);
}

std::vector<SandboxProcess> Sandbox::list() const {
  std::vector<SandboxProcess> found;
  const auto keeper = impl_->kept.running();
  if (!keeper) return found;
  for (auto& process : keeper->list()) found.push_back(impl_->handle(keeper, process));
  return found;
}

std::optional<SandboxProcess> Sandbox::get(const std::string& id) const {
  const auto keeper = impl_->kept.running();
  auto process = keeper ? keeper->find(id) : nullptr;
  if (!process) return std::nullopt;
  return impl_->handle(keeper, std::move(process));
}

bool Sandbox::kill(const std::string& id) {
  auto process = get(id);
  return process && process->kill();
}

Expected<void> Sandbox::write_files(const std::vector<FileInput>& files) {
  auto requests = api::write_requests(files, impl_->settled.working_directory);
  if (!requests) return api::refuse(requests.error());
  auto keeper = impl_->resident();
  if (!keeper) return std::unexpected(std::move(keeper).error());
  impl_->used = system_clock::now();
  const std::string root = impl_->kept.terms().cwd;
  for (wire::WriteFile& request : *requests) {
    if (request.place.root.empty()) request.place.root = root;
    const std::string path = request.place.path;
    const auto written = impl_->kept.file(std::move(request));
    if (!written) return api::refuse(Error(written.error()).with_context(cat({"write ", printable(path)})));
  }
  return {};
}

SandboxInfo Sandbox::get_info() const {
  SandboxInfo info;
  const service::KeptSandbox::Status kept = impl_->kept.status();
  info.id = id();
  info.name = name();
  info.provider = provider();
  info.status = status();
  if (info.status == SandboxStatus::kError) info.error = kept.reason;
  info.working_directory = working_directory();
  info.backend = policy::name_of(impl_->settled.backend);
  info.created_at = impl_->created;
  if (const auto used = impl_->used.load(); used != system_clock::time_point()) info.last_used_at = used;
  const auto found = impl_->kept.resources(working_directory());
  if (!found) return info;
  const auto megabytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / kMegabyte; };
  info.resources = SandboxResources{.memory_mb = megabytes(found->memory_bytes),
                                    .memory_used_mb = megabytes(found->memory_used_bytes),
                                    .cpu_cores = found->cpu_cores,
                                    .cpu_percent = found->cpu_percent,
                                    .disk_mb = megabytes(found->disk_bytes),
                                    .disk_used_mb = megabytes(found->disk_used_bytes)};
  return info;
}

std::string Sandbox::get_instructions() const {
  if (impl_->options.instructions) return *impl_->options.instructions;
  return api::instructions_of(impl_->settled, impl_->options.timeout);
}

IsolationReport Sandbox::detect_isolation() {
  const auto guest = api::locate_guest({});
  if (!guest) return {"none", false, guest.error().message};
  std::string why;
  for (const policy::BackendKind kind : {policy::BackendKind::kNamespace, policy::BackendKind::kBwrap}) {
    const std::string_view backend = policy::name_of(kind);
    const auto facts = host::probe_isolation(host::Effort::kTry, kind, *guest);
    const plan::Availability found = host::availability(kind, facts);
    if (found.available) return {std::string(backend), true, cat({backend, " works on this machine"})};
    why += cat({why.empty() ? "" : "; ", backend, ": ", found.reason, "; try: ", found.remedy});
  }
  return {"none", false, std::move(why)};
}

std::string_view to_string(SandboxStatus status) {
  static constexpr std::array<std::string_view, 7> kNames = {"pending", "starting", "running",  "stopping",
                                                             "stopped", "error",    "destroyed"};
  const auto index = static_cast<std::size_t>(status);
  return index < kNames.size() ? kNames[index] : "";
}

}  // namespace hutch
