// The table of verbs about plugins and skills, and what each of their options does.
#include <algorithm>
#include <array>

#include "base/decimal.h"
#include "base/text.h"
#include "cli/agents/plugin.h"
#include "cli/options/option_values.h"
#include "cli/options/verbs.h"

namespace hutch::cli {

namespace {

using enum ValueKind;
using Text = std::string_view;

Status add_agent(Draft& draft, const std::string& value) {
  draft.plugin.agents.push_back(value);
  return {};
}

Status set_library(Draft& draft, const std::string&) {
  draft.plugin.library = true;
  return {};
}

Status set_new(Draft& draft, const std::string&) {
  draft.plugin.only_new = true;
  return {};
}

Status set_only_read(Draft& draft, const std::string&) {
  draft.plugin.second = kReadOnly;
  return {};
}

Result<std::int64_t> number_in_word(const std::string& word) {
  const auto number = decimal_of(word);
  if (number && *number > 0 && *number < 1'000'000) return *number;
  return fail(Error::invalid(cat({"\"", printable(word, 64), "\" is no number of a version: hutch plugin show ID"})));
}

// How many words may follow, and must.
struct Shape {
  Text action;
  std::size_t least;
  std::size_t most;
};
constexpr std::array kShapes = {Shape{"list", 0, 0},   Shape{"show", 1, 1},   Shape{"install", 1, 1},
                                Shape{"remove", 1, 1}, Shape{"import", 1, 1}, Shape{"export", 1, 2},
                                Shape{"create", 0, 0}, Shape{"edit", 1, 1},   Shape{"duplicate", 2, 2},
                                Shape{"check", 1, 1},  Shape{"update", 1, 2}, Shape{"rollback", 1, 2}};

Status check_options(const PluginArguments& plugin) {
  if (plugin.library && plugin.action != "list") return fail(Error::invalid("--library is for hutch plugin list"));
  if (plugin.only_new && plugin.action != "list") return fail(Error::invalid("--new is for hutch plugin list"));
  if (plugin.second == kReadOnly && plugin.action != "check")
    return fail(Error::invalid("--read-only is for hutch plugin check"));
  static constexpr std::array kMany = {Text("install"), Text("remove")};
  static constexpr std::array kOne = {Text("list"), Text("show"), Text("config list"), Text("config get"),
                                      Text("config set")};
  const bool many = std::ranges::find(kMany, plugin.action) != kMany.end();
  const bool one = std::ranges::find(kOne, plugin.action) != kOne.end();
  if (!plugin.agents.empty() && !many && !one) {
    return fail(Error::invalid("--agent is for hutch plugin install, remove, list, show and config"));
  }
  if (one && plugin.agents.size() > 1) return fail(Error::invalid("one --agent at most"));
  return {};
}

// hutch plugin config get ID KEY
Result<Arguments> finish_values(Draft&& draft) {
  static constexpr std::array kWhat = {Text("list"), Text("get"), Text("set")};
  static constexpr std::array kNames = {Text("what"), Text("list, get or set"), Text("a plugin's id"),
                                        Text("a key, or of set KEY=VALUE")};
  if (draft.words.size() < 2) return fail(Error::invalid("hutch plugin config: what? list, get or set"));
  const std::string what = draft.words[1];
  const auto known = std::ranges::find(kWhat, Text(what));
  if (known == kWhat.end()) return fail(unknown_word("unknown action", what, kWhat));
  const std::size_t words = what == "list" ? 3 : 4;
  TRY(expect_words(draft, std::span(kNames).first(words)));
  PluginArguments plugin = std::move(draft.plugin);
  plugin.action = cat({"config ", what});
  plugin.form = draft.run.form;
  TRY(check_options(plugin));
  draft.words.resize(kNames.size());
  plugin.source = std::move(draft.words[2]);
  plugin.second = std::move(draft.words[3]);
  return Arguments(std::move(plugin));
}

Result<Arguments> finish_plugin(Draft&& draft) {
  const std::span<const Text> actions = find_verb("plugin")->word_choices;
  if (draft.words.empty())
    return fail(Error::invalid(cat({"hutch plugin: what? ", join({actions.begin(), actions.end()}, ", ")})));
  if (draft.words[0] == "config") return finish_values(std::move(draft));
  PluginArguments plugin = std::move(draft.plugin);
  plugin.action = draft.words[0];
  plugin.form = draft.run.form;
  const auto shape = std::ranges::find(kShapes, Text(plugin.action), &Shape::action);
  if (shape == kShapes.end()) return fail(unknown_word("unknown action", plugin.action, actions));
  static constexpr std::array kNames = {Text("what"), Text("a plugin's id, or where its recipe is"),
                                        Text("a name, a version's number, or where the recipe is")};
  const std::size_t words = std::clamp(draft.words.size(), 1 + shape->least, 1 + shape->most);
  TRY(expect_words(draft, std::span(kNames).first(words)));
  TRY(check_options(plugin));
  draft.words.resize(kNames.size());
  plugin.source = std::move(draft.words[1]);
  const std::string second = std::move(draft.words[2]);
  const bool is_number = plugin.action == "export" || plugin.action == "rollback";
  if (is_number && !second.empty()) plugin.number = TRY(number_in_word(second));
  if (!is_number && plugin.action != "check") plugin.second = second;
  return Arguments(std::move(plugin));
}

Result<Arguments> finish_skill(Draft&& draft) {
  const std::span<const Text> actions = find_verb("skill")->word_choices;
  if (draft.words.empty()) return fail(Error::invalid("hutch skill: what? list, show, enable or disable"));
  SkillArguments skill{.action = draft.words[0], .form = draft.run.form};
  if (std::ranges::find(actions, skill.action) == actions.end()) {
    return fail(unknown_word("unknown action", skill.action, actions));
  }
  static constexpr std::array kNames = {Text("what"), Text("a skill (hutch skill list shows them)")};
  TRY(expect_words(draft, std::span(kNames).first(skill.action == "list" ? 1 : 2)));
  if (skill.action != "list") skill.name = std::move(draft.words[1]);
  return Arguments(std::move(skill));
}

constexpr std::array kPluginOptions = {
    Option{"--agent", 0, "NAME", kOther,
           "install, remove: for this agent (repeatable); install and config without\n"
           "it: for that of the working directory; list, show: of this agent alone",
           add_agent},
    Option{"--library", 0, "", kFlag, "list: the library, whoever has it installed", set_library},
    Option{"--new", 0, "", kFlag, "list: only those that agents made since the last --new", set_new},
    Option{"--read-only", 0, "", kFlag, "check: only read the recipe", set_only_read}, kJson};
constexpr std::array kPluginGroups = {OptionGroup{"Options", kPluginOptions}};
constexpr std::array kPluginSynopsis = {
    Text("hutch plugin list [--agent NAME|--library|--new] [--json]"),
    Text("hutch plugin show ID [--agent NAME] [--json]"),
    Text("hutch plugin install FILE|URL|ID [--agent NAME]... [--json]"),
    Text("hutch plugin remove ID [--agent NAME]... [--json]"),
    Text("hutch plugin import FILE|URL [--json]"),
    Text("hutch plugin check FILE|URL [--read-only] [--json]"),
    Text("hutch plugin export ID [NUMBER]"),
    Text("hutch plugin duplicate ID NAME [--json]"),
    Text("hutch plugin create"),
    Text("hutch plugin edit ID"),
    Text("hutch plugin update ID [FILE|URL] [--json]"),
    Text("hutch plugin rollback ID [NUMBER] [--json]"),
    Text("hutch plugin config list|get|set ID [KEY|KEY=VALUE|KEY=-] [--agent NAME]")};
constexpr std::array kPluginWords = {Text("list"),   Text("show"),      Text("install"), Text("remove"), Text("import"),
                                     Text("export"), Text("duplicate"), Text("create"),  Text("edit"),   Text("check"),
                                     Text("update"), Text("rollback"),  Text("config")};
constexpr std::array kPluginExamples = {
    Text("hutch plugin install ./data-tools.json --agent alice"),
    Text("hutch plugin install git+https://example.com/tools.git --agent alice"),
    Text("hutch tool call alice python-data-tools_analyze_csv '{\"file\": \"/output/x.csv\"}'"),
    Text("hutch plugin list --new")};
constexpr std::array kSkillOptions = {kJson};
constexpr std::array kSkillGroups = {OptionGroup{"Options", kSkillOptions}};
constexpr std::array kSkillSynopsis = {Text("hutch skill list [--json]"),
                                       Text("hutch skill show|enable|disable NAME [--json]")};
constexpr std::array kSkillWords = {Text("list"), Text("show"), Text("enable"), Text("disable")};

constexpr std::array kPluginVerbs = {
    Verb{"plugin", "install plugins and review those that agents made", kPluginSynopsis,
         "A plugin is a JSON recipe: packages, files, a set-up command, and tools. `install` carries it out\n"
         "for an agent and keeps it in the library; a failed installation leaves nothing behind. Its tools are\n"
         "available immediately, as ID_TOOL, together with the agent's other tools. Installing a newer version\n"
         "is an update; `rollback` returns to the previous version. `remove` removes it from the named agents,\n"
         "else from all agents and the library. A recipe is read from a file, from - (standard input), by\n"
         "curl, or with git+URL from a repository's plugin.json. `check` sets a recipe up in a fresh sandbox\n"
         "without a network and calls each tool with its example; nothing is kept. `config` sets values that\n"
         "the plugin's tools read with hutch-host config.",
         kPluginGroups, kPluginExamples, kPluginWords, OptionsEnd::kAtDashes, finish_plugin},
    Verb{"skill",
         "show and disable the texts that teach models hutch",
         kSkillSynopsis,
         "sandbox-plugin-creator tells models how to write plugins. If it is off, agents make none.",
         kSkillGroups,
         {},
         kSkillWords,
         OptionsEnd::kAtDashes,
         finish_skill},
};

}  // namespace

std::span<const Verb> plugin_verbs() { return kPluginVerbs; }

}  // namespace hutch::cli
