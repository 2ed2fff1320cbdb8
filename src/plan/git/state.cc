// Judges prepared operations of git.
#include "plan/git/state.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "policy/git/obeyed.h"

namespace hutch::plan {

namespace {

constexpr std::string_view kRunsProgram = "names a program that git would run";
constexpr std::string_view kWritesFile = "names a file that git would write";
constexpr std::string_view kDeletes = "has git delete a reference of yours";
constexpr std::string_view kGivesOptions = "gives git an option with which it would write another file";

// The files of git-rebase(1), git-am(1), git-cherry-pick(1), git-revert(1) and git-bisect(1) whose text becomes a
// command, arguments of one, or a file that git writes: sequencer.c, bisect.c and builtin/{rebase,am,bisect}.c of git.
// The other files in these directories hold numbers, messages, names of objects, and references below "refs".
constexpr std::array kStateFiles = {
    GitStateFile{"rebase-merge", "git-rebase-todo", GitStateFile::Holds::kTodo, kRunsProgram},
    GitStateFile{"rebase-merge", "strategy", GitStateFile::Holds::kStrategy, kRunsProgram},
    GitStateFile{"rebase-merge", "strategy_opts", GitStateFile::Holds::kStrategyOptions, kGivesOptions},
    GitStateFile{"rebase-merge", "gpg_sign_opt", GitStateFile::Holds::kSigningOption, kGivesOptions},
    GitStateFile{"rebase-merge", "update-refs", GitStateFile::Holds::kReferences, kWritesFile},
    GitStateFile{"rebase-merge", "refs-to-delete", GitStateFile::Holds::kRewritten, kDeletes},
    GitStateFile{"rebase-apply", "git-rebase-todo", GitStateFile::Holds::kTodo, kRunsProgram},
    GitStateFile{"rebase-apply", "strategy", GitStateFile::Holds::kStrategy, kRunsProgram},
    GitStateFile{"rebase-apply", "strategy_opts", GitStateFile::Holds::kStrategyOptions, kGivesOptions},
    GitStateFile{"rebase-apply", "gpg_sign_opt", GitStateFile::Holds::kSigningOption, kGivesOptions},
    GitStateFile{"rebase-apply", "apply-opt", GitStateFile::Holds::kApplyOptions, kWritesFile},
    GitStateFile{"sequencer", "todo", GitStateFile::Holds::kTodo, kRunsProgram},
    GitStateFile{"sequencer", "opts", GitStateFile::Holds::kOptions, kRunsProgram},
    GitStateFile{"", "BISECT_NAMES", GitStateFile::Holds::kPathsOfBisect, kRunsProgram},
    GitStateFile{"", "BISECT_START", GitStateFile::Holds::kStartOfBisect, kGivesOptions},
};

// Another name runs the program git-merge-NAME.
bool is_own_strategy(std::string_view name) {
  static constexpr std::array<std::string_view, 7> kOwn = {"",        "ort",  "recursive", "resolve",
                                                           "octopus", "ours", "subtree"};
  while (name.ends_with('\n')) name.remove_suffix(1);
  return std::ranges::find(kOwn, name) != kOwn.end();
}

// Options of git-apply(1) that git-am(1) takes and passes on. Another option of git-apply, --build-fake-ancestor=FILE,
// writes any file; git accepts the first letters of an option too.
bool is_handed_on(std::string_view option) {
  static constexpr std::array<std::string_view, 9> kBegins = {
      "-C",         "-p",         "--whitespace=", "--ignore-space-change", "--ignore-whitespace", "--directory=",
      "--exclude=", "--include=", "--reject"};
  return std::ranges::any_of(kBegins, [&](std::string_view begin) {
    if (!option.starts_with(begin)) return false;
    const std::string_view value = option.substr(begin.size());
    const bool is_number = !value.empty() && value.find_first_not_of("0123456789") == std::string_view::npos;
    return begin.size() == 2 ? is_number : begin.ends_with('=') || value.empty();
  });
}

// Words that git wrote for itself, each in single quotes, or nothing if the text has another form (sq_quote_argv() of
// git's quote.c). Where a word has a quote, git closes the quotes, writes \' or \!, and opens them again.
std::optional<std::vector<std::string>> quoted_words(std::string_view text) {
  static constexpr std::string_view kBetween = " \n";
  std::vector<std::string> words;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
    if (text.empty()) return words;
    std::string word;
    for (bool goes_on = true; goes_on;) {
      const std::size_t end = text.find('\'', 1);
      if (!text.starts_with('\'') || end == std::string_view::npos) return std::nullopt;
      word += text.substr(1, end - 1);
      text.remove_prefix(end + 1);
      goes_on = text.starts_with("\\''") || text.starts_with("\\!'");
      if (goes_on) word += text[1];
      if (goes_on) text.remove_prefix(2);
    }
    if (!text.empty() && !kBetween.contains(text.front())) return std::nullopt;
    words.push_back(std::move(word));
  }
}

bool are_handed_on(std::string_view text) {
  const auto options = quoted_words(text);
  return options && std::ranges::all_of(*options, is_handed_on);
}

// Before version 2.34 git had a shell take the text for arguments, after it had expanded patterns in it.
bool are_paths(std::string_view text) {
  return quoted_words(text) && text.find_first_of("*?[") == std::string_view::npos;
}

// Options of the strategies ort, recursive and subtree (parse_merge_opt() of git's merge-ort.c). The strategies resolve
// and octopus give each option to git-read-tree(1), whose --index-output=FILE writes any file.
bool is_strategy_option(std::string_view option) {
  static constexpr std::string_view kOptions =
      "ours theirs subtree subtree= patience histogram minimal diff-algorithm= ignore-space-change ignore-all-space "
      "ignore-space-at-eol ignore-cr-at-eol renormalize no-renormalize no-renames find-renames find-renames= "
      "rename-threshold=";
  if (option.starts_with("--")) option.remove_prefix(2);
  return std::ranges::any_of(split(kOptions, ' '), [&](std::string_view one) {
    return one.ends_with('=') ? option.starts_with(one) : option == one;
  });
}

// git splits the text like a command line. Its newer versions put each option in double quotes.
bool are_strategy_options(std::string_view text) {
  if (text.find_first_of("'\\") != std::string_view::npos) return false;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (text.empty()) return true;
    const bool is_quoted = text.starts_with('"');
    if (is_quoted) text.remove_prefix(1);
    const std::size_t end = std::min(text.find_first_of(is_quoted ? "\"" : " \t\r\n"), text.size());
    const std::string_view option = text.substr(0, end);
    if (!is_strategy_option(option) || option.contains('"')) return false;
    text.remove_prefix(end);
    if (is_quoted && !text.starts_with('"')) return false;
    if (is_quoted) text.remove_prefix(1);
  }
}

