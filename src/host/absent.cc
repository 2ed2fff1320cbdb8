// Makes notes about entries whose files do not exist.
#include "host/absent.h"

#include <algorithm>

#include "base/text.h"
#include "policy/decide.h"
#include "policy/obeyed.h"

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

}  // namespace

bool nothing_is_allowed(const std::vector<Rule>& rules, const Rule& rule) {
  // "/" itself is the sandbox's own and is sealed, even if paths below it are writable.
  const std::string parent = directory_holding(rule.path);
  return parent == "/" || seen_view(rules, parent) != View::kReadWrite;
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
  std::vector<std::string> hidden;
  for (const Rule& rule : question.rules) {
    const bool of_person = rule.origin == policy::Origin::kPolicy || rule.origin == policy::Origin::kOption;
    if (!of_person || rule.match == policy::Match::kGlob) continue;
    const bool denies = rule.verb == Verb::kDenyRead || rule.verb == Verb::kDenyWrite;
    const bool allows = rule.verb == Verb::kAllowRead || rule.verb == Verb::kAllowWrite;
    const bool absent = question.is_absent(rule.path);
    const bool unmade = (denies || allows) && absent && nothing_is_allowed(question.rules, rule);
    const std::string name = policy::describe(rule);
    const bool held = question.denies == AbsentQuestion::Denies::kAlways && rule.verb == Verb::kDenyWrite;
    if (absent && denies && !unmade && !held) denied.push_back(name);
    // --allow-write makes two rules, one for reading and one for writing.
    const bool is_known = std::ranges::find(allowed, name) != allowed.end();
    if (allows && unmade && !is_known && (rule.origin == policy::Origin::kOption || is_lost(question, rule))) {
      allowed.push_back(name);
      if (rule.verb == Verb::kAllowWrite && may_be_directory(rule, question.home))
        directories.push_back(printable(rule.path));
    }
    const bool exists = !absent && rule.verb == Verb::kAllowWrite;
    if (exists && seen_view(question.rules, rule.path) == View::kHidden) hidden.push_back(name);
  }
  std::vector<std::string> notes;
  if (!denied.empty()) {
    notes.push_back(cat({"absent, so the deny holds only for files that exist at the start: ", join(denied, ", ")}));
  }
  if (!allowed.empty()) {
    const std::string remedy = directories.empty() ? "" : cat({"; mkdir -p ", join(directories, " "), " first"});
    notes.push_back(cat({"absent, so nothing is allowed by it: ", join(allowed, ", "), remedy}));
  }
  if (!hidden.empty()) {
    notes.push_back(cat({"not writable, because it may not be read; allow reading it too: ", join(hidden, ", ")}));
  }
  return notes;
}

}  // namespace hutch::host
