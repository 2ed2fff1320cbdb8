// The sandboxes of the E2B-compatible API.
#include "server/e2b/desk.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "server/e2b/process_shares.h"
#include "server/protocol/agent_settings.h"
#include "service/agent/checks.h"
#include "store/image_store.h"
#include "sys/files/files.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"

namespace hutch::server {

namespace {

constexpr std::size_t kTemplatesBytesMax = 1 << 20;
constexpr std::size_t kTemplateNameBytesMax = 256;
constexpr std::size_t kIdDigits = 19;
constexpr std::size_t kE2bTokenBytes = 32;
// Not `none`: whoever has a key would be this user outside of every sandbox. templates.json is the owner's word for it.

// What e2b and @e2b/code-interpreter ask for where nothing is said.
constexpr std::array<std::string_view, 2> kPlainTemplates = {"base", "code-interpreter-v1"};

using tool::Value;

Result<std::string> new_id() { return cat({"i", TRY(sys::random_hex(10)).substr(0, kIdDigits)}); }

// The name as any owner of a key may read it, without a path of the host.
constexpr std::string_view kTemplates = "templates.json";

// Of templates.json beside config.json: {"NAME": {an agent's settings}}. Nothing where it has none of that name.
Result<std::optional<std::vector<std::string>>> settings_in(const std::string& path, const std::string& name) {
  const auto there = sys::status_of(path);
  if (there && !*there) return std::optional<std::vector<std::string>>();
  const auto text = there ? sys::regular_file_text(path, kTemplatesBytesMax) : Result<std::string>(fail(there.error()));
  if (!text) return fail(Error{text.error().code, 0, cat({kTemplates, " of the daemon's user cannot be read"})});
  const Value parsed = TRY_CTX(tool::parse_value(*text, kTemplatesBytesMax), kTemplates);
  const auto* all = parsed.get<Value::Object>();
  if (all == nullptr) return fail(Error::invalid(cat({kTemplates, ": has to be an object of templates"})));
  const auto found = all->find(name);
  if (found == all->end()) return std::optional<std::vector<std::string>>();
  const auto* settings = found->second.get<Value::Object>();
  if (settings == nullptr) {
    return fail(
        Error::invalid(cat({kTemplates, ": ", printable(name), ": has to be an object of an agent's settings"})));
  }
  return std::optional(TRY_CTX(settings_of(*settings), kTemplates));
}

std::int64_t sandbox_end(std::int64_t timeout_seconds) { return now_ms() + timeout_seconds * 1000; }

bool is_over(const store::E2bRecord& record) { return !record.paused && record.end_ms <= now_ms(); }

Status check_timeout(std::int64_t seconds) {
  if (seconds >= 0 && seconds <= E2bDesk::kTimeoutSecondsMax) return {};
  return fail(
      Error::invalid(cat({"timeout is a number of seconds from 0 to ", std::to_string(E2bDesk::kTimeoutSecondsMax)})));
}

}  // namespace

// What ran when the last daemon ended starts anew when it is needed; its files are there.
Result<std::unique_ptr<E2bDesk>> E2bDesk::open(service::AgentService& agents, Workers& workers, Tell tell) {
  auto records = TRY(store::E2bSandboxes::open(agents.dirs().data));
  std::set<std::string> there;
  for (const auto& shown : TRY(agents.list())) there.insert(shown.record.name);
  const std::vector<store::E2bRecord> known = TRY(records->list());
  auto desk = std::make_unique<E2bDesk>(agents, workers, std::move(tell), std::move(records));
  for (const store::E2bRecord& record : known) {
    if (there.contains(E2bSandbox::agent_of(record.id))) {
      desk->sandboxes_.emplace(record.id, std::make_shared<E2bSandbox>(record));
    } else {
      TRY(desk->records_->remove(record.id));
    }
  }
  return desk;
}

Result<store::AgentRecord> E2bDesk::agent_record(const std::string& id, const std::string& template_name) const {
  store::AgentRecord record = TRY(agents_.draft(E2bSandbox::agent_of(id)));
  const std::string path = cat({agents_.dirs().config, "/", kTemplates});
  const std::string& name = template_name;
  std::vector<std::string> settings;
  if (name.empty() || name.size() > kTemplateNameBytesMax) return fail(Error::invalid("templateID is missing"));
  if (auto own = TRY(settings_in(path, name))) {
    settings = std::move(*own);
  } else if (const auto kind = policy::backend_named(name); kind && policy::traits_of(*kind).e2b_template) {
    settings = {cat({"backend=", name})};
  } else if (std::ranges::find(kPlainTemplates, name) == kPlainTemplates.end()) {
    const auto image = store::image_name(name);
    const bool is_image = image && TRY(store::ImageStore(agents_.dirs().data).find(*image));
    if (!is_image) {
      return fail(Error::not_found(cat({"template '", printable(name, 128), "' not found: name one of ", kTemplates,
                                        ", a backend, an image of hutch image list, or base"})));
    }
    settings = {cat({"image=", *image})};
  }
  for (const std::string& setting : settings) record = TRY_CTX(store::with_setting(record, setting), kTemplates);
  TRY(service::check_passing_agent(record));
  return record;
}

Status E2bDesk::check_room(const std::string& owner) const {
  const auto own = std::ranges::count_if(sandboxes_, [&](const auto& one) { return one.second->owner() == owner; });
  const std::string count = std::to_string(own);
  switch (room_of(owner, {static_cast<std::size_t>(own), sandboxes_.size(), kSandboxesMax})) {
    case Room::kFree: return {};
    case Room::kKeyHasItsMost: return fail(full_error(cat({"this key has ", count, " sandboxes, which is the most"})));
    case Room::kAllTaken: break;
  }
  return fail({Code::kConflict, 0, cat({std::to_string(kSandboxesMax), " sandboxes are there already"})});
}

Result<std::shared_ptr<E2bSandbox>> E2bDesk::create(const Wish& wish, const std::stop_token& gone) {
  TRY(check_timeout(wish.timeout_seconds));
  const std::string id = TRY(new_id());
  store::AgentRecord agent = TRY(agent_record(id, wish.template_name));
  auto sandbox = std::make_shared<E2bSandbox>(store::E2bRecord{.id = id,
                                                               .owner = wish.owner,
                                                               .template_name = wish.template_name,
                                                               .token = TRY(sys::random_hex(kE2bTokenBytes)),
                                                               .started_ms = now_ms(),
                                                               .end_ms = sandbox_end(wish.timeout_seconds),
                                                               .pauses_at_end = wish.pauses_at_end,
                                                               .resumes_by_itself = wish.resumes_by_itself,
                                                               .metadata = wish.metadata,
                                                               .variables = wish.variables});
  {
    const std::scoped_lock lock(mutex_);
    TRY(check_room(wish.owner));
    sandboxes_.emplace(id, sandbox);
  }
  // First, so that one whose making is broken off is found again.
  const auto make = [&]() -> Status {
    {
      const std::scoped_lock life(sandbox->life());
      TRY(save(*sandbox, [](store::E2bRecord&) {}));
    }
    TRY(agents_.create(std::move(agent)));
    return start(*sandbox, gone);
  };
  const Status made = make();
  if (made) return sandbox;
  (void)kill(sandbox);
  return fail(made.error());
}

Status E2bDesk::start(E2bSandbox& sandbox, const std::stop_token& gone) {
  const auto agent = TRY(this->agent(sandbox));
  TRY_CTX(agent->resident(gone), "start the sandbox");
  sandbox.log("the sandbox runs");
  return {};
}

Result<std::shared_ptr<E2bSandbox>> E2bDesk::find(const std::string& id, const std::string& owner) const {
  const std::scoped_lock lock(mutex_);
  const auto found = sandboxes_.find(id);
  if (found != sandboxes_.end() && (owner.empty() || found->second->owner() == owner)) return found->second;
  return fail(Error::not_found(cat({"sandbox '", printable(id, 64), "' not found"})));
}

std::vector<std::shared_ptr<E2bSandbox>> E2bDesk::list(const std::string& owner) const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::shared_ptr<E2bSandbox>> all;
  for (const auto& [id, sandbox] : sandboxes_) {
    if (owner.empty() || sandbox->owner() == owner) all.push_back(sandbox);
  }
  return all;
}

