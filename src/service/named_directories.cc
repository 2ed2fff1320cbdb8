// Absent directories of the person's home that --allow-write names.
#include "service/named_directories.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "host/absent.h"
#include "policy/decide.h"
#include "sys/files.h"

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
  return host::nothing_is_allowed(prepared.rules, rule);
}

// Each step uses the descriptor of the directory, so that nobody can put a link in its place meanwhile.
Status make_below(const Rule& rule, const plan::HostFacts& facts) {
  std::string at = facts.home;
  UniqueFd directory = TRY_CTX(sys::open_exact(at), policy::describe(rule));
  const std::string rest = rule.path.substr(facts.home.size() + 1);
  for (std::size_t begin = 0;;) {
    const sys::FileIdentity found = TRY(sys::identify(directory.get()));
    if (found.uid != facts.uid) return fail(not_made(rule, cat({printable(at), " belongs to another user"})));
    if (begin >= rest.size()) return {};
    const std::size_t end = std::min(rest.find('/', begin), rest.size());
    const std::string name = rest.substr(begin, end - begin);
    at = cat({at, "/", name});
    begin = end + 1;
    const Status made = sys::make_directory(directory.get(), name, 0700);
    if (!made && made.error().sys_errno != EEXIST) return fail(not_made(rule, made.error().message));
    auto next = sys::open_beneath(directory.get(), name);
    if (!next) return fail(not_made(rule, cat({printable(at), " is not a directory"})));
    directory = std::move(*next);
  }
}

}  // namespace

Result<std::vector<std::string>> make_named_directories(const Prepared& prepared, const plan::HostFacts& facts) {
  std::vector<std::string> made;
  if (prepared.backend != "namespace" && prepared.backend != "bwrap") return made;
  for (const Rule& rule : prepared.rules) {
    if (!is_named(prepared, facts, rule)) continue;
    const std::string typed = TRY(policy::absolute_path(rule.text, facts.home, facts.cwd));
    const std::string plain = std::filesystem::path(typed).lexically_normal().string();
    if (plain != rule.path) {
      return fail(not_made(rule, cat({"the way there goes through a link; name ", printable(rule.path), " itself"})));
    }
    TRY(make_below(rule, facts));
    made.push_back(rule.path);
  }
  return made;
}

}  // namespace hutch::service
