// Writes the lists of verbs and options into the script of each shell.
#include "cli/options/completion.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "cli/options/completion_scripts.h"
#include "cli/options/verbs.h"

namespace hutch::cli {

namespace {

std::string bash_script();
std::string zsh_script();
std::string fish_script();
std::string replaced(std::string text, std::initializer_list<std::pair<std::string_view, std::string>> values);
std::vector<Option> options_of(const Verb& verb);
std::string bash_pattern(const std::set<std::string_view>& names);
std::set<std::string_view> valued_names();
std::set<std::string_view> names_of_kind(std::initializer_list<ValueKind> kinds);
std::string verb_names();
std::string known_values(ValueKind kind);
std::string bash_values();
std::string zsh_option(const Option& option);
std::string fish_option(std::string_view verb, const Option& option);
std::string escaped(std::string_view text, std::string_view characters);

}  // namespace

std::string completion_script(std::string_view shell) {
  if (shell == "bash") return bash_script();
  if (shell == "zsh") return zsh_script();
  CHECK(shell == "fish");
  return fish_script();
}

namespace {

std::string word_choices(const Verb& verb) { return join({verb.word_choices.begin(), verb.word_choices.end()}, " "); }

std::string bash_script() {
  std::string options;
  std::string words;
  for (const Verb& verb : verbs()) {
    std::vector<std::string> names;
    for (const Option& option : options_of(verb)) names.emplace_back(option.name);
    names.emplace_back("--help");
    options += cat({"    ", verb.name, ") echo \"", join(names, " "), "\" ;;\n"});
    if (verb.word_choices.empty()) continue;
    words += cat({"    ", verb.name, ":*) mapfile -t COMPREPLY < <(compgen ", verb.name == "check" ? "-f " : "",
                  "-W \"", word_choices(verb), "\" -- \"$word\") ;;\n"});
  }
  return replaced(std::string(kBashScript), {{"@OPTIONS@", options},
                                             {"@VALUED@", bash_pattern(valued_names())},
                                             {"@PATHS@", bash_pattern(names_of_kind({ValueKind::kPath}))},
                                             {"@DIRECTORIES@", bash_pattern(names_of_kind({ValueKind::kDirectory}))},
                                             {"@VARIABLES@", bash_pattern(names_of_kind({ValueKind::kVariable}))},
                                             {"@KNOWN@", bash_values()},
                                             {"@VERBS@", verb_names()},
                                             {"@WORDS@", words}});
}

std::string zsh_script() {
  std::string summaries;
  std::string cases;
  for (const Verb& verb : verbs()) {
    summaries += cat({"    '", verb.name, ":", escaped(verb.summary, "':"), "'\n"});
    std::string words;
    if (verb.name == "run") words = " '(-)1:command: _command_names -e' '*::argument: _normal'";
    if (verb.name == "explain") words = " '*:path or host: _files'";
    if (verb.name == "check") words = cat({" '1:access:(", word_choices(verb), ")' '2:path: _files'"});
    if (verb.name == "help") words = cat({" '1:verb:(", verb_names(), ")'"});
    if (verb.name == "why") words = " '1:run: '";
    if (words.empty() && !verb.word_choices.empty()) words = cat({" '1:what:(", word_choices(verb), ")' '*: :_files'"});
    std::string options;
    for (const Option& option : options_of(verb)) options += cat({" \\\n        ", zsh_option(option)});
    cases += cat({"    ", verb.name, ") _arguments -s", verb.name == "run" ? " -S" : "", options,
                  " \\\n        '--help[explain]'", words, " ;;\n"});
  }
  return replaced(std::string(kZshScript), {{"@SUMMARIES@", summaries}, {"@CASES@", cases}});
}

std::string fish_script() {
  std::string lines;
  for (const Verb& verb : verbs()) {
    lines +=
        cat({"complete -c hutch -n __hutch_needs_verb -f -a ", verb.name, " -d '", escaped(verb.summary, "'"), "'\n"});
  }
  for (const Verb& verb : verbs()) {
    for (const Option& option : options_of(verb)) lines += fish_option(verb.name, option);
    lines += cat({"complete -c hutch -n '__hutch_verb_is ", verb.name, "' -l help -d 'explain'\n"});
    if (verb.word_choices.empty()) continue;
    lines += cat({"complete -c hutch -n '__hutch_verb_is ", verb.name, "' ", verb.name == "check" ? "" : "-f ", "-a '",
                  word_choices(verb), "'\n"});
  }
  const std::set<std::string_view> valued = valued_names();
  const std::vector<std::string> names(valued.begin(), valued.end());
  return replaced(std::string(kFishScript), {{"@LINES@", lines}, {"@VALUED@", join(names, " ")}});
}

std::string replaced(std::string text, std::initializer_list<std::pair<std::string_view, std::string>> values) {
  for (const auto& [mark, value] : values) {
    for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + value.size())) {
      text.replace(at, mark.size(), value);
    }
  }
  return text;
}

