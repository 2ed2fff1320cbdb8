// settings: shows and changes config.json.
#include "service/run/settings.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "service/common/value_text.h"
#include "service/run/editor.h"
#include "store/settings_file.h"

namespace hutch::service {

namespace {

using ordered_json = nlohmann::ordered_json;

struct Context {
  const SettingsRequest& request;
  const std::vector<std::string>& environment;
  std::string directory;
  store::SettingsFile file;
};

Result<SettingsAnswer> show_settings(const Context& context);
Result<SettingsAnswer> get_setting(const Context& context);
Result<SettingsAnswer> change_setting(const Context& context);
Result<SettingsAnswer> edit_settings(const Context& context);
Result<SettingsAnswer> settings_path(const Context& context);
Result<SettingsAnswer> settings_schema_answer(const Context& context);

struct SettingsAction {
  std::string_view name;
  Result<SettingsAnswer> (*carry_out)(const Context& context);
};
constexpr std::array kSettingsActions = {
    SettingsAction{"show", show_settings},           SettingsAction{"get", get_setting},
    SettingsAction{"set", change_setting},           SettingsAction{"remove", change_setting},
    SettingsAction{"edit", edit_settings},           SettingsAction{"path", settings_path},
    SettingsAction{"schema", settings_schema_answer}};

constexpr std::string_view kNothingSet = "{}\n";

SettingsAnswer saved(const Context& context);

}  // namespace

Result<SettingsAnswer> settle_settings(const SettingsRequest& request, const std::string& directory,
                                       const std::vector<std::string>& environment) {
  const auto action = std::ranges::find(kSettingsActions, request.action, &SettingsAction::name);
  if (action == kSettingsActions.end())
    return fail(Error::invalid(cat({"unknown action ", printable(request.action)})));
  return action->carry_out({request, environment, directory, store::SettingsFile(directory)});
}

namespace {

// Every key with what holds, set or not.
Result<SettingsAnswer> show_settings(const Context& context) {
  const std::string text = TRY(context.file.text()).value_or(std::string(kNothingSet));
  TRY(store::parse_settings(text, context.file.path()));
  if (context.request.form == OutputForm::kJson) {
    const ordered_json shown = {{"file", context.file.path()}, {"settings", parse_ordered_json(text)}};
    return SettingsAnswer{shown.dump(2) + "\n"};
  }
  std::size_t width = 0;
  for (const auto& key : store::setting_texts()) width = std::max(width, key.name.size());
  std::string lines;
  for (const auto& key : store::setting_texts()) {
    const auto value = TRY(store::setting_at(text, context.file.path(), key.name));
    const std::string held = value ? printable(value_line(*value), 200) : cat({"(not set: ", key.otherwise, ")"});
    lines += cat({key.name, std::string(width - key.name.size() + 2, ' '), held, "\n"});
  }
  return SettingsAnswer{lines};
}

Result<SettingsAnswer> get_setting(const Context& context) {
  const std::string text = TRY(context.file.text()).value_or(std::string(kNothingSet));
  const auto value = TRY(store::setting_at(text, context.file.path(), context.request.words.front()));
  const bool as_json = context.request.form == OutputForm::kJson;
  if (!value) return SettingsAnswer{as_json ? "null\n" : "", 1};
  return SettingsAnswer{as_json ? *value + "\n" : value_lines(*value)};
}

Result<SettingsAnswer> change_setting(const Context& context) {
  const std::vector<std::string>& words = context.request.words;
  const store::SettingEdit edit{words.front(), words.size() > 1 ? std::optional(words[1]) : std::nullopt};
  TRY(context.file.change(
      [&](const std::string& text) { return store::edited_settings(text, context.file.path(), edit); }));
  return saved(context);
}

Result<SettingsAnswer> edit_settings(const Context& context) {
  const std::string before = TRY(context.file.text()).value_or(std::string(kNothingSet));
  const auto save = [&](const std::string& text) {
    return context.file.change([&](const std::string& now) -> Result<std::string> {
      if (now == before) return text;
      return fail({Code::kConflict, 0, "it is another by now"});
    });
  };
  const auto check = [](const std::string& text, const std::string& file) -> Status {
    TRY(store::parse_settings(text, file));
    return {};
  };
  const EditEnd end = TRY(edit_text({.directory = context.directory,
                                     .text = before,
                                     .environment = context.environment,
                                     .check = check,
                                     .save = save}));
  return end == EditEnd::kUnchanged ? SettingsAnswer{"nothing changed\n"} : saved(context);
}

Result<SettingsAnswer> settings_path(const Context& context) {
  if (context.request.form == OutputForm::kText) return SettingsAnswer{context.file.path() + "\n"};
  return SettingsAnswer{ordered_json{{"file", context.file.path()}}.dump() + "\n"};
}

Result<SettingsAnswer> settings_schema_answer(const Context&) { return SettingsAnswer{store::settings_schema()}; }

SettingsAnswer saved(const Context& context) {
  if (context.request.form == OutputForm::kText) return {cat({"saved in ", context.file.path(), "\n"})};
  return {ordered_json{{"file", context.file.path()}}.dump() + "\n"};
}

}  // namespace

}  // namespace hutch::service