// HASH, or HASH.NUMBER, before the tab.
bool is_conflict_number(std::string_view text) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  const std::string_view hash = text.substr(0, dot);
  const bool is_hash = hash.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (!is_hash || (hash.size() != 40 && hash.size() != 64)) return false;
  if (dot == text.size()) return true;
  const std::string_view variant = text.substr(dot + 1);
  return !variant.empty() && variant.find_first_not_of("0123456789") == std::string_view::npos;
}

// The first word of a step, and what follows it.
std::pair<std::string_view, std::string_view> words_of_step(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
  std::string_view rest = line.substr(word.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  return {word, rest.substr(0, rest.find_last_not_of(" \t\r") + 1)};
}

bool runs_something(std::string_view line) {
  const std::string_view word = words_of_step(line).first;
  return word == "exec" || word == "x";
}

bool writes_another_file(std::string_view line) {
  const auto [word, rest] = words_of_step(line);
  return (word == "update-ref" || word == "u") && !is_reference_name(rest);
}

// A reference, its name before and its name after, each on a line of its own (do_update_refs() of git's sequencer.c).
bool are_references(std::string_view text) {
  const std::vector<std::string_view> lines = split(text, '\n');
  for (std::size_t i = 0; i < lines.size(); i += 3) {
    if (!lines[i].empty() && !is_reference_name(lines[i])) return false;
  }
  return true;
}

// What a "label" of the rebase made (do_label() of git's sequencer.c).
bool is_label(std::string_view line) {
  return line.empty() || (line.starts_with("refs/rewritten/") && is_reference_name(line));
}

}  // namespace

