// Says why a file could not be changed, and what allows it.
#include "service/live/refused_place.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "host/paths/absent.h"
#include "plan/paths/names.h"
#include "policy/decide.h"
#include "policy/defaults.h"
#include "policy/path_option.h"

namespace hutch::service {

namespace {

using sandbox::AllowedBy;

struct RefusedPlace {
  const policy::Decision& decision;
  const std::vector<policy::Rule>& rules;
  const std::string& path;
  std::string_view told_rule;
  AllowedBy by;
  const std::string& home;
  bool is_new() const { return told_rule.starts_with(policy::kReadOnlyDirectory); }
};

// By the one name that was refused, and never more: the sandbox chose it.
std::string allows(std::string_view path) {
  return cat({"; ", policy::path_option("--allow-write", path), " allows it, filesystem.allowWrite for good"});
}

std::string allows_there(const RefusedPlace& place) {
  return place.is_new() || place.by == AllowedBy::kPolicy ? std::string() : allows(place.path);
}

// A mount cannot be put on what is absent: it has to be made first, as what the call would have made.
std::string allows_new(const RefusedPlace& place) {
  if (!place.is_new() || place.by == AllowedBy::kPolicy || place.path.rfind('/') == 0) return {};
  const std::string directory = cat({place.path, "/"});
  const policy::Rule as_directory{.verb = policy::Verb::kAllowWrite, .path = place.path, .text = directory};
  const bool hutch_makes = is_within(place.path, place.home) && host::may_be_directory(as_directory, place.home);
  const bool is_directory = place.told_rule == policy::kNoNewDirectory;
  if (is_directory && hutch_makes) {
    return cat({"; ", policy::path_option("--allow-write", directory), " makes a directory of that name"});
  }
  if (!is_directory && place.told_rule != policy::kNoNewFile) return {};
  return cat({"; `", is_directory ? "mkdir " : "touch ", shell_word(place.path), "` outside, and then ",
              policy::path_option("--allow-write", place.path), ", allow it"});
}

bool is_mandatory(const std::vector<policy::Rule>& rules, const std::string& rule) {
  return std::ranges::any_of(rules, [&](const policy::Rule& one) {
    return one.origin == policy::Origin::kMandatory && policy::describe(one) == rule;
  });
}

bool is_built_in_deny(const policy::Rule& rule) {
  const bool is_built_in = rule.origin == policy::Origin::kMandatory || rule.origin == policy::Origin::kHome;
  return is_built_in && rule.verb == policy::Verb::kDenyWrite;
}

// The protected files and directories below `path`, which keep it in its place.
std::vector<std::string> protected_below(const std::vector<policy::Rule>& rules, std::string_view path) {
  std::vector<std::string> found;
  for (const policy::Rule& rule : rules) {
    if (is_built_in_deny(rule) && rule.path != path && is_within(rule.path, path)) found.push_back(rule.path);
  }
  std::ranges::sort(found);
  const auto repeated = std::ranges::unique(found);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

// An entry for the directory lifts none of the rules about what is in it: each has to be named.
std::string why_held(const std::vector<std::string>& below, AllowedBy by) {
  static constexpr std::size_t kTypedMax = 16;
  std::string why = cat({"programs outside obey ", counted(below.size(), "file"), " in it"});
  if (by == AllowedBy::kPolicy || below.size() > kTypedMax) return why;
  why += ";";
  for (const std::string& path : below) why += cat({" ", policy::path_option("--allow-write", path)});
  return cat({why, below.size() == 1 ? " allows it" : " allow it"});
}

// Nothing but the removal of a repository meets these.
bool is_removed(const std::vector<sandbox::Refusal>& refusals, const std::string& git) {
  return std::ranges::any_of(refusals, [&](const sandbox::Refusal& refusal) {
    const auto is_about = [&](std::string_view part) {
      return refusal.what.starts_with(cat({"writing ", printable(cat({git, "/", part})), " was refused"}));
    };
    return is_about("HEAD") || is_about("objects") || is_about("refs");
  });
}

std::string why_kept(const RefusedPlace& place) {
  const policy::Decision& decision = place.decision;
  const std::string allowed = allows_there(place);
  if (decision.allowed) return cat({"it is protected where it exists at the start", allowed});
  if (decision.rule == "default") {
    const std::string_view whose = place.by == AllowedBy::kPolicy ? " in its policy" : "";
    return cat({"no entry of filesystem.allowWrite", whose, " names it", allowed, allows_new(place)});
  }
  if (is_mandatory(place.rules, decision.rule)) {
    const bool by_name =
        place.is_new() && place.by == AllowedBy::kOption && host::would_be_allowed(place.rules, place.path);
    return cat({"programs outside act on what is written there", by_name ? allows(place.path) : allowed});
  }
  const bool is_hidden = decision.view == policy::View::kHidden;
  return cat({printable(decision.rule), " denies it", is_hidden ? allows_new(place) : std::string()});
}

}  // namespace

std::function<void(sandbox::Refusal& told, const std::string& path)> place_explainer(std::vector<policy::Rule> rules,
                                                                                     AllowedBy by, std::string home) {
  return [by, home = std::move(home), rules = std::make_shared<const std::vector<policy::Rule>>(std::move(rules))](
             sandbox::Refusal& told, const std::string& path) {
    const policy::Decision decision = policy::decide(*rules, policy::Access::kWrite, path);
    const RefusedPlace place{decision, *rules, path, told.rule, by, home};
    const bool is_of_mount = told.rule == policy::kReadOnlyPlace || place.is_new();
    const std::vector<std::string> below = protected_below(*rules, path);
    if (decision.allowed && !below.empty()) {
      told.what = cat({told.what, ": ", why_held(below, by)});
      if (is_of_mount) told.rule = "built in";
      return;
    }
    // What another rule than those of the policy refused, such as one about git's names, is no matter of an entry.
    if (decision.allowed && !is_of_mount) return;
    told.what = cat({told.what, ": ", why_kept(place)});
    if (is_of_mount) told.rule = decision.allowed ? std::string("built in") : decision.rule;
  };
}

void merge_removed_repositories(std::vector<sandbox::Refusal>& refusals, const std::vector<policy::Rule>& rules) {
  for (const policy::Rule& rule : rules) {
    static constexpr std::string_view kConfig = "/.git/config";
    if (!plan::is_kept_config(rule) || !rule.path.ends_with(kConfig)) continue;
    const std::string directory = rule.path.substr(0, rule.path.size() - kConfig.size());
    const std::string git = cat({directory, "/.git"});
    // What was cut off could be about any file of it.
    const std::string longest = cat({git, "/objects"});
    const bool is_cut = printable(longest) != printable(longest, std::string::npos);
    if (is_cut || !is_removed(refusals, git)) continue;
    const std::vector<std::string> below = protected_below(rules, directory);
    if (below.empty()) continue;
    const auto is_part = [&](const sandbox::Refusal& refusal) {
      const auto is_about = [&](const std::string& path) {
        const std::string writing = cat({"writing ", printable(path)});
        return refusal.what.starts_with(writing + " ") || refusal.what.starts_with(writing + "/");
      };
      return is_about(git) || std::ranges::any_of(below, is_about);
    };
    const auto first = std::ranges::find_if(refusals, is_part);
    *first = {.what = cat({"removing ", printable(directory), " was refused: ", why_held(below, AllowedBy::kOption)}),
              .rule = "built in"};
    refusals.erase(std::remove_if(first + 1, refusals.end(), is_part), refusals.end());
  }
}

}  // namespace hutch::service
