// Names that may not be written wherever they turn up.
#include "plan/paths/names.h"

#include <algorithm>

#include "base/text.h"
#include "plan/git/files.h"
#include "policy/defaults.h"
#include "policy/glob.h"
#include "policy/obeyed/obeyed.h"

namespace hutch::plan {

using enum policy::ObeyedTreatment;

namespace {

std::string_view last_component(std::string_view path);
bool matches(std::string_view pattern, std::string_view path);
template <class Matches>
const NameRule* find_above(std::span<const NameRule> names, Matches matches);
template <class Counts>
std::optional<NameRule> listed_at(const GuardedNames& names, std::string_view path, Counts counts);
template <class Counts>
std::optional<NameRule> listed_below(const GuardedNames& names, std::string_view path, Counts counts);
bool is_allowed(const GuardedNames& names, const policy::ObeyedFile& file);
bool leads_as_well(std::string_view from, std::string_view above);
NameRule listed_rule(const policy::ObeyedFile& file);
bool is_granted(const GuardedNames& names, const NameRule& rule, std::string_view path);
NameRule unasked(NameRule rule);
bool is_lifted_by(std::span<const std::string> lifted, std::string_view denied, std::string_view path);
// Sapling's settings in a repository of git's.
constexpr const char* kSaplingConfig = ".git/sl/config";

bool is_lifted(const NameRule& rule, std::string_view denied, std::string_view path);
std::vector<std::string> kept_files(std::span<const policy::Rule> rules, std::span<const std::string> lifted);
std::vector<std::string> lifted_in(std::string_view pattern, std::span<const std::string> lifted);
bool is_config_kept_at(const GuardedNames& names, std::string_view path);
NameRule kept_config_rule(std::string_view path);
bool is_held_path(const policy::Rule& rule);

}  // namespace

GuardedNames guarded_names(const policy::Policy& policy, std::span<const policy::Rule> rules,
                           std::span<const policy::Rule> patterns, std::span<const NameRule> obeyed) {
  GuardedNames guarded{.rules = {}, .list = GuardedNames::List::kObeyed, .allowed = policy.filesystem.allow_obeyed};
  std::vector<std::string>& lifted = guarded.lifted;
  std::vector<std::string> lifted_of_repository;
  for (const policy::Rule& rule : rules) {
    if (rule.verb != policy::Verb::kAllowWrite || rule.match != policy::Match::kLiteral) continue;
    // Such a rule is no entry of the user's, so that the names in a repository stay protected.
    (rule.origin == policy::Origin::kRepository ? lifted_of_repository : lifted).push_back(rule.path);
  }
  lifted_of_repository.insert(lifted_of_repository.end(), lifted.begin(), lifted.end());
  std::vector<NameRule>& names = guarded.rules;
  // These come first, because the first rule decides: it is about files of the host, where names allow an exception.
  for (const policy::Rule& rule : rules) {
    if (is_kept_config(rule)) {
      if (std::ranges::find(lifted, rule.path) == lifted.end()) guarded.configs.push_back(rule.path);
      continue;
    }
    const auto& lifts = rule.origin == policy::Origin::kRepository ? lifted_of_repository : lifted;
    if (is_held_path(rule)) names.push_back({policy::escape_wildcards(rule.path), describe(rule), {}, lifts});
  }
  const auto add = [&](std::string name, std::string except) {
    names.push_back({cat({"/**/", name}), cat({"built in \"", name, "\""}), std::move(except), lifted});
  };
  for (const std::string_view name : policy::mandatory_git_names(policy.filesystem.git_config)) {
    // git-init(1) makes the directory and copies samples into it, which git does not run. As is_sample_hook() has it.
    for (const std::string_view place : {".git/", ".git/modules/**/"}) {
      if (name == "hooks") add(cat({place, "hooks/*"}), cat({"/**/", place, "hooks/*.sample*"}));
      if (name != "hooks") add(cat({place, name}), "");
    }
    // A linked worktree uses the hooks and the configuration of its repository.
    if (name != "hooks" && name != "config") add(cat({".git/worktrees/*/", name}), "");
  }
  // A module's name may have a slash, and a module modules of its own. Not "**": git keeps references in refs/remotes.
  for (const std::string_view place : {".git/modules/*/", ".git/modules/*/*/", ".git/modules/*/modules/*/"}) {
    for (const std::string_view name : {"remotes", "branches/*"}) add(cat({place, name}), "/**/.git/modules/*/refs/**");
  }
  // Files that name remotes (gitrepository-layout(5)); git-init(1) makes the second directory, and leaves it empty.
  // Scripts that git-instaweb(1) runs as its own.
  for (const std::string_view name : {".git/remotes", ".git/branches/*", ".git/gitweb", ".git/worktrees/*/gitweb",
                                      ".git/modules/**/gitweb", kSaplingConfig}) {
    add(std::string(name), "");
  }
  // For what is not there yet: what is there is a mount of its own.
  for (const policy::Rule& rule : rules) {
    const bool mandatory = rule.origin == policy::Origin::kMandatory;
    // The built-in names are patterns above. A mandatory rule with a text is about a path, such as one from git's
    // configuration.
    const bool is_known = rule.origin == policy::Origin::kRepository;
    const bool counts = rule.match == policy::Match::kLiteral && !is_known && (!mandatory || !rule.text.empty());
    if (rule.verb == policy::Verb::kDenyWrite && counts) {
      const bool home = rule.origin == policy::Origin::kHome;
      names.push_back({.pattern = policy::escape_wildcards(rule.path),
                       .rule = describe(rule),
                       .except = {},
                       .lifted = mandatory || home ? lifted : std::vector<std::string>(),
                       .asking = home ? NameRule::Asking::kMayBe : NameRule::Asking::kNever});
    }
  }
  for (const policy::Rule& rule : patterns) {
    if (rule.verb == policy::Verb::kDenyWrite) names.push_back({rule.path, describe(rule), {}, {}});
  }
  for (const NameRule& rule : obeyed) {
    names.push_back({rule.pattern, rule.rule, rule.except, lifted_in(rule.pattern, lifted), rule.asking});
    names.back().lifted.insert(names.back().lifted.end(), rule.lifted.begin(), rule.lifted.end());
  }
  std::ranges::sort(guarded.configs);
  guarded.kept = kept_files(rules, lifted);
  return guarded;
}

std::optional<NameRule> denied_name(const GuardedNames& names, std::string_view path) {
  if (path.substr(path.rfind('/') + 1).starts_with(kOwnNameStart)) {
    return NameRule{cat({"/**/", kOwnNameStart, "*"}), "built in \"hutch's own names\"", {}, {}};
  }
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string_view prefix = path.substr(0, end);
    for (const NameRule& rule : names.rules) {
      if (!matches(rule.pattern, prefix) || is_lifted(rule, prefix, path)) continue;
      if (is_granted(names, rule, path)) continue;
      return is_git_config_rule(rule) && is_config_kept_at(names, path) ? kept_config_rule(path) : rule;
    }
    if (end == std::string_view::npos) break;
  }
  return listed_at(names, path, [](const policy::ObeyedFile& file) { return file.treatment == kHeld; });
}

