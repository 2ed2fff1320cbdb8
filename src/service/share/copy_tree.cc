// The walk over the sources, and their content.
#include "service/share/copy_tree.h"

#include <cerrno>
#include <utility>
#include <vector>

#include "base/text.h"
#include "service/share/tree.h"
#include "sys/files/beneath.h"
#include "sys/files/delegate.h"
#include "sys/files/tree.h"
#include "sys/process/clone.h"
#include "wire/files.h"

namespace hutch::service {

namespace {

// Each holds a descriptor.
constexpr std::size_t kLevelsMax = 256;

class Copier {
 public:
  Copier(sandbox::Files& to, std::uint32_t owner, const CopyVoice& voice) : to_(to), owner_(owner), voice_(voice) {}
  Result<CopyCounts> run(int parent, const std::string& name);

 private:
  struct Level {
    UniqueFd directory;
    std::string path;  // below the tree; empty: the tree itself
    std::vector<sys::TreeEntry> left;
  };
  Status copy_inner(int parent, const std::string& name, const std::string& path);
  Status copy_entry(int parent, const std::string& name, const std::string& path);
  Status copy_file(int parent, const std::string& name, const std::string& path);
  Status copy_link(int parent, const std::string& name, const std::string& path, const sys::FileStatus& status);
  Status enter(int parent, const std::string& name, const std::string& path);
  bool is_elsewhere(const sys::FileStatus& status);
  Status copy_content(int from, int to);
  Status check_given(int file) const;
  Status passed_over(const Error& error);

  sandbox::Files& to_;
  const std::uint32_t owner_;
  const CopyVoice& voice_;
  sys::FileStatus top_;
  std::vector<Level> levels_;
  CopyCounts counts_;
};

wire::AddToTree tree_entry(const std::string& path, wire::FileKind kind, const sys::FileStatus& status) {
  // A bit that gives rights would give them of another user.
  return {.path = path, .kind = kind, .mode = status.mode & 0777U, .modified_ns = status.modified_ns, .target = {}};
}

}  // namespace

Result<CopyCounts> copy_tree(int parent, const std::string& name, sandbox::Files& to, std::uint32_t owner,
                             const CopyVoice& voice) {
  return Copier(to, owner, voice).run(parent, name);
}

namespace {

Result<CopyCounts> Copier::run(int parent, const std::string& name) {
  top_ = TRY(sys::file_status(parent, name));
  TRY(copy_entry(parent, name, ""));
  if (counts_.unreadable > 0) return fail(Error{Code::kPermissionDenied, EACCES, "you may not read it"});
  while (!levels_.empty()) {
    Level& level = levels_.back();
    if (level.left.empty()) {
      levels_.pop_back();
      continue;
    }
    const std::string entry = std::move(level.left.back().name);
    level.left.pop_back();
    const std::string path = level.path.empty() ? entry : cat({level.path, "/", entry});
    TRY(copy_inner(level.directory.get(), entry, path));
  }
  voice_.progress(counts_);
  return counts_;
}

// As of the walk of a share: what is mounted there may be dead.
Status Copier::copy_inner(int parent, const std::string& name, const std::string& path) {
  Status copied = copy_entry(parent, name, path);
  if (copied || !is_mounted(parent, name)) return copied;
  ++counts_.elsewhere;
  return {};
}

Status Copier::copy_entry(int parent, const std::string& name, const std::string& path) {
  TRY(voice_.go_on());
  voice_.progress(counts_);
  const auto status = sys::file_status(parent, name);
  if (!status) return passed_over(status.error());
  switch (status->kind) {
    case sys::EntryKind::kFile: return copy_file(parent, name, path);
    case sys::EntryKind::kDirectory: return enter(parent, name, path);
    case sys::EntryKind::kSymlink: return copy_link(parent, name, path, *status);
    case sys::EntryKind::kOther:
    case sys::EntryKind::kUnknown: break;
  }
  ++counts_.special;
  return {};
}

Status Copier::copy_file(int parent, const std::string& name, const std::string& path) {
  const auto source = sys::open_beneath(parent, name, sys::Beneath::kReadExact);
  if (!source) return passed_over(source.error());
  const sys::FileStatus status = TRY(sys::file_status(source->get(), ""));
  if (status.kind != sys::EntryKind::kFile) {
    ++counts_.special;
    return {};
  }
  if (is_elsewhere(status)) return {};
  const UniqueFd file = TRY(to_.ask_for_file(tree_entry(path, wire::FileKind::kRegular, status)));
  TRY(check_given(file.get()));
  TRY_CTX(copy_content(source->get(), file.get()), printable(path));
  ++counts_.files;
  counts_.bytes += status.size;
  return {};
}

Status Copier::copy_link(int parent, const std::string& name, const std::string& path, const sys::FileStatus& status) {
  auto text = sys::link_text(parent, name);
  if (!text) return passed_over(text.error());
  wire::AddToTree entry = tree_entry(path, wire::FileKind::kSymlink, status);
  entry.target = std::move(*text);
  TRY(to_.ask(entry));
  ++counts_.links;
  return {};
}

Status Copier::enter(int parent, const std::string& name, const std::string& path) {
  auto directory = sys::open_beneath(parent, name, sys::Beneath::kListing);
  if (!directory) return passed_over(directory.error());
  const sys::FileStatus status = TRY(sys::file_status(directory->get(), ""));
  if (is_elsewhere(status)) return {};
  if (levels_.size() == kLevelsMax) return fail(Error::invalid("directories nested too deep to be copied"));
  auto names = TRY(sys::names_in(directory->get(), path));
  TRY(to_.ask(tree_entry(path, wire::FileKind::kDirectory, status)));
  ++counts_.directories;
  levels_.push_back({std::move(*directory), path, std::move(names)});
  return {};
}

// What is mounted in the tree lies at another place too, which nobody named, be it of the same file system.
bool Copier::is_elsewhere(const sys::FileStatus& status) {
  const bool elsewhere = status.device != top_.device || status.mount != top_.mount;
  if (elsewhere) ++counts_.elsewhere;
  return elsewhere;
}

Status Copier::copy_content(int from, int to) {
  if (sys::clone_content(from, to)) {
    ++counts_.cloned;
    return {};
  }
  return sys::copy_content(from, to, voice_.go_on);
}

// It comes from a process of the agent's user. With any other file something of somebody else's could be overwritten.
Status Copier::check_given(int file) const {
  const sys::FileStatus status = TRY(sys::file_status(file, ""));
  const bool fits = status.kind == sys::EntryKind::kFile && status.owner == owner_ && status.size == 0;
  // Files of proc(5) look new and empty, and what is written there is done with the writer's rights.
  if (fits && status.links <= 1 && !TRY(sys::is_on_proc(file))) return {};
  return fail(Error{Code::kPermissionDenied, 0, "the agent's user handed over another file than a new one"});
}

// What is gone, or became something else, since its name was read; and what is closed to whoever copies.
Status Copier::passed_over(const Error& error) {
  // EAGAIN: somebody holds a lease on it (fcntl(2), F_SETLEASE).
  const bool is_closed = error.sys_errno == EACCES || error.sys_errno == EPERM || error.sys_errno == EAGAIN;
  if (is_closed) ++counts_.unreadable;
  const bool is_race = error.sys_errno == ENOENT || error.sys_errno == ELOOP || error.sys_errno == ENOTDIR;
  // A socket that is opened.
  if (error.sys_errno == ENXIO) ++counts_.special;
  if (is_closed || is_race || error.sys_errno == ENXIO) return {};
  return fail(Error(error));
}

}  // namespace

}  // namespace hutch::service