bool E2bDesk::is_known(const std::string& id) const {
  const std::scoped_lock lock(mutex_);
  return sandboxes_.contains(id);
}

void E2bDesk::hide(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  sandboxes_.erase(id);
}

Status E2bDesk::kill(const std::shared_ptr<E2bSandbox>& sandbox) {
  // Before its life is over, which may take a while.
  hide(sandbox->record().id);
  const std::scoped_lock life(sandbox->life());
  return remove(*sandbox);
}

// What cannot be removed is tried again by the next daemon: its record stays.
Status E2bDesk::remove(E2bSandbox& sandbox) {
  const std::string id = sandbox.record().id;
  hide(id);
  TRY(agents_.remove(E2bSandbox::agent_of(id)));
  sandbox.forget_processes();
  return records_->remove(id);
}

// Under one lock: a change that is written after a later one would hold for the next daemon. What is killed gets no
// record again.
Status E2bDesk::save(E2bSandbox& sandbox, const std::function<void(store::E2bRecord& record)>& change) {
  const std::string id = sandbox.record().id;
  if (!is_known(id)) return fail(Error::not_found(cat({"sandbox '", id, "' not found"})));
  return records_->put(sandbox.change(change));
}

Status E2bDesk::pause(E2bSandbox& sandbox, Processes processes) {
  const std::scoped_lock life(sandbox.life());
  return stop(sandbox, processes);
}