std::optional<NameRule> replaceable_name(const GuardedNames& names, std::string_view path) {
  // First: few names are of the list, and each call that makes or removes one asks.
  const std::vector<policy::ObeyedAt> listed = policy::obeyed_at(path);
  if (listed.empty()) return std::nullopt;
  auto rule = denied_name(names, path);
  const auto is_of_list = [&](const policy::ObeyedAt& at) { return rule->rule == listed_rule(*at.file).rule; };
  if (!rule || rule->asking != NameRule::Asking::kNever || !rule->lifted.empty()) return std::nullopt;
  if (judged_file(path) != JudgedFile::kNone) return std::nullopt;
  return std::ranges::any_of(listed, is_of_list) ? rule : std::nullopt;
}

bool is_kept_file(const policy::Rule& rule) {
  const bool is_built_in = rule.origin == policy::Origin::kMandatory && rule.text.empty();
  // What is judged by its content as it is written: only a mount tells the user's own from the sandbox's.
  if (rule.verb != policy::Verb::kDenyWrite || !is_built_in || judged_file(rule.path) != JudgedFile::kNone)
    return false;
  return std::ranges::any_of(policy::obeyed_at(rule.path), [&](const policy::ObeyedAt& at) {
    return at.path == rule.path && at.file->treatment == kHeld;
  });
}

// A path must contain each component of a pattern that has no wildcard. The last such component excludes the most
// paths.
MayBeDenied::MayBeDenied(const GuardedNames& names) {
  for (const policy::ObeyedFile& file : policy::obeyed_files()) {
    const std::string_view first = file.name.substr(0, file.name.find('/'));
    if (policy::has_wildcard(first)) patterns_.emplace_back(first);
    if (!policy::has_wildcard(first)) components_.emplace(first);
  }
  for (const NameRule& rule : names.rules) {
    const std::vector<std::string_view> parts = split(rule.pattern, '/');
    const auto is_plain = [](std::string_view part) { return !part.empty() && !policy::has_wildcard(part); };
    const auto plain = std::find_if(parts.rbegin(), parts.rend(), is_plain);
    if (plain == parts.rend()) patterns_.emplace_back(parts.back());
    if (plain != parts.rend()) components_.insert(policy::unescape(*plain));
  }
  for (const std::string& component : components_) first_bytes_.set(static_cast<unsigned char>(component.front()));
}

