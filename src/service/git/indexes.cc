// Checks indexes of git that a command wrote.
#include "service/git/indexes.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/sha1.h"
#include "base/sha256.h"
#include "base/text.h"
#include "plan/git/authored.h"
#include "plan/git/objects.h"
#include "plan/paths/names.h"
#include "service/git/run_mark.h"
#include "service/git/work_tree.h"
#include "sys/files/beneath.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

// A command can make any number of repositories. In further ones all staged files count as new.
constexpr std::size_t kIndexesOpenMax = 64;

// Enough for some million files. The limit is for all indexes together, because a command can make any number of them.
constexpr std::size_t kIndexBytesMax = std::size_t{512} << 20;
constexpr std::size_t kStagedBytesMax = 4 << 20;
constexpr std::size_t kLongestSum = 32;
constexpr std::size_t kToldNamesMax = 16;

// Whether the text ends with the checksum that git writes, or with zeros (index.skipHash of git-config(1)).
bool has_own_sum(std::string_view text, plan::GitHash hash) {
  const auto size = static_cast<std::size_t>(hash);
  if (text.size() < size) return false;
  const std::string_view sum = text.substr(text.size() - size);
  const std::string_view content = text.substr(0, text.size() - size);
  if (sum.find_first_not_of('\0') == std::string_view::npos) return true;
  if (hash == plan::GitHash::kSha1) return sha1(content) == sum;
  Sha256 made;
  made.add(content);
  return std::move(made).finish() == to_hex(sum);
}

// The names that a command may not write in a work tree. There are none without `held`, or without a work tree.
class HeldNames {
 public:
  HeldNames(std::string work_tree, const plan::GuardedNames* held) : tree_(std::move(work_tree)), held_(held) {
    if (held_ != nullptr) may_be_denied_.emplace(*held_);
  }

  bool has(std::string_view name) {
    if (held_ == nullptr || tree_.empty() || !may_be_denied(name)) return false;
    return plan::denied_name(*held_, cat({tree_, "/", name})).has_value();
  }

 private:
  // Files of one directory follow each other, so the directory's name is checked once.
  bool may_be_denied(std::string_view name) {
    const std::size_t slash = name.rfind('/');
    if (slash == std::string_view::npos) return (*may_be_denied_)(name);
    if (name.substr(0, slash) != directory_) {
      directory_ = name.substr(0, slash);
      directory_may_be_ = (*may_be_denied_)(directory_);
    }
    return directory_may_be_ || (*may_be_denied_)(name.substr(slash + 1));
  }

  std::string tree_;
  const plan::GuardedNames* held_;
  std::optional<plan::MayBeDenied> may_be_denied_;
  std::string directory_;
  bool directory_may_be_ = false;
};

bool is_there(const std::string& file) {
  const auto status = sys::status_of(file);
  return !status || *status;
}

bool is_link(const std::string& file) {
  const auto status = sys::status_of(file);
  return status && *status && (*status)->kind == sys::EntryKind::kSymlink;
}

using CachedTrees = std::vector<plan::GitIndexReader::CachedTree>;

Result<CachedTrees> cached_trees_of(std::string_view index, plan::GitHash hash) {
  auto reader = TRY(plan::GitIndexReader::open(index, hash));
  while (TRY(reader.next())) {}
  return reader.cached_trees();
}

// Whether the work tree has that very content under the name.
bool is_in_work_tree(const std::string& tree, const plan::GitStaged& staged, plan::GitHash hash) {
  const std::string path = cat({tree, "/", staged.name});
  const bool links = !plan::is_file_mode(staged.mode);
  auto content = links ? sys::tree_link_text(path) : sys::regular_file_text(path, kStagedBytesMax);
  const auto status = sys::status_of(path);
  if (!content || !status || !*status) return false;
  const bool is_same_mode = links || ((*status)->mode & 0100) == (staged.mode & 0100);
  return is_same_mode &&
         plan::git_object_name({plan::GitObjectKind::kBlob, std::move(*content)}, hash) == staged.object;
}

}  // namespace

