// Looks for a content in the user's commits.
#include "plan/git/contents.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "plan/git/authored.h"

namespace hutch::plan {

namespace {

using enum GitTreeLookup::Found;

constexpr std::uint32_t kGitTreeMode = 040000;
constexpr int kTagsMax = 8;             // a tag may name a tag
constexpr std::size_t kObjectsMax = 50'000;  // held in memory
constexpr std::size_t kCommitsMax = 200'000;  // likewise
constexpr std::uint64_t kHeldBytesMax = 64 << 20;

}  // namespace

GitContents::GitContents(KnownCommits known, ReadGitObject read, Limits limits)
    : known_(std::move(known)), read_(std::move(read)), limits_(std::move(limits)) {
  for (std::size_t i = 0; i < known_.commits.size(); ++i) {
    const KnownCommit& commit = known_.commits[i];
    if (commit.whose == KnownCommit::Whose::kSandboxes) {
      of_sandboxes_.try_emplace(*git_name_of_hex(commit.name, hash_of(commit)), i);
    }
  }
}

GitContents::Found GitContents::find(std::string_view path, std::uint32_t mode, std::string_view content) {
  if (known_.is_broken || !is_brought_name(path)) return Found::kNo;
  if (commits_.size() > kCommitsMax) commits_.clear();
  for (const GitHash hash : {GitHash::kSha1, GitHash::kSha256}) {
    const GitTreeEntry wanted{mode, git_object_name({GitObjectKind::kBlob, std::string(content)}, hash)};
    const std::size_t end = first_of_sandboxes(path, wanted);
    if (has_at_reference(path, wanted, hash, end)) return Found::kAtReference;
    if (is_older(path, wanted, hash, end)) return Found::kOlder;
  }
  return Found::kNo;
}

bool GitContents::is_at_reference(std::string_view path, std::uint32_t mode, std::string_view content) {
  if (known_.is_broken || !is_brought_name(path)) return false;
  for (const GitHash hash : {GitHash::kSha1, GitHash::kSha256}) {
    const GitTreeEntry wanted{mode, git_object_name({GitObjectKind::kBlob, std::string(content)}, hash)};
    if (has_at_reference(path, wanted, hash, first_of_sandboxes(path, wanted))) return true;
  }
  return false;
}

// The latest first.
bool GitContents::has_at_reference(std::string_view path, const GitTreeEntry& wanted, GitHash hash, std::size_t end) {
  for (std::size_t i = end; i-- > 0;) {
    const KnownCommit& known = known_.commits[i];
    if (known.whose != KnownCommit::Whose::kUsers || hash_of(known) != hash) continue;
    if (!limits_.has_time()) return false;
    const std::string name = peeled(*git_name_of_hex(known.name, hash), hash);
    if (!is_of_sandbox_before(name, i) && is_it(name, path, wanted, hash)) return true;
  }
  return false;
}

GitContents::AtReferences GitContents::at_references(std::string_view path) {
  AtReferences at;
  if (known_.is_broken) return at;
  for (const KnownCommit& known : known_.commits) {
    if (known.whose != KnownCommit::Whose::kUsers || (at.is_somewhere && at.is_missing)) continue;
    if (!limits_.has_time()) return {};
    const GitHash hash = hash_of(known);
    const Entry found = entry_at(peeled(*git_name_of_hex(known.name, hash), hash), path, hash);
    at.is_missing = at.is_missing || found.found == kNo;
    at.is_somewhere = at.is_somewhere || (found.found == kYes && found.entry.mode != kGitTreeMode);
  }
  return at;
}

GitHash GitContents::hash_of(const KnownCommit& commit) const {
  return commit.name.size() == 2 * static_cast<std::size_t>(GitHash::kSha1) ? GitHash::kSha1 : GitHash::kSha256;
}

// The user may have committed what a sandbox had put into the index, or has made a tag for its commit: such a commit is
// no evidence for a content that a run has left. Returns how many commits were known before that.
std::size_t GitContents::first_of_sandboxes(std::string_view path, const GitTreeEntry& wanted) const {
  const auto left = known_.authored.find(authored_key(path, wanted.mode, wanted.object));
  return left != known_.authored.end() ? left->second : known_.commits.size();
}

bool GitContents::is_of_sandbox_before(std::string_view name, std::size_t position) const {
  const auto theirs = of_sandboxes_.find(name);
  return theirs != of_sandboxes_.end() && theirs->second < position;
}

// The latest commits come first. A sandbox's commit that was there before the reference leads no further: neither it
// nor what only it leads to is the user's.
bool GitContents::is_older(std::string_view path, const GitTreeEntry& wanted, GitHash hash, std::size_t end) {
  struct Step {
    std::int64_t committed = 0;
    std::size_t position = 0;  // of the reference that led there
    std::string name;
    bool operator<(const Step& other) const { return committed < other.committed; }
  };
  std::priority_queue<Step> steps;
  std::map<std::string, std::size_t, std::less<>> seen;
  const auto add = [&](std::string name, std::size_t position) {
    if (is_of_sandbox_before(name, position)) return;
    const auto [at, inserted] = seen.try_emplace(name, position);
    if (!inserted && at->second <= position) return;
    at->second = position;
    const GitCommit* found = commit(name, hash);
    if (found != nullptr) steps.push({found->committed, position, std::move(name)});
  };
  for (std::size_t i = 0; i < end; ++i) {
    const KnownCommit& known = known_.commits[i];
    const bool counts = known.whose == KnownCommit::Whose::kUsers && hash_of(known) == hash;
    if (counts) add(peeled(*git_name_of_hex(known.name, hash), hash), i);
  }
  for (std::size_t left = limits_.commits_max; !steps.empty() && left > 0; --left) {
    if (!limits_.has_time()) return false;
    const Step step = steps.top();
    steps.pop();
    if (is_it(step.name, path, wanted, hash)) return true;
    const GitCommit* found = commit(step.name, hash);
    if (found == nullptr) continue;
    for (const std::string& parent : found->parents) add(parent, step.position);
  }
  return false;
}

bool GitContents::is_it(std::string_view commit_name, std::string_view path, const GitTreeEntry& wanted, GitHash hash) {
  const Entry found = entry_at(commit_name, path, hash);
  return found.found == kYes && git_plain_mode(found.entry.mode) == wanted.mode && found.entry.object == wanted.object;
}

GitContents::Entry GitContents::entry_at(std::string_view commit_name, std::string_view path, GitHash hash) {
  const GitCommit* from = commit(commit_name, hash);
  if (from == nullptr) return {};
  std::string tree = from->tree;
  for (;;) {
    const std::size_t slash = path.find('/');
    const GitObject* object_there = object(tree, hash);
    if (object_there == nullptr || object_there->kind != GitObjectKind::kTree) return {};
    GitTreeLookup found = find_in_git_tree(object_there->bytes, path.substr(0, slash), hash);
    if (found.found != kYes || slash == path.npos) return {found.found, std::move(found.entry)};
    // A file in the place of a directory.
    if (found.entry.mode != kGitTreeMode) return {kNo, {}};
    tree = std::move(found.entry.object);
    path.remove_prefix(slash + 1);
  }
}

std::string GitContents::peeled(std::string_view name, GitHash hash) {
  std::string at(name);
  for (int i = 0; i < kTagsMax; ++i) {
    const GitObject* found = object(at, hash);
    if (found == nullptr || found->kind != GitObjectKind::kTag) return at;
    auto named = read_git_tag(found->bytes, hash);
    if (!named) return at;
    at = std::move(*named);
  }
  return at;
}

const GitCommit* GitContents::commit(std::string_view name, GitHash hash) {
  const auto known = commits_.find(name);
  if (known != commits_.end()) return known->second ? &*known->second : nullptr;
  const GitObject* found = object(name, hash);
  // It may be there later.
  if (found == nullptr) return nullptr;
  const bool is_commit = found->kind == GitObjectKind::kCommit;
  auto read = is_commit ? read_git_commit(found->bytes, hash) : std::optional<GitCommit>();
  objects_.erase(std::string(name));
  const auto [at, inserted] = commits_.emplace(std::string(name), std::move(read));
  return at->second ? &*at->second : nullptr;
}

// Only what has the sum that its name says. What the store lacks now may be there later.
const GitObject* GitContents::object(std::string_view name, GitHash hash) {
  const auto known = objects_.find(name);
  if (known != objects_.end()) return &known->second;
  auto found = read_(name);
  if (!found || git_object_name(*found, hash) != name) return nullptr;
  if (objects_.size() >= kObjectsMax || held_bytes_ > kHeldBytesMax) {
    objects_.clear();
    held_bytes_ = 0;
  }
  held_bytes_ += found->bytes.size();
  const auto [at, inserted] = objects_.emplace(std::string(name), std::move(*found));
  return &at->second;
}

}  // namespace hutch::plan