bool MayBeDenied::operator()(std::string_view path) const {
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (may_be_component(path.substr(at, end - at))) return true;
    at = end + 1;
  }
  return false;
}

bool MayBeDenied::may_be_component(std::string_view component) const {
  const auto matches = [&](const std::string& pattern) { return policy::matches_component(pattern, component); };
  const bool begins = !component.empty() && first_bytes_.test(static_cast<unsigned char>(component.front()));
  return (begins && components_.contains(component)) || std::ranges::any_of(patterns_, matches);
}

std::optional<NameRule> told_name(const GuardedNames& names, std::string_view path) {
  for (const std::string& place : names.places.told) {
    if (is_within(path, place)) return NameRule{policy::escape_wildcards(place), "built in link", {}, {}};
  }
  return listed_at(names, path, [](const policy::ObeyedFile& file) { return file.treatment == kTold; });
}

std::optional<NameRule> held_directory(const GuardedNames& names, std::string_view path) {
  for (const NameRule& rule : names.rules) {
    if (rule.rule != policy::kRepositoryOfWorktree || !rule.pattern.ends_with("/*")) continue;
    if (rule.pattern == cat({policy::escape_wildcards(path), "/*"})) return rule;
  }
  return std::nullopt;
}

NameRule rule_about(std::string_view path, std::string rule) {
  return {policy::escape_wildcards(path), std::move(rule), {}, {}};
}

NameRule rule_of_mount(std::string_view path, NameIs name) {
  switch (name) {
    case NameIs::kThere: return rule_about(path, std::string(policy::kReadOnlyPlace));
    case NameIs::kNew: return rule_about(path, std::string(policy::kReadOnlyDirectory));
    case NameIs::kNewFile: return rule_about(path, std::string(policy::kNoNewFile));
    case NameIs::kNewDirectory: return rule_about(path, std::string(policy::kNoNewDirectory));
  }
  return rule_about(path, {});
}

bool is_lifted_path(const GuardedNames& names, std::string_view path) {
  if (!names.allowed.empty()) {
    const std::vector<policy::ObeyedAt> listed = policy::obeyed_at(path);
    const auto lifts = [&](const policy::ObeyedAt& at) { return at.path == path && is_allowed(names, *at.file); };
    if (std::ranges::any_of(listed, lifts)) return true;
  }
  return std::ranges::find(names.lifted, path) != names.lifted.end() ||
         std::ranges::any_of(names.rules, [&](const NameRule& rule) {
           // What lifts a rule about one path is no entry of the user's, or is in the list above.
           return is_name_anywhere(rule) && std::ranges::find(rule.lifted, path) != rule.lifted.end();
         });
}

bool is_place_of_agent(const GuardedNames& names, std::string_view path) {
  return std::ranges::any_of(names.own, [&](const std::string& own) { return is_within(path, own); });
}

bool is_name_anywhere(const NameRule& rule) { return rule.pattern.starts_with("/**/"); }

bool is_git_config_rule(const NameRule& rule) {
  return rule.pattern.starts_with("/**/.git/") && !rule.pattern.ends_with(kSaplingConfig) &&
         (rule.pattern.ends_with("/config") || rule.pattern.ends_with("/config.worktree"));
}

bool is_kept_config(const NameRule& rule) {
  return rule.rule.starts_with(policy::kKeptGitConfig) && !is_name_anywhere(rule);
}

bool is_kept_config(const policy::Rule& rule) {
  const bool is_built_in = rule.origin == policy::Origin::kMandatory && rule.text.empty();
  return rule.verb == policy::Verb::kDenyWrite && (is_built_in || rule.origin == policy::Origin::kRepository) &&
         is_repository_config(rule.path);
}

bool is_kept_repository(const GuardedNames& names, std::string_view directory) {
  return std::ranges::binary_search(names.configs, cat({directory, "/config"}));
}

const NameRule& git_rule() {
  static const NameRule kRule{"/**/.git", "built in \"git repository\"", {}, {}};
  return kRule;
}

