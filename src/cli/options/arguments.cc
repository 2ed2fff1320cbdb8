// Parses a command line by the table of verbs. By hand rather than by a library: options have to end at the command, a
// value may begin with a dash, every complaint is one line that names the nearest word, and a start costs nothing.
#include "cli/options/arguments.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.h"
#include "cli/options/verbs.h"

namespace hutch::cli {

namespace {

// One word of the command line that is an option: its name as typed, and the value that is part of the word.
struct OptionWord {
  std::string name;
  std::optional<std::string> value;
};

Result<const Verb*> verb_of(const std::string& word);
Result<Arguments> parse_verb(const Verb& verb, std::span<const std::string> words);
bool is_option(const std::string& word);
OptionWord take_apart(const std::string& word);
const Option* find_option(const Verb& verb, const std::string& name);
Error unknown_option(const Verb& verb, const std::string& name);
Result<std::string> option_value(const Option& option, const OptionWord& word, std::span<const std::string> rest);

}  // namespace

Result<Arguments> parse_arguments(std::span<const std::string> words) {
  if (words.empty()) return fail(Error::invalid("a verb is missing; usage: hutch VERB [OPTION...], see hutch help"));
  const std::string& first = words.front();
  if (first == "--help" || first == "-h") return Arguments(HelpArguments{});
  if (first == "--version") return Arguments(VersionArguments{});
  const Verb* verb = TRY(verb_of(first));
  return TRY_CTX(parse_verb(*verb, words.subspan(1)), verb->name);
}

namespace {

Result<const Verb*> verb_of(const std::string& word) {
  if (const Verb* verb = find_verb(word)) return verb;
  static constexpr std::array<std::string_view, 2> kOptions = {"--help", "--version"};
  if (word.starts_with('-')) return fail(unknown_word("unknown option", word, kOptions, "see hutch help"));
  std::vector<std::string_view> names;
  for (const Verb& verb : verbs()) names.push_back(verb.name);
  return fail(unknown_word("unknown verb", word, names, "see hutch help"));
}

Result<Arguments> parse_verb(const Verb& verb, std::span<const std::string> words) {
  Draft draft;
  while (!words.empty()) {
    const std::string& word = words.front();
    words = words.subspan(1);
    if (word == "--") break;
    if (!is_option(word)) {
      draft.words.push_back(word);
      if (verb.options_end == OptionsEnd::kAtFirstWord) break;
      continue;
    }
    // Letters without a value may share a dash: "-it".
    for (std::optional<std::string> left = word; left;) {
      OptionWord typed = take_apart(*left);
      left.reset();
      if (typed.name == "--help" || typed.name == "-h") return Arguments(HelpArguments{std::string(verb.name)});
      const Option* option = find_option(verb, typed.name);
      if (!option) return fail(unknown_option(verb, word.starts_with("--") ? typed.name : word));
      const bool shares = option->value.empty() && typed.value && !word.starts_with("--");
      if (shares) left = "-" + *std::exchange(typed.value, std::nullopt);
      const std::string value = TRY(option_value(*option, typed, words));
      const bool took_next = !option->value.empty() && !typed.value;
      if (took_next) words = words.subspan(1);
      TRY_CTX(option->set(draft, value), option->name);
    }
  }
  draft.words.insert(draft.words.end(), words.begin(), words.end());
  return verb.finish(std::move(draft));
}

// "-" alone is a word by custom.
bool is_option(const std::string& word) { return word.size() > 1 && word.starts_with('-'); }

// --name=value and -nVALUE.
OptionWord take_apart(const std::string& word) {
  if (!word.starts_with("--")) {
    if (word.size() == 2) return {word, std::nullopt};
    return {word.substr(0, 2), word.substr(2)};
  }
  const std::size_t equals = word.find('=');
  if (equals == word.npos) return {word, std::nullopt};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

const Option* find_option(const Verb& verb, const std::string& name) {
  for (const OptionGroup& group : verb.groups) {
    for (const Option& option : group.options) {
      const bool by_letter = option.letter != 0 && name == std::string{'-', option.letter};
      if (by_letter || name == option.name) return &option;
    }
  }
  return nullptr;
}

Error unknown_option(const Verb& verb, const std::string& name) {
  std::vector<std::string_view> names = {"--help"};
  for (const OptionGroup& group : verb.groups) {
    for (const Option& option : group.options) names.push_back(option.name);
  }
  return unknown_word("unknown option", name, names, cat({"see hutch ", verb.name, " --help"}));
}

Result<std::string> option_value(const Option& option, const OptionWord& word, std::span<const std::string> rest) {
  if (option.value.empty()) {
    if (word.value) return fail(Error::invalid(cat({option.name, " takes no value"})));
    return std::string();
  }
  const auto needs = [&](std::string_view how) {
    return fail(Error::invalid(cat({option.name, " needs a value", how, ": ", option.name, " ", option.value})));
  };
  if (word.value) {
    if (word.value->empty()) return needs("");
    return *word.value;
  }
  if (rest.empty()) return needs("");
  // A number below zero is a value, and a wrong one; "--json" after "--policy" is a value that was forgotten. What a
  // shell is to run may be anything.
  if (option.name == "-c") return rest.front();
  if (rest.front().empty()) return needs("");
  if (rest.front().starts_with("--")) return needs(cat({" before ", printable(rest.front())}));
  return rest.front();
}

}  // namespace

}  // namespace hutch::cli
