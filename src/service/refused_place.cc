// Says why a file could not be changed, and what allows it.
#include "service/refused_place.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "policy/decide.h"
#include "policy/defaults.h"

namespace hutch::service {

namespace {

using sandbox::AllowedBy;

// By the one name that was refused, and never more: the sandbox chose it.
std::string allows(std::string_view path, std::string_view told_rule, AllowedBy by) {
  if (told_rule == policy::kReadOnlyDirectory || by == AllowedBy::kPolicy) return {};
  return cat({"; --allow-write ", printable(shell_word(path)), " allows it, filesystem.allowWrite for good"});
}

bool is_mandatory(const std::vector<policy::Rule>& rules, const std::string& rule) {
  return std::ranges::any_of(rules, [&](const policy::Rule& one) {
    return one.origin == policy::Origin::kMandatory && policy::describe(one) == rule;
  });
}

std::string why_kept(const policy::Decision& decision, const std::vector<policy::Rule>& rules, const std::string& path,
                     std::string_view told_rule, AllowedBy by) {
  const std::string allowed = allows(path, told_rule, by);
  if (decision.allowed) return cat({"it is protected where it exists at the start", allowed});
  if (decision.rule == "default") {
    const std::string_view whose = by == AllowedBy::kPolicy ? " in its policy" : "";
    return cat({"no entry of filesystem.allowWrite", whose, " names it", allowed});
  }
  if (is_mandatory(rules, decision.rule)) return cat({"programs outside act on what is written there", allowed});
  // An option makes what is absent in a hidden home.
  const bool is_new = told_rule == policy::kReadOnlyDirectory && decision.view == policy::View::kHidden;
  const std::string makes =
      is_new && by != AllowedBy::kPolicy
          ? cat({"; --allow-write ", printable(shell_word(path)), " makes a directory of that name"})
          : std::string();
  return cat({printable(decision.rule), " denies it", makes});
}

}  // namespace

std::function<void(sandbox::Refusal& told, const std::string& path)> place_explainer(std::vector<policy::Rule> rules,
                                                                                     AllowedBy by) {
  return [by, rules = std::make_shared<const std::vector<policy::Rule>>(std::move(rules))](sandbox::Refusal& told,
                                                                                           const std::string& path) {
    const policy::Decision decision = policy::decide(*rules, policy::Access::kWrite, path);
    const bool is_of_mount = told.rule == policy::kReadOnlyPlace || told.rule == policy::kReadOnlyDirectory;
    // What another rule than those of the policy refused, such as one about git's names, is no matter of an entry.
    if (decision.allowed && !is_of_mount) return;
    told.what = cat({told.what, ": ", why_kept(decision, *rules, path, told.rule, by)});
    if (is_of_mount) told.rule = decision.allowed ? std::string("built in") : decision.rule;
  };
}

}  // namespace hutch::service
