// Makes notes about entries whose files do not exist.
#include "host/paths/absent.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "policy/decide.h"
#include "policy/obeyed/obeyed.h"

namespace hutch::host {

namespace {

using policy::Rule;
using policy::Verb;
using policy::View;

View seen_view(const std::vector<Rule>& rules, std::string_view path) {
  return policy::decide(rules, policy::Access::kRead, path).view;
}

std::string directory_holding(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? std::string("/") : std::string(path.substr(0, slash));
}

// The command's files at such a path are lost with the private home. An entry below another entry adds nothing.
bool is_lost(const AbsentQuestion& question, const Rule& rule) {
  const bool about = rule.verb == Verb::kAllowWrite && rule.origin == policy::Origin::kPolicy;
  if (!about || !is_within(rule.path, question.home) || !may_be_directory(rule, question.home)) return false;
  return std::ranges::none_of(question.rules, [&](const Rule& other) {
    return other.verb == Verb::kAllowWrite && other.path != rule.path && is_within(rule.path, other.path);
  });
}

bool is_of_person(const Rule& rule) {
  return rule.origin == policy::Origin::kPolicy || rule.origin == policy::Origin::kOption;
}

// A built-in deny of a directory above `path`, which an entry for `path` lifts there.
bool protects_above(const Rule& rule, std::string_view path) {
  const bool is_built_in = rule.origin == policy::Origin::kMandatory || rule.origin == policy::Origin::kHome;
  return is_built_in && rule.verb == Verb::kDenyWrite && rule.path != path && is_within(path, rule.path);
}

// "/" itself is the sandbox's own and is sealed, even if paths below it are writable.
bool can_be_made(const std::vector<Rule>& rules, std::string_view path) {
  const std::string parent = directory_holding(path);
  return parent != "/" && seen_view(rules, parent) == View::kReadWrite;
}

}  // namespace

bool nothing_is_allowed(const std::vector<Rule>& rules, const Rule& rule, Denies denies) {
  return denies == Denies::kAtStart ? !can_be_made(rules, rule.path) : !would_be_allowed(rules, rule.path);
}

void hold_by_names(std::vector<Rule>& rules, const std::function<bool(const std::string& path)>& is_absent) {
  std::vector<std::string> absent;
  for (const Rule& rule : rules) {
    const bool allows = rule.verb == Verb::kAllowWrite && is_of_person(rule) && rule.match == policy::Match::kLiteral;
    if (allows && is_absent(rule.path)) absent.push_back(rule.path);
  }
  for (Rule& rule : rules) {
    const bool holds_one = std::ranges::any_of(absent, [&](const auto& path) { return protects_above(rule, path); });
    if (holds_one) rule.held_by = Rule::HeldBy::kNames;
  }
}

bool would_be_allowed(const std::vector<Rule>& rules, const std::string& path) {
  std::vector<Rule> others;
  std::ranges::copy_if(rules, std::back_inserter(others), [&](const Rule& rule) {
    const bool by_name = rule.origin == policy::Origin::kRepository && rule.verb == Verb::kDenyWrite;
    return !by_name && !protects_above(rule, path);
  });
  return can_be_made(others, path);
}

bool may_be_directory(const Rule& rule, std::string_view home) {
  const std::string_view name = std::string_view(rule.path).substr(rule.path.rfind('/') + 1);
  const bool is_obeyed = std::ranges::any_of(policy::obeyed_in_home(), [&](const policy::ObeyedInHome& obeyed) {
    return is_within(rule.path, cat({home, "/", obeyed.name}));
  });
  if (is_obeyed || !policy::obeyed_at(rule.path).empty()) return false;
  if (rule.text.ends_with('/')) return true;
  const bool is_file = name.find('.', 1) != std::string_view::npos || name.ends_with("rc") || name.ends_with("history");
  return !is_file;
}

std::vector<std::string> absent_notes(const AbsentQuestion& question) {
  std::vector<std::string> denied;
  std::vector<std::string> allowed;
  std::vector<std::string> directories;
  std::vector<std::string> files;
  std::vector<std::string> hidden;
  for (const Rule& rule : question.rules) {
    if (!is_of_person(rule) || rule.match == policy::Match::kGlob) continue;
    const bool denies = rule.verb == Verb::kDenyRead || rule.verb == Verb::kDenyWrite;
    const bool allows = rule.verb == Verb::kAllowRead || rule.verb == Verb::kAllowWrite;
    const bool absent = question.is_absent(rule.path);
    const bool unmade = (denies || allows) && absent && nothing_is_allowed(question.rules, rule, question.denies);
    const std::string name = policy::describe(rule);
    const bool held = question.denies == Denies::kAlways && rule.verb == Verb::kDenyWrite;
    if (absent && denies && !unmade && !held) denied.push_back(name);
    // --allow-write makes two rules, one for reading and one for writing.
    const bool is_known = std::ranges::find(allowed, name) != allowed.end();
    if (allows && unmade && !is_known && (rule.origin == policy::Origin::kOption || is_lost(question, rule))) {
      allowed.push_back(name);
      const bool may_be = may_be_directory(rule, question.home);
      if (rule.verb == Verb::kAllowWrite) (may_be ? directories : files).push_back(shell_word(rule.path));
    }
    const bool exists = !absent && rule.verb == Verb::kAllowWrite;
    if (exists && seen_view(question.rules, rule.path) == View::kHidden) hidden.push_back(name);
  }
  std::vector<std::string> notes;
  if (!denied.empty()) {
    notes.push_back(cat({"absent, so the deny holds only for files that exist at the start: ", join(denied, ", ")}));
  }
  if (!allowed.empty()) {
    std::vector<std::string> commands;
    if (!directories.empty()) commands.push_back(cat({"mkdir -p ", join(directories, " ")}));
    if (!files.empty()) commands.push_back(cat({"touch ", join(files, " ")}));
    const std::string remedy = commands.empty() ? "" : cat({"; ", join(commands, "; "), " first"});
    notes.push_back(cat({"absent, so nothing is allowed by it: ", join(allowed, ", "), remedy}));
  }
  if (!hidden.empty()) {
    notes.push_back(cat({"not writable, because it may not be read; allow reading it too: ", join(hidden, ", ")}));
  }
  return notes;
}

}  // namespace hutch::host
