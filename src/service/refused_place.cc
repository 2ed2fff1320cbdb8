// Says why a file could not be changed, and what allows it.
#include "service/refused_place.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "policy/decide.h"
#include "policy/defaults.h"
#include "sys/files.h"

namespace hutch::service {

namespace {

std::string allows(std::string_view path, AllowedBy by) {
  const std::string shown = printable(path);
  if (by == AllowedBy::kPolicy) return cat({"filesystem.allowWrite [\"", shown, "\"] in its policy allows it"});
  return cat({"--allow-write ", shown, " allows it, filesystem.allowWrite for good"});
}

// An entry for a name that is absent allows nothing.
std::string_view place_to_allow(const std::string& path) {
  const std::string_view above = std::string_view(path).substr(0, std::max<std::size_t>(path.rfind('/'), 1));
  return sys::exists(path) ? std::string_view(path) : above;
}

bool is_mandatory(const std::vector<policy::Rule>& rules, const std::string& rule) {
  return std::ranges::any_of(rules, [&](const policy::Rule& one) {
    return one.origin == policy::Origin::kMandatory && policy::describe(one) == rule;
  });
}

std::string why_kept(const policy::Decision& decision, const std::vector<policy::Rule>& rules, const std::string& path,
                     AllowedBy by) {
  if (decision.allowed) return cat({"it is protected where it exists at the start; ", allows(path, by)});
  if (decision.rule == "default") {
    return cat({"no entry of filesystem.allowWrite names it; ", allows(place_to_allow(path), by)});
  }
  if (is_mandatory(rules, decision.rule)) {
    return cat({"programs outside act on what is written there; ", allows(path, by)});
  }
  return cat({printable(decision.rule), " denies it"});
}

}  // namespace

std::function<void(sandbox::Refusal& told, const std::string& path)> place_explainer(std::vector<policy::Rule> rules,
                                                                                     AllowedBy by) {
  return [by, rules = std::make_shared<const std::vector<policy::Rule>>(std::move(rules))](sandbox::Refusal& told,
                                                                                           const std::string& path) {
    const policy::Decision decision = policy::decide(*rules, policy::Access::kWrite, path);
    told.what = cat({told.what, ": ", why_kept(decision, *rules, path, by)});
    if (told.rule == policy::kReadOnlyPlace) told.rule = decision.allowed ? std::string("built in") : decision.rule;
  };
}

}  // namespace hutch::service
