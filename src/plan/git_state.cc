// Judges prepared operations of git.
#include "plan/git_state.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "policy/git_obeyed.h"

namespace hutch::plan {

namespace {

// The files of git-rebase(1), git-am(1), git-cherry-pick(1) and git-revert(1); sequencer.c and builtin/rebase.c of git.
constexpr std::array kStateFiles = {
    GitStateFile{"rebase-merge", "git-rebase-todo", GitStateFile::Holds::kTodo},
    GitStateFile{"rebase-merge", "strategy", GitStateFile::Holds::kStrategy},
    GitStateFile{"rebase-apply", "git-rebase-todo", GitStateFile::Holds::kTodo},
    GitStateFile{"rebase-apply", "strategy", GitStateFile::Holds::kStrategy},
    GitStateFile{"rebase-apply", "apply-opt", GitStateFile::Holds::kApplyOptions},
    GitStateFile{"sequencer", "todo", GitStateFile::Holds::kTodo},
    GitStateFile{"sequencer", "opts", GitStateFile::Holds::kOptions},
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

// Each option is in single quotes (sq_quote_argv() of git's quote.c). An option that contains a quote is refused.
bool are_handed_on(std::string_view text) {
  static constexpr std::string_view kBetween = " \n";
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
    if (text.empty()) return true;
    const std::size_t end = text.find('\'', 1);
    if (!text.starts_with('\'') || end == std::string_view::npos) return false;
    if (!is_handed_on(text.substr(1, end - 1))) return false;
    text.remove_prefix(end + 1);
    if (!text.empty() && !kBetween.contains(text.front())) return false;
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

bool runs_something(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return false;
  line.remove_prefix(begin);
  const std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
  return word == "exec" || word == "x";
}

}  // namespace

std::span<const GitStateFile> git_state_files() { return kStateFiles; }

bool is_harmless_git_state(const GitStateFile& file, std::string_view text) {
  if (text.size() > kGitStateBytesMax) return false;
  if (file.holds == GitStateFile::Holds::kStrategy) return is_own_strategy(text);
  if (file.holds == GitStateFile::Holds::kTodo) return std::ranges::none_of(split(text, '\n'), runs_something);
  if (file.holds == GitStateFile::Holds::kApplyOptions) return are_handed_on(text);
  const std::vector<policy::GitEntry> entries = policy::git_entries(text);
  return std::ranges::all_of(entries, [](const policy::GitEntry& entry) {
    return entry.section == "options" && (entry.key != "strategy" || is_own_strategy(entry.value));
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
