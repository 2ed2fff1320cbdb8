// Reads the index of a git repository.
#include "plan/git/index.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/decimal.h"
#include "base/text.h"

namespace hutch::plan {

namespace {

constexpr std::string_view kIndexSignature = "DIRC";
constexpr std::size_t kIndexHeaderBytes = 12;

// These bytes precede an entry's object: times, device, inode, mode, owner, group and size, of four bytes each.
constexpr std::size_t kStatBytes = 40;
constexpr std::size_t kModeAt = 24;
constexpr std::size_t kFlagBytes = 2;
constexpr std::uint32_t kExtendedFlags = 0x4000;
constexpr std::uint32_t kNameMask = 0xfff;

constexpr std::uint32_t kTreeMode = 0040000;  // a directory of a sparse index
constexpr std::uint32_t kFileMode = 0100000;
constexpr std::uint32_t kKindMask = 0170000;

constexpr std::size_t kExtensionHeaderBytes = 8;
constexpr std::size_t kOffsetPairBytes = 8;

std::unexpected<Error> damaged_index(std::string_view what) {
  return fail(Error::invalid(cat({"an index of git with ", what})));
}

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < size; ++i) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

// decode_varint() of git's varint.c. Absent: the number has no end, or is larger than any name is long.
std::optional<std::size_t> varint_at(std::string_view bytes, std::size_t& at) {
  constexpr std::size_t kMax = 1 << 20;
  std::size_t value = 0;
  for (bool first = true;; first = false) {
    if (at >= bytes.size() || value > kMax) return std::nullopt;
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value = (first ? 0 : (value + 1) << 7) + (byte & 127U);
    if ((byte & 128U) == 0) return value;
  }
}

bool is_own_part(std::string_view part) {
  static constexpr std::string_view kGit = ".git";
  const auto same = [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b); };
  return std::ranges::equal(kGit, part, same);
}

}  // namespace

bool is_work_tree_name(std::string_view name, std::uint32_t mode) {
  if ((mode & kKindMask) == kTreeMode && name.ends_with('/')) name.remove_suffix(1);
  for (;;) {
    const std::size_t slash = std::min(name.find('/'), name.size());
    const std::string_view part = name.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || is_own_part(part)) return false;
    if (slash == name.size()) return true;
    name.remove_prefix(slash + 1);
  }
}

bool is_file_mode(std::uint32_t mode) { return (mode & kKindMask) == kFileMode; }

bool is_no_git_index(std::string_view bytes) {
  if (bytes.size() < kIndexHeaderBytes || !bytes.starts_with(kIndexSignature)) return true;
  const std::uint32_t version = number_at(bytes, kIndexSignature.size(), 4);
  return version < 2 || version > 4;
}

Result<GitIndexReader> GitIndexReader::open(std::string_view bytes, GitHash hash) {
  const auto size = static_cast<std::size_t>(hash);
  if (is_no_git_index(bytes) || bytes.size() < kIndexHeaderBytes + size) return damaged_index("no beginning");
  GitIndexReader reader(bytes.substr(0, bytes.size() - size), size);
  reader.version_ = number_at(bytes, kIndexSignature.size(), 4);
  reader.count_ = number_at(bytes, kIndexSignature.size() + 4, 4);
  reader.at_ = kIndexHeaderBytes;
  return reader;
}

Result<std::optional<GitIndexEntry>> GitIndexReader::next() {
  if (begins_.size() == count_) return std::optional<GitIndexEntry>();
  Begin begin{at_, true};
  const std::size_t flags_at = at_ + kStatBytes + hash_;
  if (flags_at + kFlagBytes > bytes_.size()) return damaged_index("fewer entries than it says");
  const std::uint32_t flags = number_at(bytes_, flags_at, kFlagBytes);
  const bool extended = (flags & kExtendedFlags) != 0;
  if (extended && version_ < 3) return damaged_index("flags of a later version");
  std::size_t name_at = flags_at + kFlagBytes + (extended ? kFlagBytes : 0);
  std::size_t kept = 0;
  if (version_ == 4) {
    const auto taken = varint_at(bytes_, name_at);
    if (!taken || *taken > name_.size()) return damaged_index("a name that continues none");
    kept = name_.size() - *taken;
  }
  const std::size_t end = bytes_.find('\0', std::min(name_at, bytes_.size()));
  if (end == std::string_view::npos) return damaged_index("a name without an end");
  const std::string_view written = bytes_.substr(name_at, end - name_at);
  const std::size_t length = kept + written.size();
  const std::uint32_t said = flags & kNameMask;
  if (said == kNameMask ? length < kNameMask : length != said)
    return damaged_index("a name of another length than it says");
  GitIndexEntry entry{written, number_at(bytes_, at_ + kModeAt, 4), bytes_.substr(at_ + kStatBytes, hash_)};
  if (version_ == 4) {
    begin.alone = kept == 0;
    name_.resize(kept);
    name_ += written;
    entry.name = name_;
    at_ = end + 1;
  } else {
    // One to eight zero bytes fill up the entry.
    at_ += (end - at_ + 8) & ~std::size_t{7};
    if (at_ > bytes_.size()) return damaged_index("an entry without an end");
  }
  begins_.push_back(begin);
  return std::optional(entry);
}