std::vector<Option> options_of(const Verb& verb) {
  std::vector<Option> options;
  for (const OptionGroup& group : verb.groups)
    options.insert(options.end(), group.options.begin(), group.options.end());
  return options;
}

// For `case`.
std::string bash_pattern(const std::set<std::string_view>& names) { return join({names.begin(), names.end()}, " | "); }

std::set<std::string_view> names_of_kind(std::initializer_list<ValueKind> kinds) {
  std::set<std::string_view> names;
  for (const Verb& verb : verbs()) {
    for (const Option& option : options_of(verb)) {
      if (std::ranges::find(kinds, option.kind) != kinds.end()) names.insert(option.name);
    }
  }
  return names;
}

std::set<std::string_view> valued_names() {
  return names_of_kind({ValueKind::kPath, ValueKind::kDirectory, ValueKind::kBackend, ValueKind::kNetwork,
                        ValueKind::kVariable, ValueKind::kRecordType, ValueKind::kScope, ValueKind::kOther});
}

std::string verb_names() {
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) names.emplace_back(verb.name);
  return join(names, " ");
}

std::string known_values(ValueKind kind) {
  const std::span<const std::string_view> values = values_of(kind);
  return join({values.begin(), values.end()}, " ");
}

// A case for each kind of option whose values are known.
std::string bash_values() {
  std::string cases;
  for (const ValueKind kind : {ValueKind::kBackend, ValueKind::kNetwork, ValueKind::kRecordType, ValueKind::kScope}) {
    cases += cat({"    ", bash_pattern(names_of_kind({kind})), ") mapfile -t COMPREPLY < <(compgen -W \"",
                  known_values(kind), "\" -- \"$word\"); return ;;\n"});
  }
  return cases;
}

std::string zsh_option(const Option& option) {
  const std::string values = known_values(option.kind);
  const auto action = [&]() -> std::string {
    switch (option.kind) {
      case ValueKind::kFlag: return "";
      case ValueKind::kPath: return ":path: _files";
      case ValueKind::kDirectory: return ":directory: _files -/";
      case ValueKind::kBackend: return cat({":backend:(", values, ")"});
      case ValueKind::kNetwork: return cat({":network:(", values, ")"});
      case ValueKind::kVariable: return ":variable: _parameters -g '*export*'";
      case ValueKind::kRecordType: return cat({":type:(", values, ")"});
      case ValueKind::kScope: return cat({":scope:(", values, ")"});
      case ValueKind::kOther: return ":value: ";
    }
    return "";
  };
  return cat({"'*", option.name, "[", escaped(option.help, "'[]:"), "]", escaped(action(), "'"), "'"});
}

std::string fish_option(std::string_view verb, const Option& option) {
  const auto value = [&]() -> std::string {
    switch (option.kind) {
      case ValueKind::kFlag: return "";
      case ValueKind::kPath: return " -r -F";
      case ValueKind::kDirectory: return " -x -a '(__fish_complete_directories)'";
      case ValueKind::kBackend:
      case ValueKind::kNetwork:
      case ValueKind::kRecordType:
      case ValueKind::kScope: return cat({" -x -a '", known_values(option.kind), "'"});
      case ValueKind::kVariable: return " -x -a '(set -nx)'";
      case ValueKind::kOther: return " -x";
    }
    return "";
  };
  std::string name;
  if (option.name.starts_with("--")) name += cat({" -l ", option.name.substr(2)});
  if (option.letter != 0) name += cat({" -s ", std::string(1, option.letter)});
  return cat(
      {"complete -c hutch -n '__hutch_verb_is ", verb, "'", name, value(), " -d '", escaped(option.help, "'"), "'\n"});
}

// Inside single quotes: a quote ends them, stands for itself and opens them again; the rest gets a backslash.
std::string escaped(std::string_view text, std::string_view characters) {
  std::string out;
  for (const char c : text) {
    if (characters.find(c) == characters.npos)
      out += c;
    else if (c == '\'')
      out += "'\\''";
    else
      out += cat({"\\", std::string(1, c)});
  }
  return out;
}

}  // namespace

}  // namespace hutch::cli