std::optional<NameRule> leads_to_name(const GuardedNames& names, std::string_view path) {
  const NameRule* found = find_above(names.rules, [&](const NameRule& rule, std::string_view prefix) {
    // Below a person's own "dir/**" links are ordinary; below git's directories they are a way to another one.
    const bool counts = !prefix.ends_with("/**") || rule.pattern.starts_with("/**/.git/");
    return counts && matches(prefix, path);
  });
  if (found != nullptr) return unasked(*found);
  return listed_below(names, path, [](const policy::ObeyedBelow& one) { return one.file->treatment == kHeld; });
}

std::optional<NameRule> moves_to_name(const GuardedNames& names, std::string_view from, std::string_view to,
                                      Moved what) {
  const NameRule* found = find_above(names.rules, [&](const NameRule&, std::string_view prefix) {
    const bool counts = !prefix.ends_with("/**") || what == Moved::kDirectoryOrLink;
    return counts && matches(prefix, to) && !policy::matches_path(prefix, from);
  });
  if (found != nullptr) return unasked(*found);
  if (what == Moved::kFile) return std::nullopt;
  return listed_below(names, to, [&](const policy::ObeyedBelow& one) {
    return one.file->treatment == kHeld && !leads_as_well(from, one.above);
  });
}

std::optional<NameRule> moves_to_told(const GuardedNames& names, std::string_view from, std::string_view to) {
  return listed_below(names, to, [&](const policy::ObeyedBelow& one) {
    return one.file->treatment == kTold && !leads_as_well(from, one.above);
  });
}

bool leaves_packages(const GuardedNames& names, std::string_view from, std::string_view to) {
  if (is_place_of_agent(names, to)) return false;
  return names.list == GuardedNames::List::kObeyed && policy::is_in_packages(from) && !policy::is_in_packages(to);
}

std::optional<NameRule> rule_of_linked(const GuardedNames& names, std::uint64_t device, std::uint64_t inode) {
  const auto found = std::ranges::find_if(
      names.places.linked, [&](const LinkedFile& file) { return file.device == device && file.inode == inode; });
  if (found == names.places.linked.end() || is_lifted_path(names, found->path)) return std::nullopt;
  return NameRule{policy::escape_wildcards(found->path), cat({"it is also ", found->path}), {}, {}};
}

std::optional<NameRule> holds_name(const GuardedNames& names, std::string_view path) {
  const auto holds = [&](const NameRule& rule) {
    const std::string place = policy::literal_part(rule.pattern);
    return !place.empty() && is_within(place, path);
  };
  const auto found = std::ranges::find_if(names.rules, holds);
  if (found != names.rules.end()) return unasked(*found);
  const auto config = std::ranges::lower_bound(names.configs, cat({path, "/"}));
  if (config != names.configs.end() && is_within(*config, path)) return kept_config_rule(*config);
  const auto kept = std::ranges::lower_bound(names.kept, cat({path, "/"}));
  const bool holds_file = kept != names.kept.end() && is_within(*kept, path);
  return holds_file ? denied_name(names, *kept) : std::nullopt;
}

