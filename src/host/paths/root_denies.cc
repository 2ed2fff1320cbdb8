// Rules about "/", and about what the kernel has there.
#include "host/paths/root_denies.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "policy/decide.h"

namespace hutch::host {

using policy::Origin;
using policy::Rule;
using policy::Verb;

void spread_root_denies(std::vector<Rule>& rules, const std::vector<plan::RootEntry>& root) {
  std::vector<Rule> spread;
  const auto is_root_deny = [](const Rule& rule) { return rule.verb == Verb::kDenyRead && rule.path == "/"; };
  for (const Rule& rule : rules) {
    if (!is_root_deny(rule)) continue;
    const bool lifted = std::ranges::any_of(rules, [&](const Rule& other) {
      return other.verb == Verb::kAllowRead && other.path == "/" &&
             (other.origin == Origin::kOption || rule.origin != Origin::kOption);
    });
    if (lifted) continue;
    for (const plan::RootEntry& entry : root) {
      const std::string path = "/" + entry.name;
      if (entry.type == plan::FileType::kSymlink || kernel_place(path)) continue;
      Rule child = rule;
      child.path = path;
      spread.push_back(std::move(child));
    }
  }
  std::erase_if(rules, is_root_deny);
  rules.insert(rules.end(), spread.begin(), spread.end());
}

std::optional<std::string> kernel_place(std::string_view path) {
  for (const std::string_view place : {"/proc", "/sys", "/dev"}) {
    if (is_within(path, place)) return std::string(place);
  }
  return std::nullopt;
}

Status check_kernel_place(const Rule& rule) {
  std::vector<Rule> places;
  for (const auto& [path, place] :
       {std::pair("/proc", policy::Place::kProc), {"/sys", policy::Place::kSys}, {"/dev", policy::Place::kDevices}}) {
    places.push_back(
        {.verb = Verb::kPlace, .origin = Origin::kBuiltIn, .place = place, .path = path, .where = "built in"});
  }
  const bool allows = rule.verb == Verb::kAllowRead || rule.verb == Verb::kAllowWrite;
  const bool reading = rule.verb == Verb::kAllowRead || rule.verb == Verb::kDenyRead;
  const policy::Decision decision =
      policy::decide(places, reading ? policy::Access::kRead : policy::Access::kWrite, rule.path);
  if (decision.allowed == allows) return {};
  // The directories themselves are in many srt policies; what is in them is what the sandbox has.
  if (allows && rule.path == *kernel_place(rule.path)) return {};
  return fail(Error::invalid(cat({"\"", printable(rule.text), "\" cannot hold: ", decision.why})));
}

}  // namespace hutch::host
