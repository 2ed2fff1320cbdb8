// Whether a run may start in its current directory.
#include "service/prepare/wide_start.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "plan/paths/wide_start.h"
#include "policy/rules.h"
#include "service/common/load_policy.h"
#include "service/prepare/prepare.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

// Each neighbour costs one or two lookups.
constexpr std::size_t kNeighboursMax = 1024;

bool has_repository(const std::string& directory) {
  static constexpr std::array<std::string_view, 4> kNames = {".git", ".jj", ".hg", ".sl"};
  return std::ranges::any_of(kNames, [&](std::string_view name) { return sys::exists(cat({directory, "/", name})); });
}

// Counts up to the number that matters. A directory that is a repository itself is one project, whatever it contains.
std::size_t repositories_in(const std::string& directory) {
  if (has_repository(directory)) return 0;
  const auto listing = sys::open_listing(directory);
  const auto names = listing ? sys::first_names(listing->get(), kNeighboursMax) : Result<std::vector<sys::TreeEntry>>();
  if (!listing || !names) return 0;
  std::size_t count = 0;
  for (const sys::TreeEntry& entry : *names) {
    const bool may_be = entry.kind == sys::EntryKind::kDirectory || entry.kind == sys::EntryKind::kUnknown;
    if (may_be && has_repository(cat({directory, "/", entry.name}))) ++count;
    if (count == plan::kOtherProjectsMin) break;
  }
  return count;
}

// Whether an entry means the current directory; an entry with a full path was meant for that path.
bool is_here(const policy::PathEntry& entry, const plan::HostFacts& facts) {
  if (entry.text.starts_with('/') || entry.text.starts_with('~')) return false;
  const auto path = policy::absolute_path(entry.text, facts.home, facts.cwd);
  return path && (*path == facts.cwd || entry.text.starts_with("..") || entry.text.starts_with('*'));
}

}  // namespace

Status check_start(const PlaceRequest& request, const plan::HostFacts& facts,
                   const std::function<bool(const std::string& what)>& start_wide) {
  const auto why = plan::why_wide(facts.cwd, facts.home, repositories_in(facts.cwd));
  if (!why) return {};
  const LoadedPolicy loaded = TRY(load_policy(request, facts, sys::own_environment()));
  const bool by_rules = policy::traits_of(TRY(backend_of(request, loaded.policy))).file_rules;
  const auto says_here = [&](const policy::PathEntry& entry) { return is_here(entry, facts); };
  const bool here = std::ranges::any_of(loaded.policy.filesystem.allow_write, says_here);
  // Somebody saved an entry of projects.json for this directory.
  if (!by_rules || !here || loaded.policy.project) return {};
  const std::string what = cat({printable(facts.cwd), " ", *why, ": the command could write all that is in it"});
  if (start_wide && start_wide(what)) return {};
  return fail(Error{Code::kPermissionDenied, 0,
                    cat({what,
                         "; start in a project, use --wide if it is meant, or save a policy for it with hutch "
                         "config --scope new"})});
}

}  // namespace hutch::service
