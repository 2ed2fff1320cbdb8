// The walk, with few descriptors however deep the tree is.
#include "service/share/tree.h"

#include <cerrno>
#include <utility>
#include <vector>

#include "base/text.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

// So many directories are held open at once. Above those, one is found again by "..", and has to be the same.
constexpr std::size_t kHeldMax = 64;

struct Level {
  UniqueFd directory;
  sys::FileStatus status;
  std::vector<sys::TreeEntry> names;
  std::size_t next = 0;
  std::size_t path_size = 0;  // of the walk's path, up to and with this directory
  bool told_closed = false;
};

class Walk {
 public:
  Walk(const SharePlace& place, const TreeVisitor& visitor) : place_(place), path_(place.path), visitor_(visitor) {}

  Result<WalkCounts> run() {
    TRY(enter(place_.parent.get(), {place_.name, sys::EntryKind::kUnknown}));
    while (!levels_.empty()) {
      Level& level = levels_.back();
      path_.resize(level.path_size);
      if (level.next == level.names.size()) {
        TRY(leave());
        continue;
      }
      const sys::TreeEntry entry = std::move(level.names[level.next++]);
      path_ += '/';
      path_ += entry.name;
      TRY(enter_inner(level.directory.get(), entry));
    }
    return counts_;
  }

 private:
  // Of what is mounted there not even the status is to be had where its server is gone, or serves somebody else alone
  // (FUSE).
  Status enter_inner(int parent, const sys::TreeEntry& entry) {
    Status entered = enter(parent, entry);
    if (entered || !is_mounted(parent, entry.name)) return entered;
    ++counts_.elsewhere;
    counts_.mounts.push_back(path_);
    return {};
  }

  Status enter(int parent, const sys::TreeEntry& entry) {
    using enum sys::EntryKind;
    if (entry.kind == kSymlink || entry.kind == kOther) return {};
    return entry.kind == kFile ? enter_file(parent, entry.name) : enter_unknown(parent, entry.name, entry.kind);
  }

  Status enter_unknown(int parent, const std::string& name, sys::EntryKind kind) {
    if (kind == sys::EntryKind::kDirectory) return enter_directory(parent, name);
    const auto status = sys::file_status(parent, name);
    if (!status) return passed_over(status.error());
    if (status->kind == sys::EntryKind::kFile) return enter_file(parent, name);
    return status->kind == sys::EntryKind::kDirectory ? enter_directory(parent, name) : Status();
  }

  // What its owner may not read; and what somebody holds a lease on, who would be waited for (fcntl(2), F_SETLEASE).
  static bool cannot_be_opened(const Error& error) { return error.sys_errno == EACCES || error.sys_errno == EAGAIN; }

  // What is looked at and what is changed is the same file, whatever has its name by then.
  Status enter_file(int parent, const std::string& name) {
    if (visitor_.of == TreeVisitor::Of::kDirectories) return {};
    auto file = sys::open_beneath(parent, name, sys::Beneath::kReadExact);
    if (!file && cannot_be_opened(file.error())) file = sys::open_beneath(parent, name, sys::Beneath::kLink);
    if (!file) return passed_over(file.error());
    const auto status = TRY(sys::file_status(file->get(), ""));
    if (status.kind != sys::EntryKind::kFile || is_elsewhere(status)) return {};
    TRY(check_is_place(status));
    return visitor_.visit({file->get(), path_, status});
  }

  Status enter_directory(int parent, const std::string& name) {
    auto directory = sys::open_listing_at(parent, name);
    if (!directory && directory.error().sys_errno == EACCES) return enter_closed(parent, name);
    if (!directory) return passed_over(directory.error());
    const auto status = TRY(sys::file_status(directory->get(), ""));
    if (is_elsewhere(status)) return {};
    TRY(check_is_place(status));
    TRY(visitor_.visit({directory->get(), path_, status}));
    auto names = TRY(sys::names_in(directory->get(), path_));
    if (levels_.size() >= kHeldMax) levels_[levels_.size() - kHeldMax].directory = UniqueFd();
    levels_.push_back({std::move(*directory), status, std::move(names), 0, path_.size()});
    return {};
  }

  Status enter_closed(int parent, const std::string& name) {
    const auto directory = sys::open_beneath(parent, name, sys::Beneath::kLink);
    if (!directory) return passed_over(directory.error());
    const auto status = TRY(sys::file_status(directory->get(), ""));
    if (status.kind != sys::EntryKind::kDirectory || is_elsewhere(status)) return {};
    TRY(check_is_place(status));
    ++counts_.unreadable;
    return visitor_.closed({directory->get(), path_, status});
  }

  // The names of a directory can be read where what has them cannot be reached.
  Status tell_closed() {
    ++counts_.unreadable;
    if (levels_.empty() || levels_.back().told_closed) return {};
    Level& above = levels_.back();
    above.told_closed = true;
    const std::string path = path_.substr(0, above.path_size);
    return visitor_.closed({above.directory.get(), path, above.status});
  }

  Status check_is_place(const sys::FileStatus& status) const {
    if (!levels_.empty() || status.is_same_file(place_.status)) return {};
    return fail(Error{.code = Code::kConflict,
                      .message = cat({printable(path_), " became something else while it was looked at; again"})});
  }

  // What is mounted in the tree lies at another place too, which nobody named, be it of the same file system.
  bool is_elsewhere(const sys::FileStatus& status) {
    if (levels_.empty()) return false;
    const sys::FileStatus& top = levels_.front().status;
    const bool elsewhere = status.device != top.device || status.mount != top.mount;
    if (elsewhere) ++counts_.elsewhere;
    if (status.mount != top.mount) counts_.mounts.push_back(path_);
    return elsewhere;
  }

  // What is gone, or became something else, between the reading of its name and the look at it.
  Status passed_over(const Error& error) {
    if (error.sys_errno == EACCES) return tell_closed();
    // A socket that is opened is ENXIO.
    const bool is_race =
        error.sys_errno == ENOENT || error.sys_errno == ELOOP || error.sys_errno == ENOTDIR || error.sys_errno == ENXIO;
    return is_race ? Status() : fail(Error(error));
  }

  Status leave() {
    const Level done = std::move(levels_.back());
    levels_.pop_back();
    if (levels_.empty() || levels_.back().directory.get() >= 0) return {};
    Level& above = levels_.back();
    above.directory = TRY(sys::open_listing_at(done.directory.get(), ".."));
    const auto status = TRY(sys::file_status(above.directory.get(), ""));
    if (status.is_same_file(above.status)) return {};
    return fail(Error{.code = Code::kConflict,
                      .message = cat({printable(path_), ": a directory was moved while it was gone through; again"})});
  }

  const SharePlace& place_;
  std::string path_;
  const TreeVisitor& visitor_;
  std::vector<Level> levels_;
  WalkCounts counts_;
};

}  // namespace

bool is_mounted(int parent, const std::string& name) {
  const auto found = sys::open_beneath(parent, name, sys::Beneath::kLink);
  return found && sys::is_mount_root(found->get()).value_or(false);
}

Result<WalkCounts> walk_tree(const SharePlace& place, const TreeVisitor& visitor) { return Walk(place, visitor).run(); }

}  // namespace hutch::service