std::span<const GitStateFile> git_state_files() { return kStateFiles; }

std::string GitStateFile::operation() const { return std::string(directory.empty() ? name : directory); }

std::string GitStateFile::path() const { return directory.empty() ? std::string(name) : cat({directory, "/", name}); }

std::optional<std::string_view> symbolic_target(std::string_view text) {
  // isspace() of git's.
  static constexpr std::string_view kBlank = " \t\n\r";
  static constexpr std::string_view kSymbolic = "ref:";
  if (!text.starts_with(kSymbolic)) return std::nullopt;
  // For git it is a C string.
  text = text.substr(0, text.find('\0'));
  text.remove_prefix(kSymbolic.size());
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

bool is_message_of_git(std::string_view name) {
  return name.ends_with("MSG") || name.ends_with("DESCRIPTION") || name == "description";
}

bool todo_writes_another_file(std::string_view text) {
  return std::ranges::any_of(split(text, '\n'), writes_another_file);
}

bool is_reference_name(std::string_view name) {
  const auto is_of_pseudo = [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; };
  if (std::ranges::all_of(name, is_of_pseudo)) return !is_message_of_git(name);
  const auto is_forbidden = [](char c) {
    static constexpr std::string_view kForbidden = ":?*[\\^~ \x7f";
    return static_cast<unsigned char>(c) < ' ' || kForbidden.contains(c);
  };
  const bool is_below = name.starts_with("refs/") && !name.contains("..") && !name.contains("@{");
  if (!is_below || std::ranges::any_of(name, is_forbidden)) return false;
  return std::ranges::none_of(split(name, '/'), [](std::string_view part) {
    return part.empty() || part.starts_with('.') || part.ends_with('.') || part.ends_with(".lock");
  });
}

std::vector<std::string> commands_of_todo(std::string_view text) {
  std::vector<std::string> commands;
  for (const std::string_view line : split(text, '\n')) {
    if (runs_something(line)) commands.emplace_back(line);
  }
  return commands;
}

bool is_harmless_git_state(const GitStateFile& file, std::string_view text) {
  if (text.size() > kGitStateBytesMax) return false;
  switch (file.holds) {
    using enum GitStateFile::Holds;
    case kTodo: return !todo_writes_another_file(text) && std::ranges::none_of(split(text, '\n'), runs_something);
    case kReferences: return are_references(text);
    case kRewritten: return std::ranges::all_of(split(text, '\n'), is_label);
    case kStrategy: return is_own_strategy(text);
    case kStrategyOptions: return are_strategy_options(text);
    // "git rebase" hands it on to "git am" as it is.
    case kSigningOption: return text.find_first_not_of(" \t\r\n") == std::string_view::npos || text.starts_with("-S");
    case kApplyOptions: return are_handed_on(text);
    case kPathsOfBisect: return are_paths(text);
    // "git bisect reset" hands it on to "git checkout".
    case kStartOfBisect: return !text.starts_with('-');
    case kOptions: break;
  }
  const std::vector<policy::GitEntry> entries = policy::git_entries(text);
  return std::ranges::all_of(entries, [](const policy::GitEntry& entry) {
    if (entry.section != "options") return false;
    if (entry.key == "strategy-option") return is_strategy_option(entry.value);
    return entry.key != "strategy" || is_own_strategy(entry.value);
  });
}

std::vector<std::string_view> resolved_names(std::string_view text) {
  std::vector<std::string_view> names;
  for (const std::string_view entry : split(text, '\0')) {
    if (entry.empty()) continue;
    const std::size_t tab = std::min(entry.find('\t'), entry.size() - 1);
    names.push_back(is_conflict_number(entry.substr(0, tab)) ? entry.substr(tab + 1) : std::string_view());
  }
  return names;
}

}  // namespace hutch::plan
