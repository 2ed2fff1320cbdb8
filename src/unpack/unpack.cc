// Reading an archive by libarchive, and making its files one by one, each beneath the target directory.
#include "unpack/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "base/unique_fd.h"
#include "sys/files/beneath.h"
#include "sys/files/create.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "unpack/names.h"

namespace hutch::unpack {

namespace {

using Archive = std::unique_ptr<archive, decltype([](archive* a) { archive_read_free(a); })>;

class Unpacker {
 public:
  struct Into {
    int root;
    Owners owners;
    Over over;
  };
  Unpacker(archive* source, Into into, const Limits& limits)
      : source_(source), root_(into.root), owners_(into.owners), over_(into.over), limits_(limits) {}
  Result<Report> run();

 private:
  Status add(archive_entry* entry);
  Status make(archive_entry* entry, const std::string& name);
  Status add_directory(archive_entry* entry, const std::string& name);
  Status add_file(archive_entry* entry, const std::string& name);
  Status add_symlink(archive_entry* entry, const std::string& name);
  Status add_hard_link(const std::string& target, const std::string& name);
  Status check_size(std::uint64_t size, const std::string& name) const;
  Status write_content(int file, const std::string& name);
  Status set_attributes(int file, archive_entry* entry);
  Result<int> parent(const std::string& name);
  Result<UniqueFd> open_or_make(const std::string& directory);
  Status remove_file(const std::string& name);
  Status clear_way(int directory, const std::string& name);
  void note(std::string name);
  bool is_below(const std::string& name) const;
  Status take_away(const Whiteout& whiteout);
  Status take_content_away(const std::string& name, int directory);

