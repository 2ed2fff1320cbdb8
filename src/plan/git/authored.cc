// Lists what the commits and trees of a run have at protected names.
#include "plan/git/authored.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <queue>

#include "base/text.h"
#include "policy/obeyed/obeyed.h"

namespace hutch::plan {

namespace {

using Outcome = GitAuthoredSearch::Outcome;
using Found = GitObjectAnswer::Found;

constexpr std::uint32_t kAuthoredTreeMode = 040000;
constexpr int kAuthoredTagsMax = 8;
constexpr std::size_t kPathBytesMax = 4096;
constexpr std::size_t kPlainlyNewMax = 64;
constexpr std::size_t kKnownTipsMax = 5000;
constexpr std::size_t kHeldObjectsMax = 4096;

Outcome worse(Outcome a, Outcome b) { return std::max(a, b); }

Outcome outcome_of(Found found) {
  switch (found) {
    case Found::kYes: return Outcome::kAll;
    case Found::kNo: return Outcome::kLacking;
    case Found::kUnreadable: break;
  }
  return Outcome::kUnknown;
}

}  // namespace

bool is_brought_name(std::string_view path) {
  return std::ranges::any_of(policy::obeyed_at(cat({"/", path})), [](const policy::ObeyedAt& at) {
    return at.file->treatment == policy::ObeyedTreatment::kHeld;
  });
}

GitAuthoredSearch::GitAuthoredSearch(std::vector<std::string> known, LookUpGitObject look_up, Limits limits)
    : known_(known.begin(), known.end()),
      known_in_order_(std::move(known)),
      look_up_(std::move(look_up)),
      limits_(std::move(limits)) {}

Outcome GitAuthoredSearch::add(std::string_view name, GitHash hash) {
  const Peeled peeled_to = peeled(name, hash);
  if (peeled_to.outcome != Outcome::kAll) return peeled_to.outcome;
  if (peeled_to.kind == GitObjectKind::kTree) return list_tree(peeled_to.name, "", {}, hash);
  if (peeled_to.kind != GitObjectKind::kCommit) return Outcome::kAll;
  Commits commits = plainly_new(peeled_to.name, hash);
  if (commits.outcome != Outcome::kAll) commits = new_commits(peeled_to.name, hash);
  Outcome all = commits.outcome;
  for (const std::string& commit : commits.names) {
    if (listed_.contains(commit)) continue;
    const Outcome listed = list_commit(commit, hash);
    if (listed == Outcome::kAll) listed_.insert(commit);
    all = worse(all, listed);
  }
  return all;
}

void GitAuthoredSearch::compare_with(const std::vector<std::string>& commits, GitHash hash) {
  for (const std::string& name : commits) {
    if (!known_.contains(name) && !listed_.contains(name)) continue;
    const Read there = read(name, hash);
    const auto commit = there.object != nullptr ? read_git_commit(there.object->bytes, hash) : std::nullopt;
    if (commit) compared_.push_back(commit->tree);
  }
}

Outcome GitAuthoredSearch::add_tree(std::string_view name, const std::string& path, GitHash hash) {
  return list_tree(std::string(name), path, trees_at(path, hash), hash);
}

std::vector<std::string> GitAuthoredSearch::trees_at(std::string_view path, GitHash hash) {
  std::vector<std::string> trees = compared_;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty()) continue;
    std::vector<std::string> below;
    for (const GitTreeFile& file : base_files(trees, hash)) {
      if (file.name == part && file.mode == kAuthoredTreeMode) below.push_back(file.object);
    }
    trees = std::move(below);
  }
  return trees;
}

Outcome GitAuthoredSearch::add_file(std::string_view path, std::uint32_t mode, std::string_view object) {
  if (!is_brought_name(path)) return Outcome::kAll;
  if (path.size() > kPathBytesMax || found_.size() >= limits_.found_max) return Outcome::kUnknown;
  found_.insert({std::string(path), git_plain_mode(mode), std::string(object)});
  return Outcome::kAll;
}

