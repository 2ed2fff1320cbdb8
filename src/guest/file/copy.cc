// A copy of a file or a tree.
#include "guest/file/copy.h"

#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "guest/file/content.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"

namespace hutch::guest {

namespace {

// Each level holds two descriptors.
constexpr std::size_t kCopyLevelsMax = 128;
constexpr std::size_t kCopyNamesMax = 500'000;

Status copy_file(const At& from, const sys::FileStatus& status, int to, const GoOn& go_on);
Result<UniqueFd> open_as_it_was(const At& from, const sys::FileStatus& status, sys::Beneath how);

// Directory by directory, with a stack of its own. A copied directory gets its mode when it is complete.
class Copier {
 public:
  explicit Copier(const GoOn& go_on) : go_on_(go_on) {}
  // What is in the directory `from` into the new directory `to`.
  Status run(UniqueFd from, const sys::FileStatus& status, int to);

 private:
  struct Level {
    UniqueFd from;
    UniqueFd to;  // none: the top, which is borrowed
    sys::FileStatus status;
    std::vector<sys::TreeEntry> left;
  };
  Status enter(UniqueFd from, UniqueFd to, const sys::FileStatus& status);
  Status copy_entry(const std::string& name);
  Status leave();
  int target() const { return levels_.back().to ? levels_.back().to.get() : top_; }

  const GoOn& go_on_;
  int top_ = -1;
  std::optional<sys::FileStatus> top_status_;
  std::vector<Level> levels_;
};

Status put_directory(const At& from, const sys::FileStatus& status, const At& to, const GoOn& go_on);

}  // namespace

Status copy_tree(const At& from, const At& to, const GoOn& go_on) {
  const sys::FileStatus status = TRY(sys::file_status(from.directory, from.name));
  switch (status.kind) {
    case sys::EntryKind::kDirectory: return put_directory(from, status, to, go_on);
    case sys::EntryKind::kSymlink: {
      const Status old = sys::unlink_at(to.directory, to.name);
      if (!old && old.error().sys_errno != ENOENT) return old;
      return sys::make_symlink(TRY(sys::link_text(from.directory, from.name)), to.directory, to.name);
    }
    case sys::EntryKind::kFile: {
      Temporary file = TRY(Temporary::make_file(to.directory, 0600));
      TRY(copy_file(from, status, file.fd(), go_on));
      return file.put(to.name);
    }
    case sys::EntryKind::kOther:
    case sys::EntryKind::kUnknown: break;
  }
  return fail(Error::invalid(cat({printable(from.name), ": neither a file nor a directory nor a symbolic link"})));
}

namespace {

Status put_directory(const At& from, const sys::FileStatus& status, const At& to, const GoOn& go_on) {
  UniqueFd source = TRY(open_as_it_was(from, status, sys::Beneath::kListing));
  Temporary directory = TRY(Temporary::make_directory(to.directory));
  Status copied = Copier(go_on).run(std::move(source), status, directory.fd());
  if (copied) copied = directory.put(to.name);
  if (copied) return {};
  // Even when the host has gone meanwhile: nothing of half a copy stays.
  for (const sys::TreeEntry& entry : TRY(sys::first_names(directory.fd(), kCopyNamesMax))) {
    (void)remove_tree(directory.fd(), entry.name, [] { return Status(); });
  }
  return copied;
}

Status copy_file(const At& from, const sys::FileStatus& status, int to, const GoOn& go_on) {
  const UniqueFd source = TRY(open_as_it_was(from, status, sys::Beneath::kRead));
  TRY(sys::copy_content(source.get(), to, go_on));
  TRY(sys::set_mode(to, status.mode & 0777U));
  return sys::set_modified(to, status.modified_ns);
}

// The name may mean something else by now.
Result<UniqueFd> open_as_it_was(const At& from, const sys::FileStatus& status, sys::Beneath how) {
  UniqueFd fd = TRY(sys::open_beneath(from.directory, from.name, how));
  if (TRY(sys::file_status(fd.get(), "")).is_same_file(status)) return fd;
  return fail({Code::kConflict, 0, cat({printable(from.name), ": was replaced while it was copied"})});
}

Status Copier::run(UniqueFd from, const sys::FileStatus& status, int to) {
  top_ = to;
  top_status_ = TRY(sys::file_status(to, ""));
  TRY(enter(std::move(from), UniqueFd(), status));
  while (!levels_.empty()) {
    TRY(go_on_());
    Level& level = levels_.back();
    if (level.left.empty()) {
      TRY(leave());
      continue;
    }
    const std::string name = std::move(level.left.back().name);
    level.left.pop_back();
    TRY(copy_entry(name));
  }
  return {};
}

Status Copier::enter(UniqueFd from, UniqueFd to, const sys::FileStatus& status) {
  if (levels_.size() >= kCopyLevelsMax) return fail(Error::invalid("directories nested too deep to be copied"));
  auto names = TRY(sys::first_names(from.get(), kCopyNamesMax));
  if (names.size() == kCopyNamesMax) return fail(Error::invalid("a directory with too many entries to be copied"));
  levels_.push_back({std::move(from), std::move(to), status, std::move(names)});
  return {};
}

Status Copier::copy_entry(const std::string& name) {
  const At from{levels_.back().from.get(), name};
  const sys::FileStatus status = TRY(sys::file_status(from.directory, name));
  switch (status.kind) {
    case sys::EntryKind::kDirectory: {
      if (status.is_same_file(*top_status_)) return fail(Error::invalid("a directory cannot be moved into itself"));
      UniqueFd source = TRY(open_as_it_was(from, status, sys::Beneath::kListing));
      TRY(sys::make_directory(target(), name, 0700));
      UniqueFd copy = TRY(sys::open_beneath(target(), name, sys::Beneath::kListing));
      return enter(std::move(source), std::move(copy), status);
    }
    case sys::EntryKind::kSymlink: return sys::make_symlink(TRY(sys::link_text(from.directory, name)), target(), name);
    case sys::EntryKind::kFile: {
      const UniqueFd copy = TRY(sys::make_file(target(), name, 0600));
      return copy_file(from, status, copy.get(), go_on_);
    }
    case sys::EntryKind::kOther:
    case sys::EntryKind::kUnknown: break;
  }
  return fail(Error::invalid(cat({printable(name), ": neither a file nor a directory nor a symbolic link"})));
}

Status Copier::leave() {
  const Level& level = levels_.back();
  TRY(sys::set_mode(target(), level.status.mode & 0777U));
  TRY(sys::set_modified(target(), level.status.modified_ns));
  levels_.pop_back();
  return {};
}

}  // namespace

}  // namespace hutch::guest
