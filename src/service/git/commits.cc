// Keeps the lists of commits that the references of repositories have named.
#include "service/git/commits.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "plan/git/authored.h"
#include "sandbox/run/git_objects.h"
#include "service/common/programs.h"
#include "service/git/indexes.h"
#include "service/git/references.h"
#include "service/git/run_mark.h"
#include "sys/files/beneath.h"
#include "sys/files/birth.h"
#include "sys/files/delegate.h"
#include "sys/files/files.h"
#include "sys/files/journal.h"

namespace hutch::service {

namespace {

constexpr std::chrono::seconds kListingTime{5};
constexpr std::size_t kNotListedMax = 1000;

// Held by this process alone until it is closed.
struct List {
  UniqueFd file;
  plan::KnownCommits known;
  std::size_t size = 0;
};

std::optional<std::string> list_path(const std::string& directory, const std::string& repository) {
  const auto opened = sys::open_exact(repository);
  const auto what = opened ? sys::look_at(opened->get()) : Result<sys::Resolved>(sys::Resolved());
  const auto birth = opened ? sys::birth_ns(opened->get(), ".") : Result<std::int64_t>(0);
  if (!opened || !what || !birth) return std::nullopt;
  return cat({directory, "/", plan::known_commits_file(what->device, what->inode, *birth)});
}

Result<List> open_list(const std::string& path) {
  List list{TRY(sys::open_journal(path)), {}};
  TRY(sys::lock_journal(list.file.get()));
  const std::string text = TRY(sys::read_at(list.file.get(), 0, plan::kKnownCommitsBytesMax + 1));
  list.size = text.size();
  list.known = plan::read_known_commits(text);
  return list;
}

// Appends to a list what is known by then. One that is full takes no name any more: what it lacks is nobody's.
Status add_lines(List& list, const std::string& lines) {
  static constexpr std::size_t kKept = 64 << 10;  // for the lines of runs
  const bool is_full = list.size + lines.size() > plan::kKnownCommitsBytesMax - (lines.size() > 4 ? kKept : 0);
  const std::string_view added = is_full ? plan::kInDoubt : std::string_view(lines);
  TRY(sys::append(list.file.get(), added));
  list.size += added.size();
  if (is_full) list.known.is_in_doubt = true;
  return {};
}

// Lists what commits of sandboxes have at protected names. The store is asked only if there is something new.
class RunListing {
 public:
  RunListing(std::string repository, const plan::KnownCommits& known)
      : repository_(std::move(repository)),
        until_(std::chrono::steady_clock::now() + kListingTime),
        search_(plan::known_ends(known), [this](std::string_view name) { return look_up(name); },
                {.has_time = [this] { return std::chrono::steady_clock::now() < until_; }}) {}

  void add(const std::vector<std::string>& names);  // in bytes
  void compare_with(const std::vector<std::string>& names);  // in hexadecimal
  void add(const IndexesLeft& indexes);
  bool is_in_doubt() const { return is_in_doubt_; }
  std::string lines(const plan::KnownCommits& known) const {
    return plan::lines_of_authored(known, search_.found()) + plan::lines_of_listed(known, listed_);
  }

 private:
  using Outcome = plan::GitAuthoredSearch::Outcome;
  plan::GitObjectAnswer look_up(std::string_view name);
  void take(Outcome outcome) { is_in_doubt_ = is_in_doubt_ || outcome == Outcome::kUnknown; }
  static plan::GitHash hash_of(std::string_view name) {
    return name.size() == static_cast<std::size_t>(plan::GitHash::kSha1) ? plan::GitHash::kSha1
                                                                         : plan::GitHash::kSha256;
  }