// Ordinarily a run adds a few commits to known ones. kUnknown: it is not so simple.
GitAuthoredSearch::Commits GitAuthoredSearch::plainly_new(const std::string& name, GitHash hash) {
  Commits commits;
  std::vector<std::string> left{name};
  std::set<std::string> seen;
  while (!left.empty()) {
    const std::string at = std::move(left.back());
    left.pop_back();
    if (known_.contains(at) || listed_.contains(at) || !seen.insert(at).second) continue;
    const Read there = read(at, hash);
    const auto commit = there.object != nullptr ? read_git_commit(there.object->bytes, hash) : std::nullopt;
    if (!commit || commit->parents.empty() || seen.size() > kPlainlyNewMax) return {Outcome::kUnknown, {}};
    left.insert(left.end(), commit->parents.begin(), commit->parents.end());
    commits.names.push_back(at);
  }
  return commits;
}

// As git-rev-list(1) has it, with the known commits excluded: the latest first, until only known ones are left.
GitAuthoredSearch::Commits GitAuthoredSearch::new_commits(const std::string& name, GitHash hash) {
  struct Step {
    std::int64_t committed = 0;
    std::string name;
    bool operator<(const Step& other) const { return committed < other.committed; }
  };
  Commits commits;
  std::priority_queue<Step> steps;
  enum class Side { kNew, kKnown };
  std::map<std::string, Side> sides;  // of each commit that was seen
  std::map<std::string, Side> done;
  std::size_t new_left = 0;  // steps to commits that are not known so far
  std::vector<std::string> order;
  const auto add = [&](const std::string& at, Side side) {
    const auto [place, inserted] = sides.try_emplace(at, side);
    if (!inserted && (place->second == Side::kKnown || side == Side::kNew)) return Outcome::kAll;
    if (!inserted && !done.contains(at)) --new_left;
    place->second = side;
    const Read there = read(at, hash);
    const auto commit = there.object != nullptr ? read_git_commit(there.object->bytes, hash) : std::nullopt;
    if (!commit && !inserted) return Outcome::kUnknown;
    if (!commit && side == Side::kKnown) return Outcome::kAll;
    if (!commit) return there.object != nullptr ? Outcome::kUnknown : outcome_of(there.found);
    steps.push({commit->committed, at});
    if (side == Side::kNew) ++new_left;
    return Outcome::kAll;
  };
  const auto side_of = [&](const std::string& at) { return listed_.contains(at) ? Side::kKnown : Side::kNew; };
  const std::size_t tips = std::min(known_in_order_.size(), kKnownTipsMax);
  for (std::size_t i = known_in_order_.size() - tips; i < known_in_order_.size(); ++i) {
    if (known_in_order_[i].size() != static_cast<std::size_t>(hash)) continue;
    const Peeled tip = peeled(known_in_order_[i], hash);
    if (tip.outcome == Outcome::kAll && tip.kind == GitObjectKind::kCommit) (void)add(tip.name, Side::kKnown);
  }
  commits.outcome = add(name, side_of(name));
  while (!steps.empty() && new_left > 0) {
    const Step step = steps.top();
    steps.pop();
    const Side side = sides.at(step.name);
    const auto before = done.find(step.name);
    if (before != done.end() && before->second == side) continue;
    if (side == Side::kNew) --new_left;
    if (side == Side::kNew) order.push_back(step.name);
    done[step.name] = side;
    const Read there = read(step.name, hash);
    const auto commit = there.object != nullptr ? read_git_commit(there.object->bytes, hash) : std::nullopt;
    if (!commit || ++commits_read_ > limits_.commits_max) return {Outcome::kUnknown, std::move(order)};
    for (const std::string& parent : commit->parents) {
      commits.outcome = worse(commits.outcome, add(parent, side == Side::kKnown ? side : side_of(parent)));
    }
  }
  std::ranges::copy_if(order, std::back_inserter(commits.names),
                       [&](const auto& one) { return sides.at(one) == Side::kNew; });
  return commits;
}

// Only what differs from each parent: that was listed, or is the user's, or is lacking.
Outcome GitAuthoredSearch::list_commit(const std::string& name, GitHash hash) {
  const Read there = read(name, hash);
  const auto commit = there.object != nullptr ? read_git_commit(there.object->bytes, hash) : std::nullopt;
  if (!commit) return there.object != nullptr ? Outcome::kUnknown : outcome_of(there.found);
  std::vector<std::string> bases;
  for (const std::string& parent : commit->parents) {
    const Read of_parent = read(parent, hash);
    const auto before = of_parent.object != nullptr ? read_git_commit(of_parent.object->bytes, hash) : std::nullopt;
    if (before) bases.push_back(before->tree);
  }
  return list_tree(commit->tree, "", bases, hash);
}

