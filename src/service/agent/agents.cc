// The agents of this user.
#include "service/agent/agents.h"

#include <algorithm>
#include <future>
#include <thread>
#include <utility>

#include "base/text.h"
#include "host/daemon_paths.h"
#include "host/machine/account.h"
#include "host/machine/cgroup.h"
#include "host/machine/cgroups.h"
#include "host/machine/facts.h"
#include "host/machine/people.h"
#include "host/paths/paths.h"
#include "plan/setup/os_user.h"
#include "service/agent/checks.h"
#include "service/agent/system.h"
#include "service/git/after.h"
#include "service/image/layers.h"
#include "service/live/abandoned.h"
#include "service/live/engine_layer.h"
#include "service/live/live_runs.h"
#include "service/live/machine_layer.h"
#include "service/os_user/init.h"
#include "service/os_user/os_user.h"
#include "service/prepare/containers.h"
#include "service/prepare/sandbox_only.h"
#include "service/share/share.h"
#include "store/layer_store.h"
#include "sys/files/identity.h"
#include "sys/files/tree.h"
#include "sys/process/host_info.h"
#include "sys/process/threads.h"

namespace hutch::service {

namespace {

// "My Project" becomes "my-project": what a name may be, of what the directory is called.
std::string name_from(std::string_view directory) {
  constexpr std::size_t kBytesMax = 14;
  std::string name;
  for (const char c : directory.substr(directory.rfind('/') + 1)) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool fits = (lower >= 'a' && lower <= 'z') || (!name.empty() && lower >= '0' && lower <= '9');
    if (fits)
      name += lower;
    else if (!name.empty() && name.back() != '-')
      name += '-';
    if (name.size() == kBytesMax) break;
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "project" : name;
}

// How many were told to.
std::size_t end_commands(sandbox::Resident* resident) {
  std::size_t ended = 0;
  if (resident == nullptr) return ended;
  for (const auto& process : resident->list()) {
    if (process->end()) continue;
    resident->end(process, sandbox::EndedBy::kSignal);
    ++ended;
  }
  return ended;
}

// FNV-1a, 32 bits: tells directories of one name apart.
std::string hash_of(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits;
  for (int shift = 28; shift >= 0; shift -= 4) digits += kDigits[hash >> shift & 15];
  return digits;
}

// Not where other agents' homes are. In a directory that holds all of that, it is hidden.
Status settle_directory(store::AgentRecord& record, const host::StateDirs& dirs) {
  if (record.dir.empty()) return {};
  const auto directory = TRY_CTX(host::canonical_path(record.dir), "dir");
  if (directory.type != plan::FileType::kDirectory) {
    return fail(Error::invalid(cat({"dir: ", printable(record.dir), " is no directory"})));
  }
  for (const std::string& of_hutch : {dirs.data, dirs.config, dirs.runtime}) {
    const std::string real = sys::canonical_path(of_hutch).value_or(of_hutch);
    if (!is_within(directory.path, real)) continue;
    return fail(
        Error::invalid(cat({"dir: ", printable(directory.path), " lies in ", printable(real),
                            ", where hutch keeps all agents' files; name another directory, or none for its home"})));
  }
  record.dir = directory.path;
  return {};
}

// Better told of now than by a sandbox that does not start.
Status check_isolation(const store::AgentRecord& record, const host::StateDirs& dirs) {
  if (store::backend_kind(record) != BackendKind::kNone) return {};
  TRY_CTX(check_none_is_allowed(store::SettingsFile(dirs.config), Asker::kDaemon), "backend");
  return {};
}

// Root's daemon makes the user; anybody else has the one that root has made and let them be.
Status settle_os_user(store::AgentRecord& record) {
  if (store::backend_kind(record) != BackendKind::kUser) return {};
  const std::uint32_t person = sys::user_id();
  const std::string own = TRY(own_os_user(person, record.name));
  if (!record.os_user.empty() && record.os_user != own) {
    return fail(Error::invalid(cat({"osUser: the user of agent ", record.name, " is ", own, "; leave it out"})));
  }
  if (person == 0) return {};
  record.os_user = own;
  return ensure_os_user(own, record.name, TRY_CTX(host::probe_facts(), "look at this machine"));
}

// Or nobody's yet.
Result<bool> is_agents(const std::string& user) {
  const auto known = TRY(host::find_os_user(user));
  return !known || known->home == plan::os_user_home(user);
}

// What root shared with it.
Status end_shares(const host::OsUser& user, const host::StateDirs& dirs) {
  const auto agree = [](const std::vector<std::string>&) { return Status(); };
  TRY_CTX(end_shares_with(user, {.uid = 0, .home = "/", .dirs = dirs}, {agree, [](std::size_t, std::size_t) {}}),
          "take back what is shared with the agent");
  return {};
}

bool offers_other_tools(const store::AutonomousExec& before, const store::AutonomousExec& now) {
  return before.enabled != now.enabled || before.plugin_create != now.plugin_create;
}

}  // namespace

Result<std::unique_ptr<AgentService>> AgentService::open(host::StateDirs dirs, AgentSandbox::Tell tell) {
  auto agents = TRY(store::Agents::open(dirs.data));
  auto host_data = TRY(store::HostData::open(dirs.data));
  auto artifacts = TRY(store::Artifacts::open(dirs.data));
  if (TRY(agents->begin_serving()) == store::Agents::Before::kKilled) {
    const Status ended = end_abandoned(dirs.data);
    if (!ended && tell) tell(cat({"what the last daemon left: ", ended.error().message}));
  }
  host::remove_stale_cgroups(host::find_cgroup_place(sys::user_id()));
  remove_stale_containers();
  look_at_cut_off(dirs.data, [&](const std::string& line) {
    if (tell) tell(line);
  });
  return std::make_unique<AgentService>(std::move(agents), std::move(host_data), std::move(artifacts), std::move(dirs),
                                        std::move(tell));
}

AgentService::AgentService(std::unique_ptr<store::Agents> agents, std::unique_ptr<store::HostData> host_data,
                           std::unique_ptr<store::Artifacts> artifacts, host::StateDirs dirs, AgentSandbox::Tell tell)
    : agents_(std::move(agents)),
      host_data_(std::move(host_data)),
      artifacts_(std::move(artifacts)),
      dirs_(std::move(dirs)),
      tell_(std::move(tell)) {}

Result<store::AgentRecord> AgentService::draft(std::string name) const {
  TRY(store::check_agent_name(name));
  store::AgentRecord record;
  record.name = std::move(name);
  return store::with_defaults(std::move(record), TRY(settings()));
}

Result<store::AgentRecord> AgentService::create(store::AgentRecord record) {
  TRY(check_settings(record, {}));
  TRY(check_isolation(record, dirs_));
  TRY(settle_directory(record, dirs_));
  TRY(settle_image(record, dirs_));
  // Of a person's OS users one too many stays.
  if (agents_->find(record.name)) {
    return fail({Code::kConflict, 0, cat({"agent ", record.name, " is there already"})});
  }
  TRY(settle_os_user(record));
  record = TRY(agents_->create(std::move(record)));
  // One of the name that was removed while somebody set a secret of its may have left that.
  Status made = secrets_.forget(record.name);
  if (made) made = make_places(record);
  if (!made) {
    TRY(agents_->remove(record.name));
    return fail(made.error());
  }
  tell_change(record.name, "created");
  return record;
}

Status AgentService::make_places(const store::AgentRecord& record) const {
  if (store::backend_kind(record) != BackendKind::kUser)
    return make_agent_directories(agent_directories(dirs_, record));
  if (sys::user_id() != 0) return {};
  const std::scoped_lock lock(os_users_mutex_);
  const std::string name = plan::os_user_name(record.name);
  if (!TRY(is_agents(name))) {
    return fail({Code::kConflict, 0,
                 cat({"the user ", name, " of this machine is no agent's: its home is elsewhere; take another name"})});
  }
  const auto steps = TRY(init_plan(name));
  TRY_CTX(run_steps(steps, [](const plan::SetupStep&) {}), "make the agent's user");
  return {};
}

// Once nothing of its runs.
Status AgentService::remove_os_user(const store::AgentRecord& record) const {
  const std::scoped_lock lock(os_users_mutex_);
  const std::string name = plan::os_user_name(record.name);
  if (!TRY(is_agents(name))) return {};
  if (const auto user = TRY(host::find_os_user(name))) {
    TRY(host::check_is_at_rest(*user, "outside of the agent's sandbox: end that first"));
    TRY(end_shares(*user, dirs_));
  }
  const auto steps = TRY(deinit_plan(name, plan::Homes::kKept));
  TRY_CTX(run_steps(steps, [](const plan::SetupStep&) {}), "remove the agent's user");
  return {};
}

Result<std::vector<AgentService::Shown>> AgentService::list() {
  std::vector<Shown> all;
  for (const store::AgentRecord& record : TRY(agents_->list())) {
    auto shown = show(record.name);
    if (!shown && shown.error().code == Code::kNotFound) continue;  // removed meanwhile
    all.push_back(TRY(std::move(shown)));
  }
  return all;
}

Result<AgentService::Shown> AgentService::show(const std::string& name) {
  const store::AgentRecord record = TRY(agents_->find(name));
  Shown shown{record, AgentSandbox::Status(), agent_directories(dirs_, record)};
  const std::scoped_lock lock(mutex_);
  const auto known = sandboxes_.find(name);
  if (known != sandboxes_.end()) shown.status = known->second->status();
  if (shown.status.state == LifeState::kPending) shown.status = last_status(name);
  return shown;
}

// Of a sandbox that this daemon has not had yet.
AgentSandbox::Status AgentService::last_status(const std::string& name) const {
  const auto last = agents_->last_start(name);
  if (!last || !*last) return {};
  if ((*last)->error.empty()) return {.state = LifeState::kStopped, .reason = {}, .backend = {}};
  return {.state = LifeState::kError, .reason = (*last)->error, .backend = {}};
}

Result<ChangedAgent> AgentService::set(const std::string& name, const std::vector<std::string>& settings,
                                       const AdmitChange& admit) {
  ChangedAgent changed{.record = TRY(change(name, settings, admit)), .notes = {}};
  // Also where it is as it was: what could not hold before is tried again.
  if (std::ranges::none_of(settings, is_of_network)) return changed;
  for (const auto& sandbox : known()) {
    if (sandbox->record().name == name) changed.notes = TRY(spread_policy_to(sandbox));
  }
  return changed;
}

Result<store::AgentRecord> AgentService::change(const std::string& name, const std::vector<std::string>& settings,
                                                const AdmitChange& admit) {
  const std::scoped_lock settings_lock(settings_mutex_);
  const store::AgentRecord before = TRY(agents_->find(name));
  if (admit) TRY(admit(before));
  store::AgentRecord record = before;
  for (const std::string& setting : settings) record = TRY(store::with_setting(record, setting));
  TRY(check_settings(record, before));
  if ((store::backend_kind(record) == BackendKind::kUser) != (store::backend_kind(before) == BackendKind::kUser)) {
    return fail(
        Error::unsupported("backend: whether an agent is an OS user is settled when it is made, and its files are that "
                           "user's; make another"));
  }
  if (record.os_user != before.os_user) return fail(Error::unsupported("osUser: it is settled when an agent is made"));
  if (record.backend != before.backend) TRY(check_isolation(record, dirs_));
  if (record.dir != before.dir) TRY(settle_directory(record, dirs_));
  if (record.image != before.image || record.backend != before.backend) TRY(settle_image(record, dirs_));
  TRY(agents_->update(record));
  // Ends without the lock: whoever serves its bridge may want that.
  std::shared_ptr<AgentSandbox> leaving;
  {
    const std::scoped_lock lock(mutex_);
    const auto known = sandboxes_.find(name);
    if (known != sandboxes_.end()) {
      leaving = known->second;
      leaving->set_now(record);
      if (leaving->retire()) forget(known);
    }
  }
  tell_change(name, "changed");
  // Those that whoever asks is offered by now.
  if (offers_other_tools(before.autonomous_exec, record.autonomous_exec)) tell_change(name, kToolsChanged);
  return record;
}

void AgentService::give_policy(const std::string& name, GivenPolicy policy) {
  const std::scoped_lock lock(mutex_);
  policies_.insert_or_assign(name, std::move(policy));
}

Result<std::shared_ptr<AgentSandbox>> AgentService::sandbox(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  const auto known = sandboxes_.find(name);
  if (known != sandboxes_.end()) return known->second;
  if (is_over_) return fail({Code::kConflict, 0, "the daemon is about to end"});
  AgentSandbox::Hooks hooks{
      .tell = tell_,
      .changed = [this](const std::string& agent, std::string_view what,
                        const std::string& reason) { sandbox_changed(agent, what, reason); },
      .take_slot = [this](const std::string& agent, std::size_t at_most) { return slots_.take(agent, at_most); },
      .next_number = [this] { return numbers_.next(); },
      .audience = board_.audience(name),
      .saved =
          [this] {
            policy_saved();
            tell_of_saved_policy(host::runs_directory(dirs_), "");
          },
      .asked_before = asked_.contains(name) ? asked_.at(name) : 0,
      .secrets = &secrets_,
      .serve_bridge = serve_bridge_,
      .policy = policies_.contains(name) ? policies_.at(name) : GivenPolicy()};
  auto sandbox = std::make_shared<AgentSandbox>(TRY(agents_->find(name)), dirs_, std::move(hooks));
  sandboxes_.emplace(name, sandbox);
  return sandbox;
}

Status AgentService::stop(const std::string& name) {
  TRY(agents_->find(name));
  stops_.stop(name);
  std::shared_ptr<AgentSandbox> leaving;
  {
    const std::scoped_lock lock(mutex_);
    const auto known = sandboxes_.find(name);
    if (known == sandboxes_.end()) return {};
    leaving = known->second;
  }
  leaving->stop();
  // The next start reads the record again.
  const std::scoped_lock lock(mutex_);
  const auto known = sandboxes_.find(name);
  if (known == sandboxes_.end() || known->second != leaving) return {};
  if (leaving->record() != TRY(agents_->find(name)) && leaving->retire()) forget(known);
  return {};
}

void AgentService::end_all() {
  stops_.end_all();
  std::map<std::string, std::shared_ptr<AgentSandbox>> all;
  {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
    all = sandboxes_;
  }
  // Some at a time: each may have what is deaf to TERM, and takes its grace then.
  static constexpr std::size_t kAtOnce = 32;
  std::vector<std::thread> stopping;
  const auto wait = [&] {
    for (std::thread& thread : stopping) thread.join();
    stopping.clear();
  };
  for (const auto& [name, sandbox] : all) {
    auto thread = sys::start_thread([&sandbox] { sandbox->stop(AgentSandbox::After::kNever); });
    if (!thread) sandbox->stop(AgentSandbox::After::kNever);
    if (thread) stopping.push_back(std::move(*thread));
    if (stopping.size() == kAtOnce) wait();
  }
  wait();
  (void)agents_->end_serving();  // where that fails the next daemon finds nothing to end
}

Status AgentService::reset(const std::string& name) {
  const store::AgentRecord record = TRY(agents_->find(name));
  const bool is_container = store::backend_kind(record) == BackendKind::kContainer;
  const bool is_machine = store::backend_kind(record) == BackendKind::kVm;
  if (!is_container && !is_machine && !TRY(sys::status_of(store::LayerStore(dirs_.data).place(name))))
    return stop(name);
  stops_.stop(name);
  // From here on until the layer is gone nobody starts it.
  const std::shared_ptr<AgentSandbox> leaving = TRY(sandbox(name));
  leaving->stop(AgentSandbox::After::kNever);
  const auto removed = is_container ? remove_engine_layer(record)
                       : is_machine ? remove_machine_layer(record, dirs_)
                                    : remove_layer(name, dirs_);
  const std::scoped_lock lock(mutex_);
  const auto known = sandboxes_.find(name);
  if (known != sandboxes_.end() && known->second == leaving) forget(known);
  return removed ? Status() : fail(removed.error());
}

Result<std::vector<std::string>> AgentService::remove(const std::string& name) {
  TRY(store::check_agent_name(name));
  const auto found = sandbox(name);
  // Somebody has removed it already.
  if (!found && found.error().code == Code::kNotFound) {
    const std::scoped_lock lock(mutex_);
    policies_.erase(name);
    return std::vector<std::string>();
  }
  const std::shared_ptr<AgentSandbox> leaving = TRY(found);
  // From here on until it is gone nobody starts it.
  stops_.stop(name);
  leaving->stop(AgentSandbox::After::kNever);
  leaving->end_bridge();
  secret_prompts_.cancel_of(name);
  auto deleted = remove_files(leaving->record());
  if (deleted) TRY_CTX(forget_kept(name), "remove what is kept for the agent");
  const std::scoped_lock lock(mutex_);
  if (deleted) {
    TRY(agents_->remove(name));
    policies_.erase(name);
    secret_prompts_.cancel_of(name);
    tell_change(name, "removed");
  }
  const auto known = sandboxes_.find(name);
  if (known != sandboxes_.end() && known->second == leaving) forget(known);
  return deleted;
}

// Nobody of that name who comes later may find it.
Status AgentService::forget_kept(const std::string& name) {
  TRY(secrets_.forget(name));
  TRY(host_data_->forget(name));
  TRY(memories_.forget(name));
  TRY(artifacts_->forget(name));
  return sys::remove_tree(bridge_directory(dirs_, name));
}

void AgentService::end_bridges() {
  for (const auto& sandbox : known()) sandbox->end_bridge();
}

// What it asked keeps its numbers: a late answer is to nobody's question.
void AgentService::forget(Sandboxes::iterator known) {
  asked_[known->first] = known->second->last_question();
  sandboxes_.erase(known);
}

Result<std::vector<std::string>> AgentService::remove_files(const store::AgentRecord& agent) const {
  const std::string& name = agent.name;
  std::vector<std::string> deleted;
  const AgentDirectories directories = agent_directories(dirs_, agent);
  const auto image = TRY(store::LayerStore(dirs_.data).find(name));
  // Another user's, which root alone removes, with that user.
  const bool others = store::backend_kind(agent) == BackendKind::kUser && sys::user_id() != 0;
  // First, since that is refused where something else runs as that user, and what it leaves is root's then: nobody
  // changes it meanwhile.
  if (store::backend_kind(agent) == BackendKind::kUser && !others) TRY(remove_os_user(agent));
  for (const std::string& directory : {directories.home, directories.output}) {
    if (others) break;
    if (!TRY(sys::status_of(directory))) continue;
    TRY_CTX(remove_agent_tree(directory, image ? &image->ids : nullptr), "remove the agent's files");
    deleted.push_back(directory);
  }
  // Last: it says whose the others are.
  std::string layer = TRY(remove_layer(name, dirs_));
  if (!layer.empty()) deleted.push_back(std::move(layer));
  std::string of_machine = TRY(remove_machine_layer(agent, dirs_));
  if (!of_machine.empty()) deleted.push_back(std::move(of_machine));
  if (store::backend_kind(agent) != BackendKind::kContainer) return deleted;
  const std::string of_engine = TRY(remove_engine_layer(agent));
  if (!of_engine.empty()) deleted.push_back(cat({"image ", of_engine}));
  return deleted;
}

Result<store::AgentRecord> AgentService::draft_of(const std::string& directory) const {
  const auto canonical = TRY(host::canonical_path(directory));
  store::AgentRecord record = TRY(draft(cat({name_from(canonical.path), "-", hash_of(canonical.path)})));
  record.dir = canonical.path;
  return record;
}

Result<std::string> AgentService::agent_of_directory(const std::string& directory) {
  const store::AgentRecord record = TRY(draft_of(directory));
  const auto found = agents_->find(record.name);
  if (found && found->dir == record.dir) return record.name;
  return fail(Error::not_found(
      cat({printable(record.dir), " has no agent of its own; name one by --agent: hutch agent list shows them"})));
}

Result<store::AgentRecord> AgentService::of_directory(const std::string& directory) {
  store::AgentRecord record = TRY(draft_of(directory));
  auto found = agents_->find(record.name);
  if (found && found->dir == record.dir) return found;
  if (found) return fail({Code::kConflict, 0, cat({"agent ", record.name, " is another directory's"})});
  record.autonomous_exec.enabled = true;
  record.autonomous_exec.max_commands_per_turn = 0;
  auto created = create(record);
  // Somebody else may have been quicker.
  return created ? created : agents_->find(record.name);
}

// Whatever state a sandbox ends in, its slot is free.
void AgentService::sandbox_changed(const std::string& agent, std::string_view what, const std::string& reason) {
  const bool failed = what == name_of(LifeState::kError);
  if (what == name_of(LifeState::kStopped) || failed) {
    slots_.give_back(agent);
    ended_ = true;
  }
  if (failed || what == name_of(LifeState::kRunning)) {
    const store::Agents::LastStart now{failed ? reason : std::string()};
    const auto before = agents_->last_start(agent);
    const bool is_new = !before || !*before || (*before)->error != now.error;
    // For whoever looks after this daemon has gone: a disk that is full is no reason to run nothing.
    if (is_new) (void)agents_->set_last_start(agent, now);
  }
  if (changed_) changed_(agent, what, reason);
}

void AgentService::tell_change(const std::string& agent, std::string_view what, const std::string& reason) {
  if (changed_) changed_(agent, what, reason);
}

std::vector<std::shared_ptr<AgentSandbox>> AgentService::known() const {
  std::vector<std::shared_ptr<AgentSandbox>> all;
  const std::scoped_lock lock(mutex_);
  for (const auto& [name, sandbox] : sandboxes_) all.push_back(sandbox);
  return all;
}

std::vector<BoardEvent> AgentService::questions(const std::string& agent) const {
  std::vector<BoardEvent> open;
  for (const auto& sandbox : known()) {
    const std::string& name = sandbox->record().name;
    if ((!agent.empty() && name != agent) || board_.is_reserved(name)) continue;
    for (wire::ControlQuestion& question : sandbox->questions()) {
      open.push_back({.kind = BoardEvent::Kind::kAsked,
                      .agent = name,
                      .id = cat({name, ".", question.id}),
                      .question = std::move(question)});
    }
  }
  return open;
}

Status AgentService::answer(const std::string& id, const wire::ControlAnswer& answer, std::string_view by) {
  const std::size_t dot = id.rfind('.');
  const std::string agent = id.substr(0, dot == std::string::npos ? id.size() : dot);
  wire::ControlAnswer numbered = answer;
  numbered.id = dot == std::string::npos ? std::string() : id.substr(dot + 1);
  for (const auto& sandbox : known()) {
    // Those of somebody's own are not there for others.
    if (sandbox->record().name == agent && !board_.is_reserved(agent)) return sandbox->answer(numbered, by);
  }
  return fail(Error::not_found(cat({"no question ", printable(id, 64), " is open"})));
}

void AgentService::policy_saved() {
  for (const auto& sandbox : known()) (void)sandbox->reload_policy();
}

std::vector<std::string> AgentService::spread_policy() { return spread_policy_to_all(known()); }

std::vector<AgentService::RevokedAgent> AgentService::revoke(const std::string& host, EndCommands end) {
  std::vector<RevokedAgent> all;
  for (const auto& sandbox : known()) {
    const egress::Gateway::Revoked revoked = sandbox->revoke(host);
    if (revoked.grants == 0 && revoked.connections == 0) continue;
    RevokedAgent taken{.agent = sandbox->record().name, .revoked = revoked};
    if (end == EndCommands::kYes) taken.ended = end_commands(sandbox->running().get());
    all.push_back(std::move(taken));
  }
  return all;
}

std::size_t AgentService::busy() const {
  const std::scoped_lock lock(mutex_);
  return static_cast<std::size_t>(
      std::ranges::count_if(sandboxes_, [](const auto& entry) { return entry.second->is_busy(); }));
}

bool AgentService::has_machine() const {
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(sandboxes_, [](const auto& entry) {
    return store::backend_kind(entry.second->record()) == BackendKind::kVm && entry.second->running() != nullptr;
  });
}

bool AgentService::has_leftovers() const {
  std::map<std::string, std::shared_ptr<AgentSandbox>> all;
  {
    const std::scoped_lock lock(mutex_);
    all = sandboxes_;
  }
  return std::ranges::any_of(all, [](const auto& entry) { return entry.second->has_leftovers(); });
}

}  // namespace hutch::service