std::string GitIndexes::Found::text() const {
  const std::string index = printable(file);
  if (what == What::kUnknown) return cat({index, ", which the command wrote, could not be read as an index of git"});
  if (what == What::kOutside) {
    return cat({index, ", which the command wrote, has `git restore` write ", printable(names.front())});
  }
  std::string staged;
  for (const std::string& name : names) staged += cat({staged.empty() ? "" : ", ", printable(name)});
  return cat({index, " has ", staged, " now, which the command may not write: a checkout can be the reason; look with ",
              "`git diff --cached` before `git restore` writes it"});
}

GitIndexes::GitIndexes() {
  const auto now = std::chrono::system_clock::now().time_since_epoch() - kClockStep;
  start_ns_ = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

void GitIndexes::moved(const std::string& from, const std::string& to) {
  std::map<std::string, Before> now;
  for (auto& [file, before] : before_) now.insert_or_assign(path_after_move(file, from, to), std::move(before));
  before_ = std::move(now);
}

void GitIndexes::remember(const std::string& file, const sys::FileVersion& version) {
  Before& before = before_[file];
  before.version = version;
  auto place = sys::open_listing(file.substr(0, file.rfind('/')));
  auto opened = place ? sys::open_beneath(place->get(), "index", sys::Beneath::kReadExact) : std::move(place);
  const auto status = opened ? sys::file_status(opened->get(), "") : Result<sys::FileStatus>();
  if (open_ >= kIndexesOpenMax) return;
  if (!opened || !status || status->kind != sys::EntryKind::kFile || status->size < kLongestSum) return;
  auto end = sys::read_at(opened->get(), status->size - kLongestSum, kLongestSum);
  if (!end) return;
  before.file = std::move(*opened);
  ++open_;
  before.end = std::move(*end);
}

bool GitIndexes::is_as_before(const std::string& file) const {
  const auto now = sys::file_version(file);
  const auto before = before_.find(file);
  return now && before != before_.end() && before->second.version == *now;
}

GitIndexes::Look GitIndexes::look(const std::vector<std::string>& directories, const plan::GuardedNames& held) const {
  Look look;
  std::size_t left = kIndexBytesMax;
  for (const std::string& directory : directories) {
    const std::string file = cat({directory, "/index"});
    if (!is_there(file)) continue;
    // The target of a link may have changed. A link that the command made may lead to a device, and opening a device
    // can have an effect.
    const bool same = is_as_before(file);
    if (is_link(file) && !same) look.found.push_back({file, Found::What::kUnknown, {}});
    if (is_link(file) != same) continue;
    if (left == 0) look.is_complete = false;
    if (auto found = look_at(file, directory, left, held)) look.found.push_back(std::move(*found));
  }
  return look;
}

IndexesLeft GitIndexes::left_in(const std::vector<std::string>& directories, Which which) const {
  IndexesLeft all;
  std::size_t left = kIndexBytesMax;
  for (const std::string& directory : directories) add_left(directory, which, left, all);
  return all;
}

// In a split index an entry without a name has another object for one of the shared index.
void GitIndexes::add_left(const std::string& directory, Which which, std::size_t& left, IndexesLeft& all) const {
  static constexpr std::uint32_t kTreeMode = 040000;
  const auto counts = [](std::string_view name) {
    return name.empty() || name.ends_with('/') || plan::is_brought_name(name);
  };
  const std::string file = cat({directory, "/index"});
  if (!is_there(file) || (which == Which::kChanged && is_as_before(file))) return;
  const auto text = sys::regular_file_text(file, left);
  if (text) left -= text->size();
  if (text && plan::is_no_git_index(*text)) return;
  const plan::GitHash hash = git_object_hash(directory);
  auto look = text ? plan::look_at_git_index(*text, hash, counts) : Result<plan::GitIndexLook>(fail(text.error()));
  auto cached = look ? cached_trees_of(*text, hash) : Result<CachedTrees>(fail(look.error()));
  if (!cached) return (void)(all.are_all = false);
  if (!look->shared.empty()) {
    const auto whole = sys::regular_file_text(cat({directory, "/sharedindex.", look->shared}), left);
    if (whole) left -= whole->size();
    auto base = whole ? plan::look_at_git_index(*whole, hash, counts) : Result<plan::GitIndexLook>(fail(whole.error()));
    if (!base || !base->shared.empty()) return (void)(all.are_all = false);
    std::ranges::move(base->staged, std::back_inserter(look->staged));
  }
  if (which == Which::kChanged) drop_earlier(file, hash, look->staged, *cached);
  for (plan::GitStaged& one : look->staged) {
    const bool is_plain = !one.name.empty() && (!one.name.ends_with('/') || one.mode == kTreeMode);
    all.are_all = all.are_all && is_plain;
    if (is_plain) all.files.push_back(std::move(one));
  }
  std::ranges::move(*cached, std::back_inserter(all.trees));
}

// If the earlier index has changed since then, all of `staged` stays.
void GitIndexes::drop_earlier(const std::string& file, plan::GitHash hash, std::vector<plan::GitStaged>& staged,
                              CachedTrees& cached) const {
  const auto before = before_.find(file);
  if ((staged.empty() && cached.empty()) || before == before_.end() || !before->second.file) return;
  const int fd = before->second.file.get();
  const auto status = sys::file_status(fd, "");
  if (!status || status->size > kIndexBytesMax) return;
  const auto text = sys::read_at(fd, 0, status->size);
  if (!text || !text->ends_with(before->second.end) || !has_own_sum(*text, hash)) return;
  (void)plan::drop_staged_in(*text, hash, staged);
  const auto earlier = cached_trees_of(*text, hash);
  if (!earlier) return;
  std::erase_if(cached, [&](const auto& tree) { return std::ranges::find(*earlier, tree) != earlier->end(); });
}

std::optional<GitIndexes::Found> GitIndexes::look_at(const std::string& file, const std::string& directory,
                                                     std::size_t& left, const plan::GuardedNames& held) const {
  using enum Found::What;
  const auto text = sys::regular_file_text(file, left);
  if (!text) return Found{file, kUnknown, {}};
  left -= text->size();
  if (plan::is_no_git_index(*text)) return std::nullopt;
  HeldNames names(git_work_tree(directory), before_.contains(file) ? &held : nullptr);
  const auto counts = [&](std::string_view name) { return names.has(name); };
  const plan::GitHash hash = git_object_hash(directory);
  auto look = plan::look_at_git_index(*text, hash, counts);
  if (!look) return Found{file, kUnknown, {}};
  if (!look->outside.empty()) return Found{file, kOutside, {look->outside}};
  std::vector<plan::GitStaged> staged = std::move(look->staged);
  if (!look->shared.empty()) {
    const std::string shared = cat({directory, "/sharedindex.", look->shared});
    const auto version = sys::file_version(shared);
    const auto whole = sys::regular_file_text(shared, left);
    if (!whole) return Found{file, kUnknown, {}};
    left -= whole->size();
    auto base = plan::look_at_git_index(*whole, hash, counts);
    if (!base || !base->shared.empty()) return Found{file, kUnknown, {}};
    if (!base->outside.empty()) return Found{file, kOutside, {base->outside}};
    const bool is_new = !version || version->changed_ns >= start_ns_;
    if (is_new) std::ranges::move(base->staged, std::back_inserter(staged));
  }
  CachedTrees cached;
  drop_earlier(file, hash, staged, cached);
  // What git has also put into the work tree was judged there.
  const std::string tree = git_work_tree(directory);
  std::erase_if(staged, [&](const plan::GitStaged& one) { return is_in_work_tree(tree, one, hash); });
  if (staged.empty()) return std::nullopt;
  Found found{file, kStaged, {}};
  for (plan::GitStaged& one : staged) {
    if (found.names.size() < kToldNamesMax) found.names.push_back(std::move(one.name));
  }
  return found;
}

}  // namespace hutch::service