Outcome GitAuthoredSearch::list_tree(const std::string& name, const std::string& path,
                                     const std::vector<std::string>& bases, GitHash hash) {
  if (std::ranges::find(bases, name) != bases.end() || trees_.contains({name, path})) return Outcome::kAll;
  if (++trees_read_ > limits_.trees_max || path.size() > kPathBytesMax || is_spent()) return Outcome::kUnknown;
  const Read there = read(name, hash);
  if (there.object == nullptr) return outcome_of(there.found);
  const auto files = there.object->kind == GitObjectKind::kTree ? git_tree_files(there.object->bytes, hash)
                                                                : std::optional<std::vector<GitTreeFile>>();
  if (!files) return Outcome::kUnknown;
  const std::vector<GitTreeFile> before = base_files(bases, hash);
  Outcome all = Outcome::kAll;
  for (const GitTreeFile& file : *files) {
    if (std::ranges::binary_search(before, file)) continue;
    const std::string at = cat({path, file.name});
    if (file.mode != kAuthoredTreeMode) {
      all = worse(all, add_file(at, file.mode, file.object));
      continue;
    }
    std::vector<std::string> below;
    for (auto one = std::ranges::lower_bound(before, file.name, {}, &GitTreeFile::name);
         one != before.end() && one->name == file.name; ++one) {
      if (one->mode == kAuthoredTreeMode) below.push_back(one->object);
    }
    all = worse(all, list_tree(file.object, cat({at, "/"}), below, hash));
  }
  if (all == Outcome::kAll && bases.empty()) trees_.emplace(name, path);
  return all;
}

std::vector<GitTreeFile> GitAuthoredSearch::base_files(const std::vector<std::string>& bases, GitHash hash) {
  std::vector<GitTreeFile> all;
  for (const std::string& base : bases) {
    const Read there = read(base, hash);
    const bool is_tree = there.object != nullptr && there.object->kind == GitObjectKind::kTree;
    auto files = is_tree ? git_tree_files(there.object->bytes, hash) : std::optional<std::vector<GitTreeFile>>();
    if (files) std::ranges::move(*files, std::back_inserter(all));
  }
  std::ranges::sort(all);
  return all;
}

GitAuthoredSearch::Peeled GitAuthoredSearch::peeled(std::string_view name, GitHash hash) {
  std::string at(name);
  for (int i = 0; i < kAuthoredTagsMax; ++i) {
    if (known_.contains(at) && i > 0) return {Outcome::kAll, at, GitObjectKind::kCommit};
    const Read there = read(at, hash);
    if (there.object == nullptr) return {outcome_of(there.found), {}};
    if (there.object->kind != GitObjectKind::kTag) return {Outcome::kAll, at, there.object->kind};
    auto named = read_git_tag(there.object->bytes, hash);
    if (!named) return {Outcome::kUnknown, {}};
    at = std::move(*named);
  }
  return {Outcome::kUnknown, {}};
}

// Another content than the name says is one that git would take all the same.
GitAuthoredSearch::Read GitAuthoredSearch::read(std::string_view name, GitHash hash) {
  const auto held = objects_.find(name);
  if (held != objects_.end()) return {Found::kYes, &held->second};
  if (is_spent()) return {Found::kUnreadable, nullptr};
  GitObjectAnswer answer = look_up_(name);
  if (answer.found != Found::kYes) return {answer.found, nullptr};
  bytes_read_ += answer.object.bytes.size();
  if (git_object_name(answer.object, hash) != name) return {Found::kUnreadable, nullptr};
  if (objects_.size() >= kHeldObjectsMax) objects_.clear();
  const auto [at, inserted] = objects_.emplace(std::string(name), std::move(answer.object));
  return {Found::kYes, &at->second};
}

bool GitAuthoredSearch::is_spent() const { return bytes_read_ > limits_.bytes_max || !limits_.has_time(); }

}  // namespace hutch::plan
