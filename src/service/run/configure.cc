// config: shows, checks and changes the user's policies.
#include "service/run/configure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "host/state_dirs.h"
#include "policy/defaults.h"
#include "policy/document/edit.h"
#include "policy/document/presets.h"
#include "policy/document/reader.h"
#include "policy/document/schema.h"
#include "policy/rules.h"
#include "service/common/load_policy.h"
#include "service/common/value_text.h"
#include "service/prepare/policy_summary.h"
#include "service/run/editor.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

using ordered_json = nlohmann::ordered_json;
using policy::EditKind;
using store::HeldPolicy;
using store::Scope;

struct Config {
  const ConfigRequest& request;
  const plan::HostFacts& facts;
  const std::vector<std::string>& environment;
  store::Policies policies;
};

Result<ConfigAnswer> show_policy(const Config& config);
Result<ConfigAnswer> check(const Config& config);
Result<ConfigAnswer> edit_policy(const Config& config);
Result<ConfigAnswer> policy_path(const Config& config);
Result<ConfigAnswer> enable(const Config& config);
Result<ConfigAnswer> get_key(const Config& config);
Result<ConfigAnswer> change_policy(const Config& config);
Result<ConfigAnswer> policy_schema_answer(const Config& config);
Result<ConfigAnswer> preset(const Config& config);
Result<ConfigAnswer> import(const Config& config);
Result<ConfigAnswer> reload(const Config& config);

struct ConfigAction {
  std::string_view name;
  Result<ConfigAnswer> (*carry_out)(const Config& config);
};
constexpr std::array kConfigActions = {
    ConfigAction{"show", show_policy},
    ConfigAction{"check", check},
    ConfigAction{"edit", edit_policy},
    ConfigAction{"path", policy_path},
    ConfigAction{"get", get_key},
    ConfigAction{"set", change_policy},
    ConfigAction{"add", change_policy},
    ConfigAction{"remove", change_policy},
    ConfigAction{"enable", enable},
    ConfigAction{"disable", enable},
    ConfigAction{"schema", policy_schema_answer},
    ConfigAction{"import", import},
    ConfigAction{"reload", reload},
    ConfigAction{"preset", preset},
};

Result<HeldPolicy> held(const Config& config);
ConfigAnswer saved_answer(const Config& config, const HeldPolicy& entry);
ConfigAnswer verdict(const Config& config, const std::vector<std::string>& errors);
ordered_json place_json(const HeldPolicy& entry);

}  // namespace

Result<ConfigAnswer> configure(const ConfigRequest& request, const plan::HostFacts& facts,
                               const std::vector<std::string>& environment) {
  const Config config{request, facts, environment, store::Policies(config_directory(facts, environment))};
  for (const ConfigAction& action : kConfigActions) {
    if (action.name == request.action) return action.carry_out(config);
  }
  return fail(Error::invalid(cat({"config: unknown action ", printable(request.action)})));
}

std::string place_name(const HeldPolicy& entry) {
  if (entry.file.empty()) return "built-in default";
  return entry.project ? cat({entry.file, " \"", printable(*entry.project), "\""}) : entry.file;
}

