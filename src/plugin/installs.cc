// Records of what is installed.
#include "plugin/installs.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/files/whole_file.h"
#include "wire/json_guard.h"

namespace hutch::plugin {

namespace {

using nlohmann::json;

// Two recipes as texts in a text, and the logs.
constexpr std::size_t kInstallFileMax = 5 * kRecipeBytesMax;
constexpr std::array kStates = {State::kInstalling, State::kUpdating, State::kReady, State::kRemoving, State::kFailed};

std::string install_text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Result<Install> read_install(const std::string& path) {
  const std::string text = TRY(sys::regular_file_text(path, kInstallFileMax));
  return parse_install(text);
}

}  // namespace

std::string_view name_of(State state) {
  switch (state) {
    case State::kInstalling: return "installing";
    case State::kUpdating: return "updating";
    case State::kReady: return "ready";
    case State::kRemoving: return "removing";
    case State::kFailed: return "failed";
  }
  return "ready";
}

std::string_view shown_state(const Install& install) {
  return install.state == State::kReady && install.lacks_packages ? "repairing" : name_of(install.state);
}

std::string format_install(const Install& install) {
  json log = json::array();
  for (const StepLog& step : install.log) log.push_back({{"step", step.step}, {"log", step.log}});
  json object = {{"agent", install.agent},
                 {"state", name_of(install.state)},
                 {"steps", install.steps},
                 {"log", std::move(log)},
                 {"time", install.time},
                 {"from", install.from},
                 {"in_place", install.is_in_place},
                 {"recipe", install.recipe.json}};
  if (!install.reason.empty()) object["reason"] = install.reason;
  if (install.lacks_packages) object["lacks_packages"] = true;
  if (!install.system.empty()) object["system"] = install.system;
  if (install.had_no_files) object["had_no_files"] = true;
  if (install.had_failed) object["had_failed"] = true;
  if (install.previous) object["previous"] = install.previous->json;
  if (install.library_before) object["library_before"] = *install.library_before;
  if (install.library_added) object["library_added"] = *install.library_added;
  return object.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Install> parse_install(std::string_view text) {
  TRY(wire::check_json_shape(text, kInstallFileMax));
  const json object = parse_json(text);
  if (!object.is_object()) return fail(Error::invalid("the record is no JSON object"));
  Install install;
  install.agent = install_text(object, "agent");
  const std::string state = install_text(object, "state");
  const auto known = std::ranges::find(kStates, std::string_view(state), [](State one) { return name_of(one); });
  if (known == kStates.end()) return fail(Error::invalid(cat({"state \"", printable(state, 32), "\" is not known"})));
  install.state = *known;
  install.time = install_text(object, "time");
  install.from = install_text(object, "from");
  install.recipe = TRY(parse_recipe(install_text(object, "recipe")));
  if (object.contains("previous")) install.previous = TRY(parse_recipe(install_text(object, "previous")));
  const auto number = [&](const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number_integer() ? std::optional(found->get<int>()) : std::nullopt;
  };
  install.steps = static_cast<std::size_t>(std::clamp(number("steps").value_or(0), 0, int{kSteps.size()}));
  install.library_before = number("library_before");
  install.library_added = number("library_added");
  const auto truth = [&](const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_boolean() && found->get<bool>();
  };
  install.is_in_place = truth("in_place");
  install.lacks_packages = truth("lacks_packages");
  install.system = install_text(object, "system");
  install.had_no_files = truth("had_no_files");
  install.had_failed = truth("had_failed");
  install.reason = install_text(object, "reason");
  const auto log = object.find("log");
  if (log == object.end() || !log->is_array()) return install;
  for (const json& one : *log) {
    if (one.is_object()) install.log.push_back({install_text(one, "step"), install_text(one, "log")});
  }
  return install;
}

std::string Installs::place(const std::string& agent) const { return cat({directory_, "/", agent, "/plugins"}); }

Result<std::vector<std::string>> Installs::agents() const {
  std::vector<std::string> found;
  if (!TRY(sys::status_of(directory_))) return found;
  const UniqueFd opened = TRY(sys::open_listing(directory_));
  for (const auto& entry : TRY(sys::names_in(opened.get(), directory_))) {
    if (sys::exists(place(entry.name))) found.push_back(entry.name);
  }
  std::ranges::sort(found);
  return found;
}

Result<Installs::Known*> Installs::load(const std::string& agent) {
  const auto found = known_.find(agent);
  if (found != known_.end()) return &found->second;
  Known known;
  const std::string directory = place(agent);
  if (TRY(sys::status_of(directory))) {
    const UniqueFd opened = TRY(sys::open_listing(directory));
    for (const auto& entry : TRY(sys::names_in(opened.get(), directory))) {
      const std::string path = cat({directory, "/", entry.name});
      // What a process that was killed was writing.
      if (!entry.name.ends_with(".json")) continue;
      const std::string id = entry.name.substr(0, entry.name.size() - 5);
      auto read = read_install(path);
      if (read && (read->recipe.id != id || read->agent != agent))
        read = fail(Error::invalid("it is another's record"));
      if (read) {
        known.emplace(id, std::make_shared<const Install>(std::move(*read)));
      } else {
        damaged_[agent].push_back({agent, id, read.error().message});
      }
    }
  }
  return &(known_[agent] = std::move(known));
}

Result<std::vector<std::shared_ptr<const Install>>> Installs::of(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  std::vector<std::shared_ptr<const Install>> all;
  for (const auto& [id, install] : *TRY(load(agent))) all.push_back(install);
  return all;
}

Result<std::shared_ptr<const Install>> Installs::find(const std::string& agent, const std::string& id) {
  const std::scoped_lock lock(mutex_);
  const Known& known = *TRY(load(agent));
  const auto found = known.find(id);
  return found == known.end() ? nullptr : found->second;
}

std::vector<DamagedInstall> Installs::damaged(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  if (!load(agent)) return {};
  const auto found = damaged_.find(agent);
  return found == damaged_.end() ? std::vector<DamagedInstall>() : found->second;
}

std::uint64_t Installs::era(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  return eras_[agent];
}

Status Installs::check_era(const Install& install) const {
  if (!install.era) return {};
  const auto now = eras_.find(install.agent);
  if (now != eras_.end() && now->second == *install.era) return {};
  return fail({Code::kConflict, 0, cat({"agent ", install.agent, " was removed meanwhile"})});
}

Status Installs::write(const Install& install) {
  TRY(check_id(install.recipe.id));
  const std::scoped_lock lock(mutex_);
  TRY(check_era(install));
  Known& known = *TRY(load(install.agent));
  const auto now = known.find(install.recipe.id);
  if (now != known.end() && now->second->state == State::kRemoving && install.state != State::kRemoving) {
    return fail({Code::kConflict, 0, cat({"plugin ", install.recipe.id, " is being removed"})});
  }
  if (!known.contains(install.recipe.id) && known.size() >= kInstalledMax) {
    return fail({Code::kConflict, 0, cat({"the agent has ", std::to_string(kInstalledMax), " plugins already"})});
  }
  TRY(sys::make_private_directories(place(install.agent)));
  TRY(sys::replace_file(cat({place(install.agent), "/", install.recipe.id, ".json"}), format_install(install)));
  known[install.recipe.id] = std::make_shared<const Install>(install);
  return {};
}

Status Installs::erase(const Install& install) {
  const std::string& agent = install.agent;
  const std::string& id = install.recipe.id;
  TRY(check_id(id));
  const std::scoped_lock lock(mutex_);
  TRY(check_era(install));
  Known& known = *TRY(load(agent));
  const std::string path = cat({place(agent), "/", id, ".json"});
  if (TRY(sys::status_of(path))) TRY(sys::unlink_at(sys::kCwd, path));
  known.erase(id);
  std::erase_if(damaged_[agent], [&](const DamagedInstall& one) { return one.id == id; });
  return {};
}

Status Installs::forget(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  known_.erase(agent);
  damaged_.erase(agent);
  ++eras_[agent];
  TRY(sys::remove_tree(place(agent)));
  return sys::remove_tree(cat({directory_, "/", agent}));
}

}  // namespace hutch::plugin
