// Which rule decides about a path.
#include "policy/decide.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/text.h"

namespace hutch::policy {

namespace {

int rank_of(Verb verb);
bool is_mandatory(const Rule& rule) {
  using enum Origin;
  if (rule.verb != Verb::kDenyWrite) return false;
  return rule.origin == kMandatory || rule.origin == kHome || rule.origin == kRepository;
}
bool beats(const Rule& challenger, const Rule& holder);
const Rule* deepest(std::span<const Rule* const> covering, Verb verb);
const Rule* mandatory_deny(std::span<const Rule* const> covering);
const Rule* credential_deny(std::span<const Rule* const> covering);
View view_of(Place place);
Decision decide_on_host(const Judgement& judgement, Access access);
Decision decide_device(const Rule& rule, Access access, std::string_view path);
Decision decide_proc(const Rule& rule, Access access, std::string_view path);
Decision decide_sys(const Rule& rule, Access access, std::string_view path);

}  // namespace

Judgement judge(std::span<const Rule* const> covering) {
  Judgement result;
  for (const Rule* rule : covering) {
    if (rule->origin == Origin::kStore && rule->verb == Verb::kDenyRead) return {View::kHidden, rule, rule};
    const bool about_reading = rank_of(rule->verb) > 0;
    if (about_reading && (result.read_rule == nullptr || beats(*rule, *result.read_rule))) result.read_rule = rule;
  }
  if (const Rule* credential = credential_deny(covering)) return {View::kHidden, credential, credential};
  result.write_rule = result.read_rule;
  if (result.read_rule != nullptr && result.read_rule->verb == Verb::kDenyRead) {
    result.view = View::kHidden;
    return result;
  }
  if (result.read_rule != nullptr && result.read_rule->verb == Verb::kPlace) {
    result.view = view_of(result.read_rule->place);
    return result;
  }
  result.write_rule = deepest(covering, Verb::kDenyWrite);
  if (result.write_rule == nullptr) result.write_rule = mandatory_deny(covering);
  if (result.write_rule != nullptr) return result;
  result.write_rule = deepest(covering, Verb::kAllowWrite);
  if (result.write_rule != nullptr) result.view = View::kReadWrite;
  return result;
}

Decision decide(const std::vector<Rule>& rules, Access access, std::string_view path) {
  std::vector<const Rule*> covering;
  for (const Rule& rule : rules) {
    if (is_within(path, rule.path)) covering.push_back(&rule);
  }
  const Judgement judgement = judge(covering);
  Decision decision;
  switch (judgement.view) {
    case View::kHidden:
    case View::kReadOnly:
    case View::kReadWrite: decision = decide_on_host(judgement, access); break;
    case View::kPrivate:
      decision = {.allowed = true,
                  .rule = describe(*judgement.read_rule),
                  .why = cat({judgement.read_rule->path, " is the sandbox's own, empty at the start"})};
      break;
    case View::kProc: decision = decide_proc(*judgement.read_rule, access, path); break;
    case View::kSys: decision = decide_sys(*judgement.read_rule, access, path); break;
    case View::kDevices: decision = decide_device(*judgement.read_rule, access, path); break;
  }
  decision.view = judgement.view;
  return decision;
}

std::span<const std::string_view> device_names() {
  static constexpr std::array<std::string_view, 13> kNames = {
      "null", "zero", "full", "random", "urandom", "tty", "pts", "ptmx", "fd", "stdin", "stdout", "stderr", "shm"};
  return kNames;
}

namespace {

// 0: says nothing about reading.
int rank_of(Verb verb) {
  switch (verb) {
    case Verb::kAllowRead: return 3;
    case Verb::kPlace: return 2;
    case Verb::kDenyRead: return 1;
    case Verb::kAllowWrite:
    case Verb::kDenyWrite: return 0;
  }
  return 0;
}

// Both cover the same path, so the longer one is the more specific.
bool beats(const Rule& challenger, const Rule& holder) {
  const auto order = [](const Rule& rule) {
    return std::tuple(rule.path.size(), rule.match == Match::kLiteral, rule.origin == Origin::kOption,
                      rank_of(rule.verb));
  };
  return order(challenger) > order(holder);
}

const Rule* deepest(std::span<const Rule* const> covering, Verb verb) {
  const Rule* found = nullptr;
  for (const Rule* rule : covering) {
    if (rule->verb != verb || is_mandatory(*rule)) continue;
    if (found == nullptr || rule->path.size() > found->path.size()) found = rule;
  }
  return found;
}

const Rule* mandatory_deny(std::span<const Rule* const> covering) {
  for (const Rule* rule : covering) {
    if (!is_mandatory(*rule)) continue;
    const bool lifted = std::ranges::any_of(covering, [&](const Rule* other) {
      return other->verb == Verb::kAllowWrite && other->match == Match::kLiteral && is_within(other->path, rule->path);
    });
    if (!lifted) return rule;
  }
  return nullptr;
}

const Rule* credential_deny(std::span<const Rule* const> covering) {
  for (const Rule* rule : covering) {
    if (rule->origin != Origin::kCredential) continue;
    const bool lifted = std::ranges::any_of(covering, [&](const Rule* other) {
      return other->verb == Verb::kAllowRead && other->match == Match::kLiteral && is_within(other->path, rule->path);
    });
    if (!lifted) return rule;
  }
  return nullptr;
}

View view_of(Place place) {
  switch (place) {
    case Place::kPrivate: return View::kPrivate;
    case Place::kProc: return View::kProc;
    case Place::kSys: return View::kSys;
    case Place::kDevices: return View::kDevices;
    case Place::kNone: break;
  }
  return View::kHidden;
}

Decision decide_on_host(const Judgement& judgement, Access access) {
  const auto named = [](const Rule* rule) { return rule == nullptr ? std::string("default") : describe(*rule); };
  if (judgement.view == View::kHidden) {
    const Origin origin = judgement.read_rule->origin;
    return {.allowed = false,
            .rule = named(judgement.read_rule),
            .why = origin == Origin::kStore        ? "hutch's own files are never visible inside"
                   : origin == Origin::kCredential ? "it is a credential; an allowRead entry that names it lifts this"
                                                   : "it may not be read"};
  }
  if (access == Access::kRead) {
    return {.allowed = true,
            .rule = named(judgement.read_rule),
            .why = judgement.read_rule == nullptr ? "nothing denies reading it" : "an entry allows reading it"};
  }
  if (judgement.view == View::kReadWrite) {
    return {.allowed = true, .rule = named(judgement.write_rule), .why = "an entry allows writing it"};
  }
  if (judgement.write_rule == nullptr) {
    return {.allowed = false, .rule = "default", .why = "nothing allows writing it"};
  }
  const bool mandatory = is_mandatory(*judgement.write_rule);
  const bool outer = judgement.write_rule->origin == Origin::kRepository;
  return {.allowed = false,
          .rule = named(judgement.write_rule),
          .why = outer ? "git uses it outside of this work tree; an allowWrite entry that names it lifts this"
                 : mandatory
                     ? "programs outside act on what is written there; an allowWrite entry that names it lifts this"
                     : "an entry denies writing it"};
}

Decision decide_device(const Rule& rule, Access access, std::string_view path) {
  const std::string_view rest = path.size() > rule.path.size() ? path.substr(rule.path.size() + 1) : "";
  const std::string_view name = rest.substr(0, rest.find('/'));
  const bool directory = name.empty() || rest == "pts" || rest == "fd";
  const bool beneath = name.size() < rest.size();
  const bool listed = std::ranges::find(device_names(), name) != device_names().end();
  const bool holds_more = name == "pts" || name == "shm" || name == "fd";
  const bool there = name.empty() || (listed && (!beneath || holds_more));
  const bool allowed = there && (access == Access::kRead || !directory);
  return {.allowed = allowed,
          .rule = describe(rule),
          .why = !there    ? "the sandbox's /dev does not have it"
                 : allowed ? "every sandbox has it"
                           : "no name can be made in the sandbox's /dev"};
}

Decision decide_proc(const Rule& rule, Access access, std::string_view path) {
  if (access == Access::kRead) {
    return {.allowed = true, .rule = describe(rule), .why = "/proc shows the sandbox's own processes"};
  }
  const std::string_view rest = path.size() > rule.path.size() ? path.substr(rule.path.size() + 1) : "";
  const std::string_view name = rest.substr(0, rest.find('/'));
  const bool number = !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
  const bool allowed = number || name == "self" || name == "thread-self";
  return {.allowed = allowed,
          .rule = describe(rule),
          .why = allowed ? "the files of the sandbox's own processes" : "the kernel's own settings are read-only"};
}

Decision decide_sys(const Rule& rule, Access access, std::string_view path) {
  static constexpr std::string_view kShown = "/sys/devices/system";
  const bool shown = is_within(path, kShown) || is_within(kShown, path);
  const bool allowed = shown && access == Access::kRead;
  return {.allowed = allowed,
          .rule = describe(rule),
          .why = !shown    ? "of /sys only /sys/devices/system is visible"
                 : allowed ? "/sys/devices/system is visible"
                           : "/sys is read-only"};
}

}  // namespace

}  // namespace hutch::policy
