// Names that may not be written wherever they turn up.
#include "plan/names.h"

#include <algorithm>

#include "base/text.h"
#include "policy/defaults.h"
#include "policy/glob.h"

namespace hutch::plan {

namespace {

std::string_view last_component(std::string_view path);
template <class Matches>
const NameRule* find_above(std::span<const NameRule> names, Matches matches);
bool is_lifted(const NameRule& rule, std::string_view denied, std::string_view path);
std::string literal_part(std::string_view pattern);

}  // namespace

std::vector<NameRule> name_rules(const policy::Policy& policy, std::span<const policy::Rule> rules,
                                 std::span<const policy::Rule> patterns) {
  std::vector<std::string> lifted;
  for (const policy::Rule& rule : rules) {
    const bool names_it = rule.verb == policy::Verb::kAllowWrite && rule.match == policy::Match::kLiteral;
    if (names_it) lifted.push_back(rule.path);
  }
  std::vector<NameRule> names;
  const auto add = [&](std::string name, std::string except) {
    names.push_back({cat({"/**/", name}), cat({"built in \"", name, "\""}), std::move(except), lifted});
  };
  for (const std::string_view name : policy::mandatory_names()) add(std::string(name), "");
  for (const std::string_view name : policy::mandatory_git_names(policy.filesystem.git_config)) {
    // git-init(1) makes the directory and copies samples into it, which git does not run.
    for (const std::string_view place : {".git/", ".git/modules/**/"}) {
      if (name == "hooks") add(cat({place, "hooks/*"}), cat({"/**/", place, "hooks/*.sample"}));
      if (name != "hooks") add(cat({place, name}), "");
    }
  }
  // For what is not there yet: what is there is a mount of its own.
  for (const policy::Rule& rule : rules) {
    const bool literal = rule.match == policy::Match::kLiteral && rule.origin != policy::Origin::kMandatory;
    if (rule.verb == policy::Verb::kDenyWrite && literal) {
      names.push_back({policy::escape_wildcards(rule.path), describe(rule), {}, {}});
    }
  }
  for (const policy::Rule& rule : patterns) {
    if (rule.verb == policy::Verb::kDenyWrite) names.push_back({rule.path, describe(rule), {}, {}});
  }
  return names;
}

const NameRule* denied_name(std::span<const NameRule> names, std::string_view path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string_view prefix = path.substr(0, end);
    const std::string_view component = last_component(prefix);
    for (const NameRule& rule : names) {
      // The cheap test first: hardly any component is the last one of a rule.
      if (!policy::matches_component(last_component(rule.pattern), component)) continue;
      if (policy::matches_path(rule.pattern, prefix) && !is_lifted(rule, prefix, path)) return &rule;
    }
    if (end == std::string_view::npos) return nullptr;
  }
}

const NameRule* leads_to_name(std::span<const NameRule> names, std::string_view path) {
  return find_above(names, [&](const NameRule& rule, std::string_view prefix) {
    // Below a person's own "dir/**" links are ordinary; below git's directories they are a way to another one.
    const bool counts = !prefix.ends_with("/**") || rule.pattern.starts_with("/**/.git/");
    return counts && policy::matches_path(prefix, path);
  });
}

const NameRule* moves_to_name(std::span<const NameRule> names, std::string_view from, std::string_view to, Moved what) {
  return find_above(names, [&](const NameRule&, std::string_view prefix) {
    const bool counts = !prefix.ends_with("/**") || what == Moved::kDirectoryOrLink;
    return counts && policy::matches_path(prefix, to) && !policy::matches_path(prefix, from);
  });
}

const NameRule* holds_name(std::span<const NameRule> names, std::string_view path) {
  const auto holds = [&](const NameRule& rule) {
    const std::string place = literal_part(rule.pattern);
    return !place.empty() && is_within(place, path);
  };
  const auto found = std::ranges::find_if(names, holds);
  return found == names.end() ? nullptr : &*found;
}

namespace {

std::string_view last_component(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The first rule with a directory above its last component for which `matches(rule, directory)` holds.
template <class Matches>
const NameRule* find_above(std::span<const NameRule> names, Matches matches) {
  for (const NameRule& rule : names) {
    const std::string_view pattern = rule.pattern;
    // "/**" alone leads to everything.
    for (std::size_t end = pattern.rfind('/'); end > 3 && end != std::string_view::npos;
         end = pattern.rfind('/', end - 1)) {
      if (matches(rule, pattern.substr(0, end))) return &rule;
    }
  }
  return nullptr;
}

// As the rule itself is lifted: by an entry for the very path that it denies, or for one below, for that one.
bool is_lifted(const NameRule& rule, std::string_view denied, std::string_view path) {
  if (!rule.except.empty() && policy::matches_path(rule.except, path)) return true;
  return std::ranges::any_of(
      rule.lifted, [&](const std::string& entry) { return is_within(entry, denied) && is_within(path, entry); });
}

// Up to the first component with a wildcard; empty where that is the first.
std::string literal_part(std::string_view pattern) {
  std::size_t end = 0;
  for (std::size_t next = 0; end < pattern.size(); end = next) {
    next = std::min(pattern.find('/', end + 1), pattern.size());
    if (policy::has_wildcard(pattern.substr(end, next - end))) break;
  }
  return policy::unescape(pattern.substr(0, end));
}

}  // namespace

}  // namespace hutch::plan
