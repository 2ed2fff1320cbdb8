// A plugin's end for an agent, or for many.
#include "service/plugins/removals.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "service/plugins/installation.h"
#include "service/plugins/plugins.h"
#include "service/plugins/run.h"
#include "sys/process/threads.h"

namespace hutch::service {

namespace {

using plugin::Install;

constexpr std::chrono::seconds kEndPatience{20};  // for what is at work; commands have a grace, then they are killed
constexpr std::chrono::seconds kFilesPatience{60};  // for a sandbox that has to start
constexpr std::chrono::seconds kOneAgent{30};  // beyond which the next agent's turn comes

Install nameless(const std::string& agent, const std::string& id) {
  Install install;
  install.agent = agent;
  install.recipe.id = id;
  return install;
}

bool lists(const std::vector<plugin::DamagedInstall>& damaged, const std::string& id) {
  return std::ranges::find(damaged, id, &plugin::DamagedInstall::id) != damaged.end();
}

}  // namespace

PluginRemovals::~PluginRemovals() {
  for (const auto& removal : removals_) removal->thread.join();
}

void PluginRemovals::join_ended() {
  for (const auto& removal : removals_) {
    if (removal->result) removal->thread.join();
  }
  std::erase_if(removals_, [](const auto& removal) { return removal->result.has_value(); });
}

std::optional<Result<bool>> PluginRemovals::run(Work work, std::chrono::milliseconds patience) {
  auto removal = std::make_shared<Removal>();
  std::unique_lock lock(mutex_);
  join_ended();
  auto thread = sys::start_thread([this, removal, work = std::move(work)] {
    auto result = work();
    // The last thing, and under the lock: whoever sees it joins.
    const std::scoped_lock done(mutex_);
    removal->result = std::move(result);
    changed_.notify_all();
  });
  if (!thread) return Result<bool>(std::unexpected(thread.error()));
  removal->thread = std::move(*thread);
  removals_.push_back(removal);
  changed_.wait_for(lock, patience, [&] { return removal->result.has_value(); });
  return removal->result;
}

Result<bool> Plugins::uninstall(const std::string& agent_name, const std::string& id) {
  TRY(plugin::check_id(id));
  const auto agent = TRY(agents_.sandbox(agent_name));
  const auto at_work = uses_.at_work(agent_name);
  const bool was_at_work = std::ranges::find(at_work, std::pair(agent_name, id)) != at_work.end();
  const auto closing = TRY(uses_.close(agent_name, id));
  agent->end_plugin_sandbox(id);
  agent->end_plugin_sandbox(setup_name(id));
  const bool ended = closing->await(kEndPatience);
  // A call that was on its way may have had them made once more.
  agent->end_plugin_sandbox(id);
  agent->end_plugin_sandbox(setup_name(id));
  auto install = TRY(installs_.find(agent_name, id));
  SandboxPlace place(*agent, kFilesPatience, {});
  // With what it added to the library; what cannot be undone is removed all the same.
  if (ended && install && plugin::is_half(*install) && install->state != plugin::State::kRemoving) {
    if (undo_install(*this, place, *install)) install = TRY(installs_.find(agent_name, id));
    if (!install) return true;
  }
  // An installation was under way, and is undone.
  const bool is_damaged = lists(installs_.damaged(agent_name), id);
  if (!install && !is_damaged) return was_at_work;
  Install leaving = install ? *install : nameless(agent_name, id);
  leaving.state = plugin::State::kRemoving;
  if (install) TRY(installs_.write(leaving));
  agents_.tell_change(agent_name, kToolsChanged);
  static constexpr const char* kLater = "its tools are gone, its files go later";
  if (!ended) return fail({Code::kTimeout, 0, cat({kLater, ": a call of it does not end"})});
  const Status removed = finish_removal(*this, place, leaving);
  if (!removed) {
    repairs_.add(agent_name);
    return fail(Error(removed.error()).with_context(kLater));
  }
  return true;
}

Result<std::vector<std::string>> Plugins::agents_of(const std::string& id) {
  std::set<std::string> found;
  for (const std::string& name : TRY(installs_.agents())) {
    const bool is_damaged = lists(installs_.damaged(name), id);
    const auto install = installs_.find(name, id);
    if (is_damaged || (install && *install)) found.insert(name);
  }
  for (const auto& [agent, plugin] : uses_.at_work("")) {
    if (plugin == id) found.insert(agent);
  }
  return std::vector<std::string>(found.begin(), found.end());
}

Plugins::Removed Plugins::uninstall_from(const std::vector<std::string>& agents, const std::string& id) {
  Removed removed;
  for (const std::string& agent : agents) {
    const auto result = removals_.run([this, agent, id] { return uninstall(agent, id); }, kOneAgent);
    if (!result) {
      removed.left.emplace_back(agent, "the agent does not answer; its removal goes on");
    } else if (!*result) {
      removed.left.emplace_back(agent, result->error().message);
    } else if (**result) {
      removed.agents.push_back(agent);
    }
  }
  return removed;
}

bool Plugins::has(const std::string& agent, const std::string& id) {
  const auto install = installs_.find(agent, id);
  return install && *install && (*install)->state != plugin::State::kRemoving;
}

// Looked at with the lock held: what its removal forgets is not written again.
Status Plugins::set_value(const std::string& agent, const std::string& id, const std::string& key,
                          const std::string& value) {
  const std::scoped_lock lock(values_mutex_);
  if (!has(agent, id)) return fail(Error::not_found(cat({"agent ", agent, " has no plugin ", id})));
  return agents_.host_data().set_config(agent, cat({values_of(id), key}), value);
}

Status Plugins::forget_values(const std::string& agent, const std::string& id) {
  const std::scoped_lock lock(values_mutex_);
  return agents_.host_data().forget_below(agent, values_of(id));
}

}  // namespace hutch::service