namespace {

Result<ConfigAnswer> show_policy(const Config& config) {
  const HeldPolicy entry = TRY(held(config));
  if (config.request.form == OutputForm::kJson) {
    ordered_json object = place_json(entry);
    object["policy"] = parse_ordered_json(entry.text);
    // For whoever has a policy of their own in place of the built-in one.
    const auto added = policy::added_to(policy::default_policy_text(), entry.text);
    object["added"] = added && !entry.project ? parse_ordered_json(*added) : ordered_json();
    return ConfigAnswer{object.dump(2) + "\n"};
  }
  LoadedPolicy loaded;
  loaded.policy = TRY(policy::read_policy(entry.text, place_name(entry)));
  loaded.project = entry.project.value_or(config.facts.cwd);
  return ConfigAnswer{cat({status_line(loaded.policy), "\n", summary_text(loaded)})};
}

// Of a FILE, or of what is stored.
Result<ConfigAnswer> check(const Config& config) {
  std::vector<std::string> errors;
  if (config.request.words.empty()) {
    errors = config.policies.errors();
  } else {
    const std::string& file = config.request.words.front();
    const std::string path = TRY(policy::absolute_path(file, config.facts.home, config.facts.cwd));
    const std::string text = TRY(sys::regular_file_text(path, limits::kJsonBytesMax));
    const Status checked = policy::check_policy_text(text, printable(file));
    if (!checked) errors.push_back(checked.error().message);
  }
  return verdict(config, errors);
}

Result<ConfigAnswer> edit_policy(const Config& config) {
  const Scope scope = config.request.scope.value_or(Scope::kProject);
  const HeldPolicy before = TRY(config.policies.before_change(scope, config.facts.cwd));
  HeldPolicy saved;
  const auto save = [&](const std::string& text) -> Status {
    saved = TRY(config.policies.change(scope, config.facts.cwd, [&](const std::string& now) -> Result<std::string> {
      if (now == before.text) return text;
      return fail({Code::kConflict, 0, "it is another by now"});
    }));
    return {};
  };
  const EditEnd end = TRY(edit_text({.directory = config_directory(config.facts, config.environment),
                                     .text = before.text,
                                     .environment = config.environment,
                                     .check = policy::check_policy_text,
                                     .save = save}));
  if (end == EditEnd::kUnchanged) return ConfigAnswer{"nothing changed\n"};
  return saved_answer(config, saved);
}

Result<ConfigAnswer> policy_path(const Config& config) {
  const HeldPolicy entry = TRY(held(config));
  if (config.request.form == OutputForm::kJson) return ConfigAnswer{place_json(entry).dump() + "\n"};
  if (entry.file.empty()) return ConfigAnswer{"built in\n", 1};
  return ConfigAnswer{entry.file + "\n"};
}

Result<ConfigAnswer> get_key(const Config& config) {
  const HeldPolicy entry = TRY(held(config));
  const auto value = TRY(policy::value_at(entry.text, config.request.words.front()));
  if (!value) return ConfigAnswer{config.request.form == OutputForm::kJson ? "null\n" : "", 1};
  return ConfigAnswer{config.request.form == OutputForm::kJson ? *value + "\n" : value_lines(*value)};
}

Result<ConfigAnswer> change_policy(const Config& config) {
  const ConfigRequest& request = config.request;
  policy::Edit edit;
  edit.kind = request.action == "set" ? EditKind::kSet : request.action == "add" ? EditKind::kAdd : EditKind::kRemove;
  edit.key = request.words.front();
  if (request.words.size() > 1) edit.value = request.words[1];
  const Scope scope = request.scope.value_or(Scope::kProject);
  const HeldPolicy entry = TRY(config.policies.change(
      scope, config.facts.cwd, [&](const std::string& policy) { return policy::edited(policy, edit); }));
  return saved_answer(config, entry);
}

Result<ConfigAnswer> enable(const Config& config) {
  const policy::Edit edit{EditKind::kSet, "enabled", config.request.action == "enable" ? "true" : "false"};
  const Scope scope = config.request.scope.value_or(Scope::kProject);
  const HeldPolicy entry = TRY(config.policies.change(
      scope, config.facts.cwd, [&](const std::string& policy) { return policy::edited(policy, edit); }));
  return saved_answer(config, entry);
}

Result<ConfigAnswer> policy_schema_answer(const Config&) { return ConfigAnswer{policy::policy_schema()}; }

Result<ConfigAnswer> preset(const Config& config) {
  const bool as_json = config.request.form == OutputForm::kJson;
  if (!config.request.words.empty()) {
    const std::string& name = config.request.words.front();
    if (const policy::Preset* found = policy::find_preset(name)) return ConfigAnswer{std::string(found->text)};
    return fail(policy::no_preset(name, "hutch config preset"));
  }
  ordered_json list = ordered_json::array();
  std::string text;
  for (const policy::Preset& one : policy::presets()) {
    list.push_back({{"name", one.name}, {"about", one.about}});
    text += fmt::format("{:<14}{}\n", one.name, one.about);
  }
  return ConfigAnswer{as_json ? list.dump() + "\n" : text};
}

// For whoever has it from pi-sandbox, where it is the directory that pi was started in: an entry may open more here.
constexpr std::string_view kOfDots =
    "\".\" in an entry of it is the entry's directory, also for what starts below that; name paths where that is too "
    "much\n";

bool has_dot(const std::string& projects) {
  const ordered_json all = ordered_json::parse(projects, nullptr, false);
  if (!all.is_object()) return false;
  return std::ranges::any_of(all, [](const ordered_json& entry) {
    const auto files = entry.find("filesystem");
    if (files == entry.end() || !files->is_object()) return false;
    return std::ranges::any_of(std::array{"allowRead", "allowWrite"}, [&](const char* name) {
      const auto list = files->find(name);
      if (list == files->end() || !list->is_array()) return false;
      return std::ranges::any_of(*list, [](const ordered_json& one) { return one == "."; });
    });
  });
}

// A projects.json is told by its keys, which are paths; anything else has to be one policy.
Result<ConfigAnswer> import(const Config& config) {
  const std::string& file = config.request.words.front();
  const policy::Preset* found = policy::find_preset(file);
  const std::string path = TRY(policy::absolute_path(file, config.facts.home, config.facts.cwd));
  auto held = found != nullptr ? Result<std::string>(std::string(found->text))
                               : sys::regular_file_text(path, limits::kJsonBytesMax);
  if (!held && held.error().sys_errno == ENOENT && policy::may_be_preset(file)) {
    return fail(policy::no_preset(file, "no such file, and"));
  }
  const std::string text = TRY(std::move(held));
  const std::vector<std::string> keys = TRY_CTX(policy::project_paths(text), printable(file));
  if (!keys.empty() && keys.front().starts_with('/')) {
    TRY(policy::check_projects_text(text, printable(file)));
    const std::size_t count = TRY(config.policies.add_projects(text));
    if (config.request.form == OutputForm::kJson) {
      return ConfigAnswer{ordered_json{{"file", config.policies.projects_file()}, {"projects", count}}.dump() + "\n", 0,
                          true};
    }
    return ConfigAnswer{cat({config.policies.projects_file(), ": ", std::to_string(count), " projects added\n",
                             has_dot(text) ? kOfDots : ""}),
                        0, true};
  }
  TRY(policy::check_policy_text(text, printable(file)));
  const Scope scope = config.request.scope.value_or(Scope::kDefault);
  const HeldPolicy entry = TRY(
      config.policies.change(scope, config.facts.cwd, [&](const std::string&) -> Result<std::string> { return text; }));
  return saved_answer(config, entry);
}

// What was changed by hand holds in what runs, unless it is broken.
Result<ConfigAnswer> reload(const Config& config) {
  const std::vector<std::string> errors = config.policies.errors();
  ConfigAnswer answer = verdict(config, errors);
  answer.saved = errors.empty();
  return answer;
}

ConfigAnswer verdict(const Config& config, const std::vector<std::string>& errors) {
  const int code = errors.empty() ? 0 : 1;
  if (config.request.form == OutputForm::kJson)
    return {ordered_json{{"ok", errors.empty()}, {"errors", errors}}.dump() + "\n", code};
  return {errors.empty() ? "ok\n" : join(errors, "\n") + "\n", code};
}

// Without a scope: the policy that holds here.
Result<HeldPolicy> held(const Config& config) {
  if (!config.request.scope) return config.policies.holding(config.facts.cwd);
  return config.policies.before_change(*config.request.scope, config.facts.cwd);
}

ConfigAnswer saved_answer(const Config& config, const HeldPolicy& entry) {
  const bool as_json = config.request.form == OutputForm::kJson;
  return {as_json ? place_json(entry).dump() + "\n" : cat({"saved in ", place_name(entry), "\n"}), 0, true};
}

ordered_json place_json(const HeldPolicy& entry) {
  const std::string_view scope = entry.file.empty() ? "built-in" : entry.project ? "project" : "default";
  ordered_json object = {{"scope", scope}, {"file", entry.file.empty() ? ordered_json() : ordered_json(entry.file)}};
  object["project"] = entry.project ? ordered_json(*entry.project) : ordered_json();
  return object;
}

}  // namespace

}  // namespace hutch::service
