// What git reads and writes of a repository outside of the work tree: gitrepository-layout(5), git-worktree(1), and
// common_list of git's path.c.
#include "host/paths/repository_rules.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "base/text.h"
#include "host/paths/paths.h"
#include "policy/decide.h"
#include "policy/defaults.h"
#include "policy/glob.h"

namespace hutch::host {

namespace {

using policy::Origin;
using policy::Rule;
using policy::Verb;
using policy::View;

// Directories that all worktrees share and write.
constexpr std::array<std::string_view, 5> kShared = {"objects", "refs", "logs", "rr-cache", "lfs"};

// Files there, with git's temporary names for them.
constexpr std::array<std::string_view, 10> kSharedFiles = {
    "packed-refs", "packed-refs.lock", "packed-refs.new", "gc.pid",       "gc.pid.lock",
    "gc.log",      "gc.log.lock",      "shallow",         "shallow.lock", "worktrees"};

// Those of the main work tree and of the repository as a whole. A rule about "worktrees" does not hold for the own one,
// which has an allowing rule.
constexpr std::array<std::string_view, 18> kHeld = {"HEAD",
                                                    "index",
                                                    "hooks",
                                                    "config",
                                                    "config.worktree",
                                                    "commondir",
                                                    "info",
                                                    "modules",
                                                    "worktrees",
                                                    "objects/info/alternates",
                                                    "objects/info/http-alternates",
                                                    "refs/bisect",
                                                    "refs/worktree",
                                                    "refs/rewritten",
                                                    "refs/replace",
                                                    "logs/HEAD",
                                                    "logs/refs/bisect",
                                                    "logs/refs/rewritten"};

// In the worktree's own directory.
constexpr std::array<std::string_view, 4> kHeldOfOwn = {"gitdir", "commondir", "config.worktree", "modules"};

// In a submodule's repository, whose main work tree is the sandbox's.
constexpr std::array<std::string_view, 8> kHeldOfModule = {"hooks",   "config",    "config.worktree", "commondir",
                                                           "modules", "worktrees", "remotes",         "branches"};

class RepositoryPlanner {
 public:
  RepositoryPlanner(const OuterRepository& repository, const std::vector<Rule>& rules, RepositoryHold how)
      : repository_(repository), rules_(rules), how_(how) {}
  RepositoryRules run();

 private:
  bool stays_outside() const;
  View view_at(std::string_view path) const { return policy::decide(rules_, policy::Access::kWrite, path).view; }
  void add(Verb verb, std::string path);
  void add_shared();
  void hold(const std::string& directory, std::span<const std::string_view> names);

  const OuterRepository& repository_;
  const std::vector<Rule>& rules_;
  const RepositoryHold how_;
  RepositoryRules found_;
};

bool is_real_directory(const std::string& path) {
  const auto found = canonical_path(path);
  return found && found->type == plan::FileType::kDirectory && found->path == path;
}

RepositoryRules RepositoryPlanner::run() {
  using enum OuterRepository::Kind;
  if (stays_outside()) return {};
  add(Verb::kAllowRead, repository_.git);
  if (view_at(repository_.work_tree) != View::kReadWrite) return std::move(found_);
  if (repository_.kind == kSubmodule) {
    add(Verb::kAllowWrite, repository_.git);
    hold(repository_.git, kHeldOfModule);
    return std::move(found_);
  }
  add_shared();
  add(Verb::kAllowWrite, repository_.own);
  hold(repository_.git, kHeld);
  hold(repository_.own, kHeldOfOwn);
  return std::move(found_);
}

bool RepositoryPlanner::stays_outside() const {
  const std::string& git = repository_.git;
  const View tree = view_at(repository_.work_tree);
  if (repository_.kind == OuterRepository::Kind::kPart) return true;
  if (repository_.linked_by != OuterRepository::LinkedBy::kUser) return true;
  if (tree != View::kReadWrite && tree != View::kReadOnly) return true;
  // A name ends lines that hutch prints, and git's own files.
  if (printable(git) != git) return true;
  // Only a directory with such a name is a repository for sure: a process of a sandbox can make one of any directory
  // that it may write, although a rule closes parts of it.
  if (!git.ends_with("/.git") && !git.contains("/.git/modules/")) return true;
  if (!is_real_directory(cat({git, "/objects"})) || !is_real_directory(cat({git, "/refs"}))) return true;
  const View there = view_at(cat({git, "/objects"}));
  if (there == View::kReadWrite || (there == View::kReadOnly && tree == View::kReadOnly)) return true;
  return std::ranges::any_of(rules_, [&](const Rule& rule) {
    const bool hides = rule.verb == Verb::kDenyRead || (rule.verb == Verb::kPlace && rule.origin != Origin::kBuiltIn);
    return hides && is_within(git, rule.path) && !is_within(repository_.work_tree, rule.path);
  });
}

void RepositoryPlanner::add(Verb verb, std::string path) {
  const bool is_worktree = repository_.kind == OuterRepository::Kind::kLinkedWorktree;
  found_.rules.push_back(
      {.verb = verb,
       .origin = Origin::kRepository,
       .path = std::move(path),
       .where = std::string(is_worktree ? policy::kRepositoryOfWorktree : policy::kRepositoryOfSubmodule)});
}

// By names, all of the directory is writable but for what a rule holds: git makes its temporary files there.
void RepositoryPlanner::add_shared() {
  const std::string& git = repository_.git;
  plan::NameRule others{.pattern = cat({policy::escape_wildcards(git), "/*"}),
                        .rule = std::string(policy::kRepositoryOfWorktree),
                        .except = {},
                        .lifted = {}};
  for (const std::string_view name : kShared) {
    std::string path = cat({git, "/", name});
    const bool is_there = is_real_directory(path);
    if (is_there) add(Verb::kAllowWrite, path);
    // With this directory, git takes resolutions of conflicts from it, in every work tree (rerere.enabled).
    if (is_there || name != "rr-cache") others.lifted.push_back(std::move(path));
  }
  for (const std::string_view name : kSharedFiles) others.lifted.push_back(cat({git, "/", name}));
  // The supervisor judges what git has written there before it becomes the configuration.
  others.lifted.push_back(cat({git, "/config.lock"}));
  // git writes a file that an entry of the user allows to a lock first.
  for (const Rule& rule : rules_) {
    if (rule.verb == Verb::kAllowWrite && is_within(rule.path, git)) others.lifted.push_back(cat({rule.path, ".lock"}));
  }
  if (how_.git_config == policy::GitConfig::kWritable) {
    for (const std::string_view name : {"config", "config.lock", "config.worktree", "config.worktree.lock"}) {
      others.lifted.push_back(cat({git, "/", name}));
    }
  }
  if (how_.by == HeldBy::kMounts) return;
  add(Verb::kAllowWrite, git);
  found_.names.push_back(std::move(others));
}

void RepositoryPlanner::hold(const std::string& directory, std::span<const std::string_view> names) {
  const bool is_open = how_.git_config == policy::GitConfig::kWritable;
  for (const std::string_view name : names) {
    if (!is_open || !name.starts_with("config")) add(Verb::kDenyWrite, cat({directory, "/", name}));
  }
}

}  // namespace

RepositoryRules repository_rules(const OuterRepository& repository, const std::vector<Rule>& rules,
                                 RepositoryHold how) {
  return RepositoryPlanner(repository, rules, how).run();
}

}  // namespace hutch::host