  archive* source_;
  int root_;
  Owners owners_;
  Over over_;
  const Limits& limits_;
  Report report_;
  std::string parent_name_;
  UniqueFd parent_;  // of parent_name_, where that is not the root
  std::unordered_set<std::string> made_;  // of a layer: what it has named itself, and the directories above that
};

Result<Archive> open_archive(int fd);
Status drain(int fd);
Error archive_error(archive* source);

}  // namespace

Result<Report> unpack_archive(int archive, int root, Owners owners, Over over, const Limits& limits) {
  const Archive source = TRY(open_archive(archive));
  const Report report = TRY(Unpacker(source.get(), {root, owners, over}, limits).run());
  TRY(drain(archive));
  return report;
}

namespace {

Result<Archive> open_archive(int fd) {
  Archive source(archive_read_new());
  if (source == nullptr) return fail(Error{Code::kSystem, ENOMEM, "archive_read_new"});
  archive* a = source.get();
  // These alone: each further format is more code that reads hostile bytes.
  const bool ready =
      archive_read_support_format_tar(a) == ARCHIVE_OK && archive_read_support_filter_gzip(a) == ARCHIVE_OK &&
      archive_read_support_filter_xz(a) == ARCHIVE_OK && archive_read_support_filter_zstd(a) == ARCHIVE_OK;
  static constexpr std::size_t kBlockBytes = 64 << 10;
  if (!ready || archive_read_open_fd(a, fd, kBlockBytes) != ARCHIVE_OK) return fail(archive_error(a));
  return source;
}

Error archive_error(archive* source) {
  const char* text = archive_error_string(source);
  return Error::invalid(cat({"read the archive: ", text != nullptr ? text : "it is damaged"}));
}

// What follows the archive's end is padding; whoever writes it must not meet a closed pipe.
Status drain(int fd) {
  std::array<char, 64 << 10> buffer;
  while (TRY(sys::read_some(fd, buffer)) != 0) {}
  return {};
}

Result<Report> Unpacker::run() {
  for (;;) {
    archive_entry* entry = nullptr;
    const int answer = archive_read_next_header(source_, &entry);
    if (answer == ARCHIVE_EOF) return report_;
    if (answer == ARCHIVE_RETRY) continue;
    // A warning is about a name in another character set, or an extension that is not known: the entry is whole.
    if (answer != ARCHIVE_OK && answer != ARCHIVE_WARN) return fail(archive_error(source_));
    if (++report_.entries > limits_.entries_max) {
      return fail(Error::invalid(cat({"the archive has more than ", std::to_string(limits_.entries_max), " entries"})));
    }
    TRY(add(entry));
  }
}

Status Unpacker::add(archive_entry* entry) {
  const char* raw = archive_entry_pathname(entry);
  if (raw == nullptr) return fail(Error::invalid("the archive has an entry without a name"));
  const std::string name = TRY(plain_name(raw));
  if (over_ == Over::kLayers) {
    if (const auto whiteout = TRY(whiteout_of(name))) return take_away(*whiteout);
    note(name);
  }
  TRY(make(entry, name));
  if (over_ == Over::kLayers) made_.insert(name);
  return {};
}

Status Unpacker::make(archive_entry* entry, const std::string& name) {
  if (const char* target = archive_entry_hardlink(entry); target != nullptr) {
    return add_hard_link(TRY(plain_name(target)), name);
  }
  switch (archive_entry_filetype(entry)) {
    case AE_IFDIR: return add_directory(entry, name);
    case AE_IFREG: return add_file(entry, name);
    case AE_IFLNK: return add_symlink(entry, name);
    default: ++report_.special; return {};
  }
}

Status Unpacker::add_directory(archive_entry* entry, const std::string& name) {
  if (name.empty()) return set_attributes(root_, entry);
  TRY(parent(name));
  const UniqueFd made = TRY(open_or_make(name));
  const UniqueFd directory = TRY(sys::open_beneath(made.get(), ".", sys::Beneath::kListing));
  return set_attributes(directory.get(), entry);
}

Status Unpacker::add_file(archive_entry* entry, const std::string& name) {
  TRY(check_size(static_cast<std::uint64_t>(std::max<la_int64_t>(archive_entry_size(entry), 0)), name));
  const int directory = TRY(parent(name));
  // The name is looked up only after EEXIST: names are rarely there twice, and a lookup in a large directory takes
  // long.
  auto made = sys::make_file(directory, last_part(name), 0600);
  if (!made && made.error().sys_errno == EEXIST) {
    TRY(clear_way(directory, name));
    made = sys::make_file(directory, last_part(name), 0600);
  }
  const UniqueFd file = TRY(std::move(made));
  TRY(write_content(file.get(), name));
  return set_attributes(file.get(), entry);
}

// A link is kept as it is, wherever it leads: nothing here follows one, and in a sandbox it leads nowhere but into it.
Status Unpacker::add_symlink(archive_entry* entry, const std::string& name) {
  const char* text = archive_entry_symlink(entry);
  if (text == nullptr || *text == '\0') {
    return fail(Error::invalid(cat({"the archive's link \"", printable(name), "\" leads nowhere"})));
  }
  const int directory = TRY(parent(name));
  TRY(clear_way(directory, name));
  TRY(sys::make_symlink(text, directory, last_part(name)));
  if (owners_ == Owners::kOne) return {};
  return sys::set_owner_at(directory, last_part(name), {archive_entry_uid(entry), archive_entry_gid(entry)});
}

Status Unpacker::add_hard_link(const std::string& target, const std::string& name) {
  const std::string there = directory_of(target);
  const UniqueFd from = TRY(sys::open_beneath(root_, there.empty() ? "." : there));
  const int directory = TRY(parent(name));
  if (target == name) return {};
  TRY(clear_way(directory, name));
  return sys::make_hard_link(from.get(), last_part(target), directory, last_part(name));
}

// Of the whole archive together with a file that reaches so far, holes included.
Status Unpacker::check_size(std::uint64_t size, const std::string& name) const {
  if (size <= limits_.bytes_max && report_.bytes <= limits_.bytes_max) return {};
  return fail(Error::invalid(cat({"the archive holds more than ", std::to_string(limits_.bytes_max >> 30),
                                  " GiB, with \"", printable(name), "\""})));
}

Status Unpacker::write_content(int file, const std::string& name) {
  std::int64_t end = 0;
  for (;;) {
    const void* block = nullptr;
    std::size_t size = 0;
    la_int64_t at = 0;
    const int answer = archive_read_data_block(source_, &block, &size, &at);
    if (answer == ARCHIVE_EOF) break;
    if (answer != ARCHIVE_OK && answer != ARCHIVE_WARN) return fail(archive_error(source_));
    if (at < 0) return fail(Error::invalid("the archive writes before a file's start"));
    TRY(check_size(static_cast<std::uint64_t>(at) + size, name));
    report_.bytes += size;
    TRY(check_size(0, name));
    TRY(sys::write_at(file, static_cast<std::uint64_t>(at), {static_cast<const char*>(block), size}));
    end = at + static_cast<std::int64_t>(size);
  }
  // Only a hole at the end is still missing.
  if (end == 0) return {};
  return sys::set_size(file, static_cast<std::uint64_t>(end));
}

// The owner first: a change of it takes the privileged bits away (chown(2)). Extended attributes and ACLs are left out:
// the overlay takes orders from some (user.overlay.*), and file capabilities are privileges.
Status Unpacker::set_attributes(int file, archive_entry* entry) {
  static constexpr unsigned kPrivilegedBits = 06000;
  static constexpr unsigned kModeBits = 01777;
  const auto mode = static_cast<unsigned>(archive_entry_perm(entry));
  const bool is_file = archive_entry_filetype(entry) == AE_IFREG;
  if (is_file && (mode & kPrivilegedBits) != 0) ++report_.privileged;
  if (owners_ == Owners::kAsArchived) {
    const sys::Owner owner{archive_entry_uid(entry), archive_entry_gid(entry)};
    const sys::FileStatus now = TRY(sys::file_status(file, ""));
    if (owner.user != now.owner || owner.group != now.group) TRY(sys::set_owner(file, owner));
  }
  // A directory's set-group-ID bit is no privilege: what is made in it gets its group.
  TRY(sys::set_mode(file, mode & (is_file ? kModeBits : kModeBits | 02000)));
  if (archive_entry_mtime_is_set(entry) == 0) return {};
  static constexpr std::int64_t kSecondsMax = 1LL << 33;
  const std::int64_t seconds = archive_entry_mtime(entry);
  if (seconds < 0 || seconds > kSecondsMax) return {};
  return sys::set_modified(file, seconds * 1'000'000'000);
}

// The directory that holds `name`, borrowed until the next call.
Result<int> Unpacker::parent(const std::string& name) {
  if (name.empty()) return fail(Error::invalid("the archive has a file in the place of its top directory"));
  const std::string directory = directory_of(name);
  if (directory.empty()) return root_;
  if (!parent_ || directory != parent_name_) {
    parent_ = TRY(open_or_make(directory));
    parent_name_ = directory;
  }
  return parent_.get();
}

// Directories that no entry has named yet are made. No link is followed: a name below one is refused.
Result<UniqueFd> Unpacker::open_or_make(const std::string& directory) {
  auto found = sys::open_beneath(root_, directory);
  if (found) {
    const sys::FileStatus status = TRY(sys::file_status(found->get(), ""));
    if (status.kind == sys::EntryKind::kDirectory) return found;
    if (!is_below(directory)) {
      return fail(Error::invalid(cat({"the archive's \"", printable(directory), "\" is a file and a directory"})));
    }
    TRY(remove_file(directory));
  } else if (found.error().code != Code::kNotFound && !(is_below(directory) && remove_file(directory))) {
    return fail(Error::invalid(cat({"the archive's \"", printable(directory), "\" lies behind a link"})));
  }
  const std::string above = directory_of(directory);
  UniqueFd upper;
  if (!above.empty()) upper = TRY(open_or_make(above));
  TRY(sys::make_directory(upper ? upper.get() : root_, last_part(directory), 0755));
  return sys::open_beneath(root_, directory);
}

Status Unpacker::remove_file(const std::string& name) {
  const std::string above = directory_of(name);
  const UniqueFd directory = TRY(sys::open_beneath(root_, above.empty() ? "." : above));
  return sys::unlink_at(directory.get(), last_part(name));
}

// The later of two entries of one name holds, as tar has it; a directory is never replaced but by a layer above it.
Status Unpacker::clear_way(int directory, const std::string& name) {
  auto removed = sys::unlink_at(directory, last_part(name));
  if (removed || removed.error().code == Code::kNotFound) return {};
  if (removed.error().sys_errno != EISDIR || !is_below(name)) return removed;
  return sys::remove_tree_at(directory, last_part(name));
}

// The name itself is noted by whoever has made it: until then it is what the layers below have.
void Unpacker::note(std::string name) {
  for (name = directory_of(name); !name.empty() && made_.insert(name).second;) name = directory_of(name);
}

// Whether what has this name, if anything does, is of a layer below.
bool Unpacker::is_below(const std::string& name) const { return over_ == Over::kLayers && !made_.contains(name); }

// What this layer has made stays, wherever in it the whiteout stands.
Status Unpacker::take_away(const Whiteout& whiteout) {
  parent_.reset();
  const std::string inside = whiteout.what == Whiteout::What::kContent ? whiteout.name : directory_of(whiteout.name);
  const auto directory = sys::open_beneath(root_, inside.empty() ? "." : inside, sys::Beneath::kListing);
  if (!directory && directory.error().code == Code::kNotFound) return {};
  if (!directory) return fail(directory.error());
  if (whiteout.what == Whiteout::What::kContent) return take_content_away(whiteout.name, directory->get());
  if (!is_below(whiteout.name)) return {};
  auto removed = sys::unlink_at(directory->get(), last_part(whiteout.name));
  if (removed || removed.error().code == Code::kNotFound) return {};
  if (removed.error().sys_errno != EISDIR) return removed;
  return sys::remove_tree_at(directory->get(), last_part(whiteout.name));
}

// Of a directory that the layer goes on with only what the layer itself put there is left, at every depth.
Status Unpacker::take_content_away(const std::string& name, int directory) {
  for (const sys::TreeEntry& entry : TRY(sys::names_in(directory, name))) {
    const std::string full = name.empty() ? entry.name : cat({name, "/", entry.name});
    const auto status = TRY(sys::status_at(directory, entry.name));
    if (!status) continue;
    const bool is_directory = status->kind == sys::EntryKind::kDirectory;
    if (!is_below(full)) {
      if (!is_directory) continue;
      const UniqueFd inner = TRY(sys::open_beneath(directory, entry.name, sys::Beneath::kListing));
      TRY(take_content_away(full, inner.get()));
      continue;
    }
    TRY(is_directory ? sys::remove_tree_at(directory, entry.name) : sys::unlink_at(directory, entry.name));
  }
  return {};
}

}  // namespace

}  // namespace hutch::unpack
