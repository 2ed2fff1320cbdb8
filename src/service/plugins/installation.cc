// The eight steps of installing a plugin, and how they are undone.
#include "service/plugins/installation.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "plugin/commands.h"
#include "service/agent/secrets.h"
#include "service/agent/system.h"
#include "service/plugins/call_tool.h"
#include "service/plugins/run.h"
#include "service/plugins/tools.h"
#include "store/record.h"
#include "store/spool.h"
#include "tool/excerpt.h"
#include "tool/packages.h"
#include "tool/steps.h"

namespace hutch::service {

namespace {

using plugin::Install;
using plugin::State;

constexpr std::chrono::seconds kSetupTimeout{300};
constexpr std::chrono::seconds kInstallProbeTimeout{30};
constexpr std::chrono::seconds kStartPatience{120};
constexpr std::string_view kPlugins = "plugins/";
constexpr std::size_t kFilesStep = 4;  // that many steps are done when files are made
static_assert(plugin::kSteps[kFilesStep] == "files");

struct Manager {
  std::string_view name;  // as recipes have it
  tool::Manager kind;
  std::string_view program;
  std::array<std::string_view, 4> query;  // whether a package is installed; the last words may be empty
};
constexpr std::array kManagers = {
    Manager{"apk", tool::Manager::kApk, "/sbin/apk", {"apk", "info", "-e", ""}},
    Manager{"apt", tool::Manager::kApt, "/usr/bin/apt-get", {"dpkg-query", "-W", "-f", "${db:Status-Status}"}},
    Manager{"dnf", tool::Manager::kDnf, "/usr/bin/dnf", {"rpm", "-q", "", ""}}};

wire::FilePlace at(const tool::Layout& layout, std::string_view path) { return {layout.home, std::string(path)}; }

std::string own(std::string_view id) { return cat({kPlugins, id}); }
// Of an update: what was there before, out of the way until that is done.
std::string kept_directory(std::string_view id) { return cat({kPlugins, ".", id, ".before"}); }

Result<bool> has_file(tool::Place& place, const std::string& path) {
  const auto stat = tool::ask<wire::FileStat>(place, wire::StatFile{at(place.layout(), path)});
  if (stat) return true;
  if (stat.error().code == Code::kNotFound) return false;
  return fail(stat.error());
}

Status remove(tool::Place& place, const std::string& path) {
  const auto removed =
      tool::ask<wire::FileRemoved>(place, wire::RemoveFile{at(place.layout(), path), wire::RemoveFile::Tree::kOpen});
  if (!removed && removed.error().code != Code::kNotFound) return fail(removed.error());
  return {};
}

Status move(tool::Place& place, const std::string& from, const std::string& to) {
  TRY(tool::ask<wire::FileMoved>(place, wire::MoveFile{at(place.layout(), from), at(place.layout(), to)}));
  return {};
}

std::string both(const tool::CommandEnd& end) {
  return cat({tool::excerpt(end.output, tool::kInstallCharacters), tool::excerpt(end.error, tool::kInstallCharacters)});
}

}  // namespace

std::string plugin_directory(const tool::Layout& layout, std::string_view id) {
  return cat({layout.home, "/", own(id)});
}

Result<std::vector<std::string>> plugin_environment(AgentSandbox& agent, const plugin::Recipe& recipe,
                                                    const std::string& directory) {
  // Within the agent's home pip may install what the system's own packages do not know of (PEP 668 is about the
  // system).
  std::vector<std::string> environment = {cat({"HUTCH_PLUGIN=", recipe.id}), cat({"OSAURUS_PLUGIN=", recipe.id}),
                                          cat({"HUTCH_PLUGIN_DIR=", directory}), "PIP_BREAK_SYSTEM_PACKAGES=1"};
  TRY(agent.secrets().add_variables_named(recipe.secrets, environment));
  return environment;
}

PluginInstallation::PluginInstallation(Plugins& plugins, AgentSandbox& agent, const Plugins::Wish& wish,
                                       const PluginUses::Use& use)
    : plugins_(plugins),
      agent_(agent),
      wish_(wish),
      use_(use),
      stop_(use.stop()),
      install_{.agent = wish.agent, .recipe = wish.recipe, .from = wish.from},
      place_(agent, kStartPatience, stop_) {
  install_.era = plugins.installs_.era(wish.agent);
}

Result<Install> PluginInstallation::run() {
  const Status done = carry_out();
  if (done) return install_;
  const std::string_view step = plugin::kSteps.at(std::min(install_.steps, plugin::kSteps.size() - 1));
  Error error = Error(done.error()).with_context(cat({"step ", step}));
  error.message = agent_.secrets().scrubber()->scrub(error.message);
  if (use_.is_removed()) error = removed_meanwhile();
  // Before anything was recorded nothing was done either.
  if (install_.steps == 0) return fail(error);
  // With a place of its own: the call may have been cancelled, and what it did has to go all the same.
  SandboxPlace place(agent_, kStartPatience, {});
  install_.reason = error.message;
  const Status undone = undo_install(plugins_, place, install_);
  if (!undone) error.message += cat({"; and what was done is undone later: ", undone.error().message});
  return fail(error);
}

Status PluginInstallation::carry_out() {
  static constexpr std::array<Step, plugin::kSteps.size()> kDo = {nullptr,
                                                                  &PluginInstallation::start,
                                                                  &PluginInstallation::find_user,
                                                                  &PluginInstallation::install_packages,
                                                                  &PluginInstallation::make_files,
                                                                  &PluginInstallation::find_secrets,
                                                                  &PluginInstallation::set_up,
                                                                  &PluginInstallation::offer_tools};
  TRY(plugins_.check(wish_, agent_));
  TRY_CTX(place_.run(command("true")), "start the agent's sandbox");
  TRY(find_before());
  const bool there = TRY(has_file(place_, own(recipe().id)));
  if (there && !before_ && wish_.by == Plugins::Wish::By::kPerson) {
    return fail({Code::kConflict, 0,
                 cat({plugin_directory(place_.layout(), recipe().id),
                      " is there already and no plugin's: move it out of the way"})});
  }
  install_.is_in_place = there && wish_.by == Plugins::Wish::By::kAgent;
  install_.state = before_ ? State::kUpdating : State::kInstalling;
  if (before_) install_.previous = before_->recipe;
  install_.lacks_packages = before_ && before_->lacks_packages;
  install_.system = before_ ? before_->system : std::string();
  install_.had_failed = before_ && before_->state == State::kFailed;
  install_.log.push_back({std::string(plugin::kSteps[0]), cat({"plugin ", recipe().id, ", ", wish_.from})});
  for (const std::string& line : recipe().notes) note(line);
  install_.steps = 1;
  TRY(save());
  for (std::size_t i = 1; i < kDo.size(); ++i) {
    if (stop_.stop_requested()) return fail({Code::kTimeout, 0, "it was cancelled"});
    install_.log.push_back({std::string(plugin::kSteps.at(i)), {}});
    TRY((this->*kDo.at(i))());
    install_.steps = i + 1;
    if (i + 1 < kDo.size()) TRY(save());
  }
  return {};
}

// What an earlier one left half done is undone first.
Status PluginInstallation::find_before() {
  before_ = TRY(plugins_.installs_.find(wish_.agent, recipe().id));
  if (!before_ || !plugin::is_half(*before_)) return {};
  const Install half = *before_;
  const Status undone =
      half.state == State::kRemoving ? finish_removal(plugins_, place_, half) : undo_install(plugins_, place_, half);
  if (!undone) {
    return fail({Code::kConflict, 0,
                 cat({"plugin ", recipe().id, " of ", wish_.agent, " is ", plugin::name_of(half.state),
                      " since an earlier try, which cannot be undone yet: ", undone.error().message})});
  }
  before_ = TRY(plugins_.installs_.find(wish_.agent, recipe().id));
  return {};
}

Status PluginInstallation::save() { return plugins_.installs_.write(install_); }

void PluginInstallation::note(std::string_view line) {
  std::string& log = install_.log.back().log;
  const std::string scrubbed = agent_.secrets().scrubber()->scrub(std::string(line));
  if (log.size() < plugin::kLogBytesMax) log += cat({scrubbed.substr(0, plugin::kLogBytesMax), "\n"});
  if (wish_.on_step) wish_.on_step(install_.log.back().step, scrubbed);
}

tool::Command PluginInstallation::command(std::string text) const {
  return {.arguments = {"/bin/sh", "-c", std::move(text)},
          .cwd = agent_.layout().home,
          .timeout = kInstallProbeTimeout,
          .stop = stop_};
}

Status PluginInstallation::start() {
  note(cat({"the sandbox of ", wish_.agent, " runs"}));
  return {};
}

Status PluginInstallation::find_user() {
  const auto end = TRY(place_.run(command("id -un 2>/dev/null || id -u")));
  if (end.exit_code != 0) return fail(Error{Code::kSystem, 0, both(end)});
  std::string name = end.output.whole();
  while (name.ends_with('\n')) name.pop_back();
  note(cat({"as ", printable(name, 64)}));
  return {};
}

Status PluginInstallation::install_packages() {
  if (recipe().dependencies.empty()) {
    note("none");
    return {};
  }
  const auto manager =
      std::ranges::find_if(kManagers, [&](const Manager& one) { return tool::is_there(place_, one.program); });
  if (manager == kManagers.end()) {
    return fail(Error::unsupported("the sandbox has none of the package managers apk, apt-get and dnf"));
  }
  tool::Value::List missing;
  std::vector<std::string> names;
  const auto scrubber = agent_.secrets().scrubber();
  for (const std::string& name : TRY(plugin::packages_for(recipe(), manager->name))) {
    if (!tool::is_package(manager->kind, name)) {
      return fail(Error::invalid(
          cat({"dependencies: \"", printable(name, 100), "\" is no name of a package of ", manager->name})));
    }
    // The words of a command are in lists of processes.
    if (scrubber->scrub(name) != name) return fail(Error::invalid("dependencies: a name holds a value of a secret"));
    tool::Command query = command("");
    query.arguments.clear();
    for (const std::string_view word : manager->query) {
      if (!word.empty()) query.arguments.emplace_back(word);
    }
    query.arguments.push_back(name);
    const auto end = TRY(place_.run(query));
    const bool there = end.exit_code == 0 && (manager->name != "apt" || end.output.whole() == "installed");
    if (there) continue;
    missing.emplace_back(name);
    names.push_back(name);
  }
  if (missing.empty()) {
    note("all are there");
    return {};
  }
  note(cat({"to be installed: ", join(names, ", ")}));
  const tool::AgentSettings settings{.name = wish_.agent, .autonomous_exec = tool::Permission::kYes};
  tool::CallContext context{.place = place_, .settings = settings, .limiters = plugins_.limiters_};
  context.stop = stop_;
  context.install_timeout = kPersonInstallTimeout;
  const auto envelope = tool::call_tool(
      "sandbox_install", tool::json_text(tool::Value(tool::Value::Object{{"packages", missing}})), context);
  if (needs_system(envelope)) need_ = Plugins::Wish::Need::kSystem;
  if (!envelope.ok) return fail(Error{Code::kUnsupported, 0, cat({join(names, ", "), ": ", envelope.message})});
  note("installed");
  return {};
}

Status PluginInstallation::make_files() {
  const std::string& id = recipe().id;
  // What an earlier update left behind once it was done.
  TRY(remove(place_, kept_directory(id)));
  if (before_ && !install_.is_in_place) {
    install_.had_no_files = !TRY(has_file(place_, own(id)));
    TRY(save());
    if (!install_.had_no_files) TRY(move(place_, own(id), kept_directory(id)));
  }
  TRY(tool::ask<wire::FileDone>(place_, wire::MakeDirectory{at(place_.layout(), own(id))}));
  for (const auto& [path, text] : recipe().files) {
    const wire::WriteFile write{at(place_.layout(), cat({own(id), "/", path})), text, {}, {}};
    TRY_CTX(tool::ask<wire::FileWritten>(place_, write), path);
  }
  note(cat({counted(recipe().files.size(), "file"), " in ", plugin_directory(place_.layout(), id)}));
  return {};
}

// Each that is missing is asked for; with nobody to ask all of them are named.
Status PluginInstallation::find_secrets() {
  std::vector<std::string> missing;
  for (const std::string& name : recipe().secrets) {
    if (TRY(plugins_.agents_.secrets().find(wish_.agent, name))) continue;
    const auto answer = missing.empty() && wish_.by == Plugins::Wish::By::kPerson
                            ? TRY(wish_secret(plugins_.agents_, wish_.agent,
                                              {.key = name,
                                               .description = cat({"The plugin ", recipe().name, " uses it."}),
                                               .instructions = recipe().source},
                                              stop_))
                            : tool::SecretAnswer::kNobody;
    if (answer != tool::SecretAnswer::kStored) missing.push_back(name);
  }
  if (missing.empty()) {
    note(recipe().secrets.empty() ? std::string("none") : join(recipe().secrets, ", "));
    return {};
  }
  return fail(Error::invalid(cat({"secrets are missing: ", join(missing, ", "), "; hutch secret set --agent ",
                                  wish_.agent, " ", missing.front(), " keeps one"})));
}

Status PluginInstallation::set_up() {
  if (recipe().setup.empty()) {
    note("none");
    return {};
  }
  const std::string directory = plugin_directory(place_.layout(), recipe().id);
  tool::Command setup = command(recipe().setup);
  setup.arguments[0] = tool::shell_of(place_);
  setup.cwd = directory;
  setup.environment = TRY(plugin_environment(agent_, recipe(), directory));
  setup.timeout = kSetupTimeout;
  const auto end = TRY(run_set_up(setup));
  const std::string said = both(end);
  note(said);
  if (end.timed_out) return fail({Code::kTimeout, 0, cat({"took longer than 300 s and was ended: ", said})});
  if (end.exit_code == 0) return {};
  std::string why = cat({"exit code ", std::to_string(end.exit_code), ": ", said});
  for (const std::string& refusal : end.refusals) why += cat({"\n", refusal});
  // Only where a yes opens what was refused; the refusals themselves name what allows the other hosts.
  const bool may_open = wish_.set_up == Plugins::Wish::SetUpNetwork::kOfAgent && recipe().created_by != "agent";
  if (may_open && agent_.registries_open(end.refused_hosts)) {
    need_ = Plugins::Wish::Need::kRegistries;
    why += cat({"\nhutch agent set ", wish_.agent, " network=registries opens this machine's package registries"});
  }
  return fail(Error{Code::kSystem, 0, agent_.secrets().scrubber()->scrub(why)});
}

// Where its tools will run: what it leaves running there ends with it.
Result<tool::CommandEnd> PluginInstallation::run_set_up(const tool::Command& setup) {
  const auto shown = TRY(plugins_.agents_.show(wish_.agent));
  const bool opens = wish_.set_up == Plugins::Wish::SetUpNetwork::kRegistries && recipe().created_by != "agent";
  if (!opens && !needs_own_sandbox(recipe(), shown.record)) {
    plugins_.note_beside(agent_, recipe());
    auto end = place_.run(setup);
    plugins_.note_beside(agent_, recipe());
    return end;
  }
  PluginRights rights = setup_rights(recipe());
  rights.registries = opens;
  // The look at what is written in it is not what holds it.
  if (recipe().created_by == "agent") {
    rights.network = {plugin::NetworkPermission::Kind::kHosts, TRY(plugins_.hosts_for_set_up(agent_))};
  }
  auto end = run_apart(agent_, rights, setup);
  agent_.end_plugin_sandbox(rights.plugin);
  return end;
}

// The library gets the recipe once it is known to work. Which version that is to be is recorded before it is there.
Status PluginInstallation::offer_tools() {
  const std::string& id = recipe().id;
  const bool by_agent = wish_.by == Plugins::Wish::By::kAgent;
  install_.time = store::format_time(store::now());
  const auto record = [&](const plugin::Library::Added& added) -> Status {
    if (wish_.over == PluginWish::Over::kEarlierOne && added.before == 0) return fail(removed_meanwhile());
    install_.library_before = added.before;
    install_.library_added = added.version;
    return save();
  };
  TRY(plugins_.library_.add(recipe(), {.from = wish_.from, .time = install_.time, .is_new = by_agent}, record));
  for (const plugin::Tool& one : recipe().tools) note(plugin_tool_name(recipe(), one));
  Install ready = install_;
  ready.state = State::kReady;
  ready.steps = plugin::kSteps.size();
  ready.previous.reset();
  ready.library_before.reset();
  ready.library_added.reset();
  ready.reason.clear();
  ready.had_no_files = false;
  ready.had_failed = false;
  ready.lacks_packages = false;
  ready.system = system_of(agent_.record());
  TRY(plugins_.installs_.write(ready));
  install_ = std::move(ready);
  agent_.end_plugin_sandbox(id);
  // Too late to fail: the next update or removal takes it.
  if (before_ && !install_.is_in_place) (void)remove(place_, kept_directory(id));
  return {};
}

// Whether what there was before is whole again. Before the step "files" it was not touched; one in place is where the
// agent works, who is not robbed of what it changed there.
static Result<bool> put_back(tool::Place& place, const Install& install) {
  const std::string& id = install.recipe.id;
  if (install.is_in_place) return install.steps < kFilesStep;
  const bool moved = install.previous && TRY(has_file(place, kept_directory(id)));
  if (!install.previous || moved || install.had_no_files) TRY(remove(place, own(id)));
  if (moved) TRY(move(place, kept_directory(id), own(id)));
  return !install.had_no_files;
}

Status undo_install(Plugins& plugins, tool::Place& place, const Install& install) {
  const std::string& id = install.recipe.id;
  const bool is_put_back = TRY(put_back(place, install));
  const bool is_whole = is_put_back && !install.had_failed;
  if (install.library_added && install.library_before) {
    // It was killed before it wrote that one, and another's has the number by now: that is to stay.
    const auto added = plugins.library().version(id, *install.library_added);
    if (added && plugin::content_hash(*added) == plugin::content_hash(install.recipe)) {
      TRY(plugins.library().take_back(id, {.version = *install.library_added, .before = *install.library_before}));
    }
  }
  if (!install.previous) {
    TRY(plugins.forget_values(install.agent, id));
    return plugins.installs().erase(install);
  }
  Install before = install;
  before.recipe = *install.previous;
  before.previous.reset();
  before.library_before.reset();
  before.library_added.reset();
  before.state = is_whole ? State::kReady : State::kFailed;
  before.steps = plugin::kSteps.size();
  before.had_no_files = false;
  before.had_failed = false;
  if (is_whole) {
    before.reason.clear();
  } else if (before.reason.empty()) {
    before.reason = "hutch ended while it was updated";
  }
  return plugins.installs().write(before);
}

Status forget_earlier(tool::Place& place, std::string_view id) { return remove(place, kept_directory(id)); }

// First what needs no sandbox of the agent's.
Status finish_removal(Plugins& plugins, tool::Place& place, const Install& install) {
  TRY(plugins.forget_values(install.agent, install.recipe.id));
  TRY(remove(place, own(install.recipe.id)));
  TRY(remove(place, kept_directory(install.recipe.id)));
  return plugins.installs().erase(install);
}

}  // namespace hutch::service