// A git with several threads jumps to these offsets, and does not read what precedes them.
Status GitIndexReader::check_offsets(std::string_view table) const {
  std::size_t index = 0;
  for (std::size_t at = 4; at + kOffsetPairBytes <= table.size(); at += kOffsetPairBytes) {
    const std::size_t offset = number_at(table, at, 4);
    const bool known = index < begins_.size() && begins_[index].at == offset && begins_[index].alone;
    if (!known) return damaged_index("offsets of its own");
    index += number_at(table, at + 4, 4);
  }
  return table.size() > 4 && index != begins_.size() ? Status(damaged_index("offsets of its own")) : Status();
}

Result<std::string> GitIndexReader::shared() const {
  std::string name;
  // A git with several threads looks for this extension there, and trusts its offset of the other extensions.
  const std::size_t last_at = bytes_.size() - std::min(bytes_.size(), kExtensionHeaderBytes + 4 + hash_);
  bool is_read = !bytes_.substr(last_at).starts_with("EOIE");
  for (std::size_t at = at_; at < bytes_.size();) {
    is_read = is_read || at == last_at;
    if (at + kExtensionHeaderBytes > bytes_.size()) return damaged_index("an extension without an end");
    const std::string_view kind = bytes_.substr(at, 4);
    const std::size_t size = number_at(bytes_, at + 4, 4);
    at += kExtensionHeaderBytes;
    if (size > bytes_.size() - at) return damaged_index("an extension without an end");
    const std::string_view content = bytes_.substr(at, size);
    at += size;
    if (kind == "EOIE" && (size < 4 || number_at(content, 0, 4) != at_)) return damaged_index("an end of its own");
    if (kind == "IEOT") TRY(check_offsets(content));
    if (kind != "link") continue;
    if (size < hash_ || !name.empty()) return damaged_index("a link to no index");
    const std::string_view object = content.substr(0, hash_);
    if (object.find_first_not_of('\0') != std::string_view::npos) name = to_hex(object);
  }
  if (!is_read) return damaged_index("an end within another part");
  return name;
}

Result<std::vector<GitIndexReader::CachedTree>> GitIndexReader::cached_trees() const {
  std::vector<CachedTree> trees;
  for (std::size_t at = at_; at + kExtensionHeaderBytes <= bytes_.size();) {
    const std::size_t size = number_at(bytes_, at + 4, 4);
    const std::size_t content_at = at + kExtensionHeaderBytes;
    if (size > bytes_.size() - content_at) return damaged_index("an extension without an end");
    std::string_view content = bytes_.substr(content_at, size);
    // git takes the last one of several.
    if (bytes_.substr(at, 4) == "TREE" && size > 0) TRY(add_cached(content, "", Covered::kNo, trees));
    at = content_at + size;
  }
  return trees;
}

// A name, the number of entries (-1: git computes the tree anew), the number of subtrees, the object, the subtrees.
Status GitIndexReader::add_cached(std::string_view& tree, const std::string& above, Covered covered,
                                  std::vector<CachedTree>& trees) const {
  static constexpr std::size_t kCachedMax = 100'000;
  static constexpr std::size_t kPathMax = 4096;
  const auto take = [&](char end) -> std::optional<std::string_view> {
    const std::size_t size = tree.find(end);
    if (size == tree.npos) return std::nullopt;
    const std::string_view taken = tree.substr(0, size);
    tree.remove_prefix(size + 1);
    return taken;
  };
  const auto name = take('\0');
  const auto entries = name ? take(' ') : std::nullopt;
  const auto below = entries ? take('\n') : std::nullopt;
  const auto count = below ? decimal_of(*below) : std::nullopt;
  if (!count || above.size() > kPathMax || trees.size() > kCachedMax) return damaged_index("a tree of its own");
  const std::string path = name->empty() ? above : cat({above, *name, "/"});
  if (!entries->starts_with('-')) {
    if (tree.size() < hash_) return damaged_index("a tree of its own");
    if (covered == Covered::kNo) trees.push_back({path, std::string(tree.substr(0, hash_))});
    covered = Covered::kYes;
    tree.remove_prefix(hash_);
  }
  for (std::size_t i = 0; i < *count; ++i) TRY(add_cached(tree, path, covered, trees));
  return {};
}

Result<GitIndexLook> look_at_git_index(std::string_view bytes, GitHash hash,
                                       const std::function<bool(std::string_view name)>& counts) {
  GitIndexLook look;
  GitIndexReader reader = TRY(GitIndexReader::open(bytes, hash));
  bool replaces = false;
  while (const auto entry = TRY(reader.next())) {
    // In a split index, an entry without a name replaces an entry of the shared index.
    replaces = replaces || entry->name.empty();
    if (!entry->name.empty() && !is_work_tree_name(entry->name, entry->mode) && look.outside.empty()) {
      look.outside = entry->name;
    }
    if (counts(entry->name)) look.staged.push_back({std::string(entry->name), entry->mode, std::string(entry->object)});
  }
  look.shared = TRY(reader.shared());
  if (replaces && look.shared.empty()) return damaged_index("an entry without a name");
  return look;
}

Status drop_staged_in(std::string_view index, GitHash hash, std::vector<GitStaged>& staged) {
  std::map<std::string_view, const GitStaged*> wanted;
  for (const GitStaged& file : staged) wanted.emplace(file.name, &file);
  std::set<std::string> same;
  GitIndexReader reader = TRY(GitIndexReader::open(index, hash));
  while (const auto entry = TRY(reader.next())) {
    const auto file = wanted.find(entry->name);
    if (file == wanted.end()) continue;
    const bool is_same = file->second->mode == entry->mode && file->second->object == entry->object;
    if (is_same) same.insert(file->second->name);
  }
  std::erase_if(staged, [&](const GitStaged& file) { return same.contains(file.name); });
  return {};
}

}  // namespace hutch::plan