namespace {

std::string_view last_component(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool begins_differently(std::string_view pattern, std::string_view name) {
  if (pattern.empty() || name.empty() || pattern.front() == name.front()) return false;
  const char first = pattern.front();
  return first != '*' && first != '?' && first != '[' && first != '\\';
}

// False: the path does not match the pattern. Compares components from the end, up to the first one that is not "*".
// The last byte alone excludes most patterns: a supervisor asks this of each, for each directory of every path.
bool may_end_as(std::string_view pattern, std::string_view path) {
  const char last = pattern.empty() ? '*' : pattern.back();
  const bool is_wild = last == '*' || last == '?' || last == ']';
  if (!is_wild && !path.ends_with(last)) return false;
  for (;;) {
    const std::string_view wanted = last_component(pattern);
    if (wanted == "**") return true;
    const std::string_view name = last_component(path);
    if (begins_differently(wanted, name) || !policy::matches_component(wanted, name)) return false;
    if (wanted != "*" || !pattern.contains('/') || !path.contains('/')) return true;
    pattern = pattern.substr(0, pattern.rfind('/'));
    path = path.substr(0, path.rfind('/'));
  }
}

// The cheap test first: hardly any path ends as a rule does.
bool matches(std::string_view pattern, std::string_view path) {
  return may_end_as(pattern, path) && policy::matches_path(pattern, path);
}

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

// The first name of the list that the path has, that is not lifted, and whose file `counts` accepts.
template <class Counts>
std::optional<NameRule> listed_at(const GuardedNames& names, std::string_view path, Counts counts) {
  if (names.list != GuardedNames::List::kObeyed || is_place_of_agent(names, path)) return std::nullopt;
  for (const policy::ObeyedAt& at : policy::obeyed_at(path)) {
    if (!counts(*at.file) || is_allowed(names, *at.file) || is_lifted_by(names.lifted, at.path, path)) continue;
    NameRule rule = listed_rule(*at.file);
    if (!names.places.home.empty() && at.path == cat({names.places.home, "/", at.file->name})) {
      rule.asking = NameRule::Asking::kMayBe;
    }
    if (!is_granted(names, rule, path)) return rule;
  }
  return std::nullopt;
}

template <class Counts>
std::optional<NameRule> listed_below(const GuardedNames& names, std::string_view path, Counts counts) {
  if (names.list != GuardedNames::List::kObeyed || is_place_of_agent(names, path)) return std::nullopt;
  for (const policy::ObeyedBelow& one : policy::obeyed_below(path)) {
    if (counts(one) && !is_allowed(names, *one.file)) return listed_rule(*one.file);
  }
  return std::nullopt;
}

// A path of the host that a name holds in place of a mount. The names of the list hold a file of theirs anyway, and let
// git bring it in.
bool is_held_path(const policy::Rule& rule) {
  if (rule.origin == policy::Origin::kRepository) return rule.verb == policy::Verb::kDenyWrite;
  return rule.held_by == policy::Rule::HeldBy::kNames && !is_kept_file(rule);
}

NameRule listed_rule(const policy::ObeyedFile& file) {
  return {cat({"/**/", file.name}), cat({"built in \"", file.name, "\""}), {}, {}};
}

bool is_allowed(const GuardedNames& names, const policy::ObeyedFile& file) {
  return std::ranges::find(names.allowed, file.name) != names.allowed.end();
}

bool is_granted(const GuardedNames& names, const NameRule& rule, std::string_view path) {
  return rule.asking == NameRule::Asking::kMayBe &&
         std::ranges::any_of(names.granted, [&](const std::string& granted) { return is_within(path, granted); });
}

// An answer opens a path, but not a link to it or a directory that contains it.
NameRule unasked(NameRule rule) {
  rule.asking = NameRule::Asking::kNever;
  return rule;
}

bool leads_as_well(std::string_view from, std::string_view above) {
  return from.ends_with(above) && from.size() > above.size() && from[from.size() - above.size() - 1] == '/';
}

// git reads config.worktree, once it is there, as a part of the configuration.
bool is_config_kept_at(const GuardedNames& names, std::string_view path) {
  static constexpr std::string_view kOfWorktree = ".worktree";
  if (path.ends_with(kOfWorktree)) path.remove_suffix(kOfWorktree.size());
  return std::ranges::binary_search(names.configs, path);
}

NameRule kept_config_rule(std::string_view path) {
  return {policy::escape_wildcards(path), std::string(policy::kKeptGitConfig), {}, {}};
}

// As the rule itself is lifted: by an entry for the very path that it denies, or for one below, for that one.
bool is_lifted(const NameRule& rule, std::string_view denied, std::string_view path) {
  if (!rule.except.empty() && policy::matches_path(rule.except, path)) return true;
  return is_lifted_by(rule.lifted, denied, path);
}

bool is_lifted_by(std::span<const std::string> lifted, std::string_view denied, std::string_view path) {
  return std::ranges::any_of(
      lifted, [&](const std::string& entry) { return is_within(entry, denied) && is_within(path, entry); });
}

std::vector<std::string> kept_files(std::span<const policy::Rule> rules, std::span<const std::string> lifted) {
  std::vector<std::string> kept;
  for (const policy::Rule& rule : rules) {
    if (is_kept_file(rule) && std::ranges::find(lifted, rule.path) == lifted.end()) kept.push_back(rule.path);
  }
  std::ranges::sort(kept);
  return kept;
}

// An entry for a directory of the pattern, such as ".githooks" of "/**/.githooks/pre-commit", lifts the files in it.
std::vector<std::string> lifted_in(std::string_view pattern, std::span<const std::string> lifted) {
  constexpr std::size_t kAnyLength = 3;  // the length of "/**"
  std::vector<std::string> all(lifted.begin(), lifted.end());
  // A rule about one path is lifted only by an entry for that path.
  if (policy::literal_part(pattern) == policy::unescape(pattern)) return all;
  for (std::size_t end = pattern.rfind('/'); end > kAnyLength && end != std::string_view::npos;
       end = pattern.rfind('/', end - 1)) {
    const std::string below = policy::unescape(pattern.substr(end));
    for (const std::string& entry : lifted) {
      if (policy::matches_path(pattern.substr(0, end), entry)) all.push_back(cat({entry, below}));
    }
  }
  return all;
}

}  // namespace

}  // namespace hutch::plan
