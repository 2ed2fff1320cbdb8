// Lays the help out: synopsis, description, options by group, examples.
#include "cli/options/help.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "cli/options/verbs.h"

namespace hutch::cli {

namespace {

std::string overview();
std::string of_verb(const Verb& verb);
std::string usage(std::span<const std::string_view> synopsis);
std::string left_of(const Option& option);
std::string right_of(const Option& option);
std::string padded(std::string text, std::size_t width);
void append_row(std::string& out, std::string left, std::size_t width, std::string_view right);

}  // namespace

std::string help_text(std::string_view verb) {
  if (verb.empty()) return overview();
  const Verb* found = find_verb(verb);
  CHECK(found != nullptr);
  return of_verb(*found);
}

namespace {

std::string overview() {
  std::string out =
      "Usage: hutch VERB [OPTION...]\n"
      "\n"
      "Runs programs in sandboxes that cannot touch what they were not given.\n";
  for (const VerbGroup& group : verb_groups()) {
    out += cat({"\n", group.title, ":\n"});
    for (const std::string_view name : group.verbs) append_row(out, std::string(name), 12, find_verb(name)->summary);
  }
  out +=
      "\n"
      "Examples:\n"
      "  hutch run -- make test       run a command; it sees this directory and the system\n"
      "  hutch explain                what such a sandbox may do, and by which rule\n"
      "  hutch check read ~/.ssh      whether a path is within reach, and why\n"
      "  hutch doctor                 what works on this machine\n"
      "\n"
      "hutch help VERB explains a verb, hutch --version prints the version.\n";
  return out;
}

std::string of_verb(const Verb& verb) {
  std::string out = cat({usage(verb.synopsis), "\n", verb.description, "\n"});
  std::size_t width = 0;
  for (const OptionGroup& group : verb.groups) {
    for (const Option& option : group.options) width = std::max(width, left_of(option).size());
  }
  for (const OptionGroup& group : verb.groups) {
    out += cat({"\n", group.title, ":\n"});
    for (const Option& option : group.options) append_row(out, left_of(option), width + 2, right_of(option));
  }
  if (!verb.examples.empty()) out += "\nExamples:\n";
  for (const std::string_view example : verb.examples) out += cat({"  ", example, "\n"});
  return out;
}

std::string usage(std::span<const std::string_view> synopsis) {
  std::string out;
  for (const std::string_view line : synopsis) out += cat({out.empty() ? "Usage: " : "       ", line, "\n"});
  return out;
}

std::string left_of(const Option& option) {
  const bool has_both = option.letter != 0 && option.name.starts_with("--");
  return cat({has_both ? std::string{'-', option.letter, ',', ' '} : "", option.name, option.value.empty() ? "" : " ",
              option.value});
}

// A help that says what each value means names them all itself.
std::string right_of(const Option& option) {
  const std::span<const std::string_view> values = values_of(option.kind);
  const auto is_named = [&](std::string_view value) { return option.help.contains(value); };
  if (std::ranges::all_of(values, is_named)) return std::string(option.help);
  return cat({option.help, ":\n", join({values.begin(), values.end()}, ", ")});
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

void append_row(std::string& out, std::string left, std::size_t width, std::string_view right) {
  out += cat({"  ", padded(std::move(left), width)});
  for (const char c : right) out += c == '\n' ? cat({"\n", std::string(width + 2, ' ')}) : std::string(1, c);
  out += "\n";
}

}  // namespace

}  // namespace hutch::cli
