// Keeps the lists of commits that the references of repositories have named.
#include "service/git_commits.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <ranges>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "sys/beneath.h"
#include "sys/birth.h"
#include "sys/delegate.h"
#include "sys/files.h"
#include "sys/journal.h"
#include "sys/tree.h"

namespace hutch::service {

namespace {

constexpr std::size_t kReferencesMax = 50'000;
constexpr std::size_t kWorktreesMax = 1000;
constexpr int kReferenceDepthMax = 16;
constexpr std::size_t kHeadBytesMax = 1 << 20;
constexpr std::size_t kPackedBytesMax = 16 << 20;
constexpr std::size_t kStashLogBytesMax = 1 << 20;

// Files of git that name a commit for the next command (gitrepository-layout(5), gitrevisions(7)).
constexpr std::array<std::string_view, 8> kPassing = {"ORIG_HEAD",   "FETCH_HEAD",  "MERGE_HEAD",  "CHERRY_PICK_HEAD",
                                                      "REVERT_HEAD", "REBASE_HEAD", "BISECT_HEAD", "AUTO_MERGE"};

class ReferenceSearch {
 public:
  explicit ReferenceSearch(ReferenceKinds kinds) : kinds_(kinds) {}
  NamedCommits of(const std::string& repository);

 private:
  void take(std::string_view text);
  void take_lines(const std::string& path, std::size_t bytes_max);
  void take_file(const std::string& path);
  void walk(const std::string& directory, int depth);
  void take_heads(const std::string& directory);

  const ReferenceKinds kinds_;
  NamedCommits found_;
  std::size_t files_ = 0;
};

NamedCommits ReferenceSearch::of(const std::string& repository) {
  take_heads(repository);
  walk(cat({repository, "/refs"}), 0);
  take_lines(cat({repository, "/packed-refs"}), kPackedBytesMax);
  take_lines(cat({repository, "/logs/refs/stash"}), kStashLogBytesMax);
  const std::string worktrees = cat({repository, "/worktrees"});
  const auto listing = sys::open_listing(worktrees);
  const auto names = listing ? sys::names_in(listing->get(), worktrees) : Result<std::vector<sys::TreeEntry>>();
  if (listing && names) {
    if (names->size() > kWorktreesMax) found_.references = plan::References::kTooMany;
    for (const sys::TreeEntry& entry : *names | std::views::take(kWorktreesMax)) {
      take_heads(cat({worktrees, "/", entry.name}));
    }
  }
  return std::move(found_);
}

void ReferenceSearch::take_heads(const std::string& directory) {
  take_file(cat({directory, "/HEAD"}));
  if (kinds_ == ReferenceKinds::kLasting) return;
  for (const std::string_view name : kPassing) take_lines(cat({directory, "/", name}), kHeadBytesMax);
}

void ReferenceSearch::walk(const std::string& directory, int depth) {
  const auto listing = sys::open_listing(directory);
  if (!listing) return;
  const auto names = sys::names_in(listing->get(), directory);
  if (!names || depth > kReferenceDepthMax) return (void)(found_.references = plan::References::kTooMany);
  for (const sys::TreeEntry& entry : *names) {
    const std::string path = cat({directory, "/", entry.name});
    if (++files_ > kReferencesMax) return (void)(found_.references = plan::References::kTooMany);
    if (entry.kind == sys::EntryKind::kDirectory) walk(path, depth + 1);
    if (entry.kind != sys::EntryKind::kDirectory) take_file(path);
  }
}

void ReferenceSearch::take_file(const std::string& path) {
  const auto text = sys::regular_file_text(path, kHeadBytesMax);
  if (text) take(*text);
}

// Each name in a line counts: the target of a tag ("^NAME") and both of a line in a log do too.
void ReferenceSearch::take_lines(const std::string& path, std::size_t bytes_max) {
  const auto text = sys::regular_file_text(path, bytes_max);
  if (!text && sys::exists(path)) found_.references = plan::References::kTooMany;
  if (!text) return;
  for (std::string_view line : split(*text, '\n')) {
    if (line.starts_with('^')) line.remove_prefix(1);
    take(line);
    const std::size_t space = line.find(' ');
    if (space != line.npos) take(line.substr(space + 1));
  }
}

void ReferenceSearch::take(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  const std::size_t size = std::min(text.find_first_not_of(kDigits), text.size());
  const bool is_none = text.substr(0, size).find_first_not_of('0') == text.npos;
  if ((size != 40 && size != 64) || is_none) return;
  if (found_.names.size() >= kReferencesMax) return (void)(found_.references = plan::References::kTooMany);
  found_.names.emplace(text.substr(0, size));
}

// Held by this process alone until it is closed.
struct List {
  UniqueFd file;
  plan::KnownCommits known;
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
  list.known = plan::read_known_commits(TRY(sys::read_at(list.file.get(), 0, plan::kKnownCommitsBytesMax + 1)));
  return list;
}

}  // namespace

NamedCommits commits_at_references(const std::string& repository, ReferenceKinds kinds) {
  return ReferenceSearch(kinds).of(repository);
}

sandbox::AccessRules::Committed committed_files(const store::SettingsFile& file) {
  using enum sandbox::AccessRules::Committed;
  const auto settings = file.read();
  return settings && settings->security.git_brings_committed ? kLands : kHeldBack;
}

void GitCommits::begins(const std::vector<std::string>& repositories,
                        const std::function<plan::OtherRuns(const std::string& repository)>& others) {
  if (repositories.empty() || !sys::make_private_directories(directory_)) return;
  for (const std::string& repository : repositories) {
    const auto path = list_path(directory_, repository);
    if (!path || begun_.contains(repository)) continue;
    const auto list = open_list(*path);
    if (!list || list->known.is_broken) continue;
    const NamedCommits found = commits_at_references(repository, ReferenceKinds::kLasting);
    const std::string lines = plan::lines_at_start(list->known, found.names, others(repository));
    if (sys::append(list->file.get(), lines)) begun_.insert(repository);
  }
}

bool GitCommits::note(const std::vector<std::string>& repositories) const {
  bool all = true;
  for (const std::string& repository : repositories) all = note_one(repository, Ends::kNo) && all;
  return all;
}

bool GitCommits::note_one(const std::string& repository, Ends ends) const {
  const auto path = list_path(directory_, repository);
  if (!path || !sys::make_private_directories(directory_)) return false;
  const auto list = open_list(*path);
  if (!list) return false;
  if (list->known.is_broken) return true;
  const NamedCommits found = commits_at_references(repository, ReferenceKinds::kAlsoPassing);
  std::string lines = plan::lines_of_run(list->known, found.names, found.references);
  if (ends == Ends::kYes) lines += plan::kEndOfRun;
  return lines.empty() || sys::append(list->file.get(), lines).has_value();
}

GitCommits::~GitCommits() {
  for (const std::string& repository : begun_) (void)note_one(repository, Ends::kYes);
}

}  // namespace hutch::service