Status E2bDesk::stop(E2bSandbox& sandbox, Processes processes) {
  if (sandbox.record().paused) return fail({Code::kConflict, 0, "the sandbox is paused already"});
  const auto agent = TRY(this->agent(sandbox));
  if (processes == Processes::kEnded) {
    agent->stop();
    sandbox.forget_processes();
  } else {
    TRY(agent->signal_all(SIGSTOP));
  }
  sandbox.log(processes == Processes::kEnded ? "paused, its processes have ended" : "paused");
  return save(sandbox, [](store::E2bRecord& record) { record.paused = true; });
}

Status E2bDesk::stand_still_if_paused(E2bSandbox& sandbox) {
  const std::scoped_lock life(sandbox.life());
  if (!sandbox.record().paused) return {};
  const auto agent = TRY(this->agent(sandbox));
  return agent->signal_all(SIGSTOP);
}

Status E2bDesk::resume(E2bSandbox& sandbox, std::int64_t timeout_seconds) {
  TRY(check_timeout(timeout_seconds));
  const std::scoped_lock life(sandbox.life());
  const std::int64_t end = sandbox_end(timeout_seconds);
  if (!sandbox.record().paused) {
    return save(sandbox, [end](store::E2bRecord& record) { record.end_ms = std::max(record.end_ms, end); });
  }
  const auto agent = TRY(this->agent(sandbox));
  if (agent->running()) {
    TRY(agent->signal_all(SIGCONT));
  } else {
    TRY(start(sandbox, {}));
  }
  sandbox.log("resumed");
  return save(sandbox, [end](store::E2bRecord& record) {
    record.paused = false;
    record.end_ms = end;
  });
}

Status E2bDesk::set_end(E2bSandbox& sandbox, std::int64_t timeout_seconds, End end) {
  TRY(check_timeout(timeout_seconds));
  const std::scoped_lock life(sandbox.life());
  const std::int64_t then = sandbox_end(timeout_seconds);
  return save(sandbox, [then, end](store::E2bRecord& record) {
    record.end_ms = end == End::kThen ? then : std::max(record.end_ms, then);
  });
}

// Each on a thread of its own: an end may take its grace.
void E2bDesk::sweep() {
  std::vector<std::shared_ptr<E2bSandbox>> over;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [id, sandbox] : sandboxes_) {
      if (is_over(sandbox->record()) && ending_.insert(id).second) over.push_back(sandbox);
    }
  }
  for (const auto& sandbox : over) workers_.run([this, sandbox] { end(sandbox); });
}

// Somebody may have given it more time by now, and was told that it has it.
Status E2bDesk::end_if_over(E2bSandbox& sandbox) {
  const store::E2bRecord record = sandbox.record();
  if (!is_over(record)) return {};
  return record.pauses_at_end ? stop(sandbox, Processes::kStopped) : remove(sandbox);
}

void E2bDesk::end(const std::shared_ptr<E2bSandbox>& sandbox) {
  const std::string id = sandbox->record().id;
  {
    const std::scoped_lock life(sandbox->life());
    const Status ended = is_known(id) ? end_if_over(*sandbox) : Status();
    if (!ended) tell_(cat({"sandbox ", id, ", whose time is over: ", ended.error().message}));
  }
  const std::scoped_lock lock(mutex_);
  ending_.erase(id);
}

void E2bDesk::forget(const std::string& agent) {
  static const std::string kPrefix = E2bSandbox::agent_of("");
  if (!agent.starts_with(kPrefix)) return;
  const std::string id = agent.substr(kPrefix.size());
  const std::scoped_lock lock(mutex_);
  if (sandboxes_.erase(id) > 0) (void)records_->remove(id);
}

}  // namespace hutch::server