  const std::string repository_;
  const std::chrono::steady_clock::time_point until_;
  std::optional<sandbox::GitObjectsProcess> store_;  // once it was needed
  plan::GitAuthoredSearch search_;
  std::set<std::string> listed_;
  bool is_in_doubt_ = false;
};

plan::GitObjectAnswer RunListing::look_up(std::string_view name) {
  using enum wire::GitObjectStream::Copies;
  if (!store_) {
    const auto program = guest_program();
    auto started = program ? sandbox::GitObjectsProcess::start(*program, repository_)
                           : Result<sandbox::GitObjectsProcess>(fail(program.error()));
    if (!started) return {plan::GitObjectAnswer::Found::kUnreadable, {}};
    store_.emplace(std::move(*started));
  }
  return store_->objects.look_up(name, kAllAlike, until_);
}

void RunListing::add(const std::vector<std::string>& names) {
  if (names.size() > kNotListedMax) is_in_doubt_ = true;
  for (std::size_t i = names.size() - std::min(names.size(), kNotListedMax); i < names.size(); ++i) {
    const Outcome outcome = search_.add(names[i], hash_of(names[i]));
    if (outcome == Outcome::kAll) listed_.insert(to_hex(names[i]));
    take(outcome);
  }
}

void RunListing::compare_with(const std::vector<std::string>& names) {
  for (const plan::GitHash hash : {plan::GitHash::kSha1, plan::GitHash::kSha256}) {
    std::vector<std::string> commits;
    for (const std::string& name : names) {
      if (auto bytes = plan::git_name_of_hex(name, hash)) commits.push_back(std::move(*bytes));
    }
    search_.compare_with(commits, hash);
  }
}

void RunListing::add(const IndexesLeft& indexes) {
  if (!indexes.are_all) is_in_doubt_ = true;
  static constexpr std::uint32_t kTreeMode = 040000;
  for (const plan::GitStaged& file : indexes.files) {
    const bool is_tree = file.mode == kTreeMode;
    take(is_tree ? search_.add_tree(file.object, file.name, hash_of(file.object))
                 : search_.add_file(file.name, file.mode, file.object));
  }
  for (const auto& tree : indexes.trees) take(search_.add_tree(tree.object, tree.path, hash_of(tree.object)));
}

// Says in `known` whether anything is in doubt, and adds a line for a new doubt.
std::string lines_of_listing(const std::string& repository, plan::KnownCommits& known, const IndexesLeft& indexes) {
  RunListing listing(repository, known);
  listing.add(plan::not_listed(known));
  if (!indexes.trees.empty() || !indexes.files.empty()) listing.compare_with(latest_heads(repository));
  listing.add(indexes);
  std::string lines = listing.lines(known);
  if (listing.is_in_doubt() && !known.is_in_doubt) lines += plan::kInDoubt;
  known.is_in_doubt = listing.is_in_doubt();
  return lines;
}

}  // namespace

GitCommits::GitCommits(std::string directory, Keeps keeps)
    : directory_(std::move(directory)),
      keeps_(keeps),
      start_ns_(std::chrono::duration_cast<std::chrono::nanoseconds>(
                    std::chrono::system_clock::now().time_since_epoch() - kClockStep)
                    .count()) {}

void GitCommits::begins(const std::vector<std::string>& repositories,
                        const std::function<plan::OtherRuns(const std::string& repository)>& others) {
  for (const std::string& repository : repositories) {
    if (begun_.contains(repository)) continue;
    const auto path = list_of(repository);
    if (!path || path->empty()) continue;
    auto list = open_list(*path);
    if (!list || list->known.is_broken) continue;
    const NamedCommits found = commits_at_references(repository);
    const plan::OtherRuns other_runs = others(repository);
    const plan::KnownCommit::Whose whose = plan::whose_at_start(list->known, other_runs);
    std::string lines = plan::lines_of_begin(list->known, other_runs);
    const std::string names = plan::add_names(list->known, found.names, whose);
    lines += names;
    const bool are_theirs = whose == plan::KnownCommit::Whose::kSandboxes;
    if (are_theirs && !names.empty()) lines += lines_of_listing(repository, list->known, {});
    if (!found.are_all && !list->known.is_in_doubt) lines += plan::kInDoubt;
    if (add_lines(*list, lines)) begun_.emplace(repository, commits_in_main_logs(repository).names);
  }
}

// Empty: none is kept.
std::optional<std::string> GitCommits::list_of(const std::string& repository) const {
  if (keeps_ == Keeps::kWhereBegun && !sys::exists(directory_)) return std::string();
  if (keeps_ == Keeps::kAll && !sys::make_private_directories(directory_)) return std::nullopt;
  auto path = list_path(directory_, repository);
  if (keeps_ == Keeps::kWhereBegun && path && !sys::exists(*path)) return std::string();
  return path;
}

bool GitCommits::note(const std::vector<std::string>& repositories, const Indexes& indexes, Ends ends) const {
  bool all = true;
  for (const std::string& repository : repositories) {
    const bool is_end = ends == Ends::kYes && begun_.contains(repository);
    all = note_one(repository, indexes, is_end ? Ends::kYes : Ends::kNo) && all;
    if (is_end) ended_.insert(repository);
  }
  return all;
}

// A doubt ends where everything that git could find by now has been listed.
bool GitCommits::note_one(const std::string& repository, const Indexes& indexes, Ends ends) const {
  const auto path = list_of(repository);
  if (!path) return false;
  if (path->empty()) return true;
  auto list = open_list(*path);
  if (!list) return false;
  plan::KnownCommits& known = list->known;
  if (known.is_broken) return true;
  const bool was_in_doubt = known.is_in_doubt;
  const auto begun = begun_.find(repository);
  const bool knows_earlier = begun != begun_.end() && !was_in_doubt;
  NamedCommits found = commits_in_passing(repository, knows_earlier ? start_ns_ : 0);
  if (knows_earlier) {
    for (const std::string& earlier : begun->second) found.names.erase(earlier);
  }
  NamedCommits at_references = commits_at_references(repository);
  found.names.merge(at_references.names);
  IndexesLeft left;
  if (indexes) left = indexes(repository, was_in_doubt ? WhichIndexes::kAll : WhichIndexes::kChanged);
  left.are_all = left.are_all && found.are_all && at_references.are_all;
  std::string lines = plan::add_names(known, found.names, plan::KnownCommit::Whose::kSandboxes);
  lines += lines_of_listing(repository, known, left);
  if (was_in_doubt && !known.is_in_doubt && !indexes) known.is_in_doubt = true;
  if (was_in_doubt && !known.is_in_doubt) lines += plan::kNoDoubt;
  if (ends == Ends::kYes) lines += plan::kEndOfRun;
  return lines.empty() || add_lines(*list, lines).has_value();
}

GitCommits::~GitCommits() {
  for (const auto& [repository, earlier] : begun_) {
    if (!ended_.contains(repository)) (void)note_one(repository, {}, Ends::kYes);
  }
}

}  // namespace hutch::service
