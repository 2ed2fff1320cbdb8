// Absent directories of the person's home that --allow-write names, and those of a preset.
#include "service/prepare/named_directories.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "host/paths/absent.h"
#include "policy/decide.h"
#include "policy/document/presets.h"
#include "policy/glob.h"
#include "policy/rules.h"
#include "sys/files/files.h"

namespace hutch::service {

namespace {

using policy::Rule;

Error not_made(const Rule& rule, std::string why) {
  return Error::invalid(cat({policy::describe(rule), " is absent, and hutch does not make it: ", std::move(why)}));
}

bool is_named(const Prepared& prepared, const plan::HostFacts& facts, const Rule& rule) {
  const bool by_option = rule.verb == policy::Verb::kAllowWrite && rule.origin == policy::Origin::kOption;
  if (!by_option || rule.match != policy::Match::kLiteral) return false;
  if (rule.path == facts.home || !is_within(rule.path, facts.home)) return false;
  if (!host::may_be_directory(rule, facts.home)) return false;
  const plan::SeenPath* seen = prepared.paths.find(rule.path);
  // Paths below an absent directory are not looked up.
  if (seen != nullptr && seen->type != plan::FileType::kAbsent) return false;
  // The sandbox itself can make it in a writable directory.
  const bool is_supervised = prepared.plan.supervisor != plan::Supervisor::kNone;
  return host::nothing_is_allowed(prepared.rules, rule, is_supervised ? host::Denies::kAlways : host::Denies::kAtStart);
}

// Each step uses the descriptor of the directory, so that nobody can put a link in its place meanwhile.
Status make_below(const std::string& path, const plan::HostFacts& facts) {
  std::string at = facts.home;
  UniqueFd directory = TRY(sys::open_exact(at));
  const std::string rest = path.substr(facts.home.size() + 1);
  for (std::size_t begin = 0;;) {
    const sys::FileIdentity found = TRY(sys::identify(directory.get()));
    if (found.uid != facts.uid) return fail(Error::invalid(cat({printable(at), " belongs to another user"})));
    if (begin >= rest.size()) return {};
    const std::size_t end = std::min(rest.find('/', begin), rest.size());
    const std::string name = rest.substr(begin, end - begin);
    at = cat({at, "/", name});
    begin = end + 1;
    const Status made = sys::make_directory(directory.get(), name, 0700);
    if (!made && made.error().sys_errno != EEXIST) return fail(made.error());
    auto next = sys::open_beneath(directory.get(), name);
    if (!next) return fail(Error::invalid(cat({printable(at), " is not a directory"})));
    directory = std::move(*next);
  }
}

bool is_of_host(const Prepared& prepared) { return policy::traits_of(prepared.backend).guest_mounts; }

}  // namespace

Result<std::vector<std::string>> make_named_directories(const Prepared& prepared, const plan::HostFacts& facts) {
  std::vector<std::string> made;
  if (!is_of_host(prepared)) return made;
  for (const Rule& rule : prepared.rules) {
    if (!is_named(prepared, facts, rule)) continue;
    const std::string text = policy::has_escaped_wildcard(rule.text) ? policy::unescape(rule.text) : rule.text;
    const std::string typed = TRY(policy::absolute_path(text, facts.home, facts.cwd));
    const std::string plain = std::filesystem::path(typed).lexically_normal().string();
    if (plain != rule.path) {
      return fail(not_made(rule, cat({"the way there goes through a link; name ", printable(rule.path), " itself"})));
    }
    const Status below = make_below(rule.path, facts);
    if (!below) return fail(not_made(rule, below.error().message));
    made.push_back(rule.path);
  }
  return made;
}

// A directory that cannot be made does not end the run: the notes about absent entries say what that means.
Result<bool> make_state_directories(const std::string& typed, const Prepared& prepared, const plan::HostFacts& facts,
                                    const std::function<void(const std::string&)>& tell) {
  const policy::Preset* preset = policy::find_preset(typed);
  if (preset == nullptr || !is_of_host(prepared) || facts.home == "/nonexistent") return false;
  std::vector<std::string> absent;
  for (const std::string_view state : preset->state) {
    std::string path = TRY(policy::absolute_path(state, facts.home, facts.cwd));
    if (!sys::exists(path)) absent.push_back(std::move(path));
  }
  if (absent.empty()) return false;
  tell(cat({"making ", printable(join(absent, ", ")), ": ", preset->name, " keeps its state there"}));
  bool made = false;
  for (const std::string& path : absent) {
    const Status below = make_below(path, facts);
    if (!below) tell(cat({"not made: ", printable(path), ": ", below.error().message}));
    made = made || below;
  }
  return made;
}

}  // namespace hutch::service
