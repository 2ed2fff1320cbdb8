// Removing and moving whole trees, and making directories.
#include "guest/file/file_tree.h"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/text.h"
#include "guest/file/copy.h"
#include "guest/file/place.h"
#include "sys/files/beneath.h"
#include "sys/files/tree.h"

namespace hutch::guest {

namespace {

// Descriptors that a removal holds, and names of a directory that it holds at once.
constexpr std::size_t kTreeLevelsMax = 64;
constexpr std::size_t kTreeNamesMax = 4096;
constexpr std::uint32_t kOwnMode = 0700;
// A tree that somebody goes on filling is given up.
constexpr std::uint64_t kEntriesMax = 10'000'000;

// What becomes of a directory whose owner may not write or list it, as caches of packages are made.
enum class Closed { kIsAnError, kIsOpened };

// Goes by descriptors of directories that were opened without following a link, so that a tree that is changed
// meanwhile leads nowhere else.
class Remover {
 public:
  Remover(const GoOn& go_on, Closed closed) : go_on_(go_on), closed_(closed) {}
  Result<std::uint64_t> run(int directory, const std::string& name);

 private:
  struct Level {
    UniqueFd fd;
    std::string name;
    std::vector<std::string> directories;  // in it, still to be removed
  };
  Status enter(int directory, const std::string& name);
  Status step();
  Status remove_entries(Level& level);
  Status descend(const std::string& name);

  const GoOn& go_on_;
  const Closed closed_;
  std::vector<Level> levels_;
  std::uint64_t removed_ = 0;
  std::uint64_t lifted_ = 0;
};

struct Target {
  UniqueFd directory;
  std::string name;
  wire::FilePlace place;
};
Result<Target> find_move_target(const wire::MoveFile& request, const std::string& name);
bool is_gone(const Status& status) { return !status && status.error().sys_errno == ENOENT; }

}  // namespace

Result<wire::FileRemoved> remove_file(const wire::RemoveFile& request, const GoOn& go_on) {
  auto found = find_name(request.place, Parents::kExpected);
  if (!found && found.error().sys_errno == ENOENT) return wire::FileRemoved{0};
  const Found target = TRY(std::move(found));
  if (!target.status) return wire::FileRemoved{0};
  if (target.status->kind != sys::EntryKind::kDirectory) {
    const Status removed = sys::unlink_at(target.directory.get(), target.name);
    if (is_gone(removed)) return wire::FileRemoved{0};
    TRY(removed);
    return wire::FileRemoved{1};
  }
  if (request.tree == wire::RemoveFile::Tree::kRefuse) {
    return fail(Error::invalid(cat({printable(request.place.path), ": is a directory"})));
  }
  if (request.tree == wire::RemoveFile::Tree::kForce) {
    TRY(sys::remove_tree_at(target.directory.get(), target.name));
    return wire::FileRemoved{1};
  }
  const Closed closed = request.tree == wire::RemoveFile::Tree::kOpen ? Closed::kIsOpened : Closed::kIsAnError;
  return wire::FileRemoved{TRY(Remover(go_on, closed).run(target.directory.get(), target.name))};
}

Result<wire::FileMoved> move_file(const wire::MoveFile& request, const GoOn& go_on) {
  const Found from = TRY(explained(find_name(request.source, Parents::kExpected), request.source));
  if (!from.status) return fail(explained(Error::from_errno("rename", ENOENT), request.source));
  const Target to = TRY(explained(find_move_target(request, from.name), request.destination));
  const int source = from.directory.get();
  const Status renamed = sys::rename_at(source, from.name, to.directory.get(), to.name, sys::Replacing::kAllowed);
  if (renamed) return wire::FileMoved{to.place};
  if (renamed.error().sys_errno == EINVAL) {
    return fail(Error::invalid(cat({printable(request.source.path), ": cannot be moved into itself"})));
  }
  // Another file system, or directories that Landlock lets nothing be moved between (EXDEV as well).
  if (renamed.error().sys_errno != EXDEV) return explained(Result<wire::FileMoved>(fail(renamed.error())), to.place);
  TRY(explained(copy_tree({source, from.name}, {to.directory.get(), to.name}, go_on), to.place));
  TRY(explained(remove_tree(source, from.name, go_on), request.source));
  return wire::FileMoved{to.place};
}

Status make_directory(const wire::FilePlace& place) {
  const Root root = TRY(open_root(place));
  auto made = make_directories(root, place.path);
  if (made) return {};
  // Something else has the name, or one on the way.
  if (made.error().sys_errno != ENOTDIR) return fail(std::move(made).error());
  return fail({Code::kConflict, 0, cat({printable(place.path), ": there is something that is not a directory"})});
}

Result<std::uint64_t> remove_tree(int directory, const std::string& name, const GoOn& go_on) {
  return Remover(go_on, Closed::kIsAnError).run(directory, name);
}

namespace {

Result<std::uint64_t> Remover::run(int directory, const std::string& name) {
  const sys::FileStatus status = TRY(sys::file_status(directory, name));
  if (status.kind != sys::EntryKind::kDirectory) {
    TRY(sys::unlink_at(directory, name));
    return 1;
  }
  TRY(enter(directory, name));
  while (!levels_.empty()) {
    TRY(step());
    if (!levels_.empty() && levels_.back().fd) continue;
    // Empty: its descriptor is closed, and its name goes from the level above.
    const std::string done = std::move(levels_.back().name);
    levels_.pop_back();
    const int above = levels_.empty() ? directory : levels_.back().fd.get();
    const Status removed = sys::remove_directory_at(above, done);
    if (!is_gone(removed)) TRY(removed);
    ++removed_;
  }
  return removed_;
}

Status Remover::enter(int directory, const std::string& name) {
  auto opened = sys::open_beneath(directory, name, sys::Beneath::kListing);
  if (!opened && opened.error().sys_errno == EACCES && closed_ == Closed::kIsOpened) {
    TRY(sys::open_up(directory, name));
    opened = sys::open_beneath(directory, name, sys::Beneath::kListing);
  }
  UniqueFd fd = TRY(std::move(opened));
  // Where it fails it is somebody else's, and so does what is done next.
  if (closed_ == Closed::kIsOpened) (void)sys::set_mode(fd.get(), kOwnMode);
  levels_.push_back({std::move(fd), name, {}});
  return {};
}

// One directory further down, or all entries of this one, or the end of it.
Status Remover::step() {
  Level& level = levels_.back();
  if (level.directories.empty()) TRY(remove_entries(level));
  if (level.directories.empty()) {
    if (TRY(sys::first_names(level.fd.get(), 1)).empty()) level.fd.reset();
    return {};
  }
  const std::string name = std::move(level.directories.back());
  level.directories.pop_back();
  return descend(name);
}

Status Remover::remove_entries(Level& level) {
  TRY(go_on_());
  if (removed_ > kEntriesMax) return fail({Code::kConflict, 0, "the directory is filled while it is removed"});
  for (sys::TreeEntry& entry : TRY(sys::first_names(level.fd.get(), kTreeNamesMax))) {
    if (entry.kind == sys::EntryKind::kUnknown) {
      auto status = sys::file_status(level.fd.get(), entry.name);
      if (status) entry.kind = status->kind;
    }
    if (entry.kind == sys::EntryKind::kDirectory) {
      level.directories.push_back(std::move(entry.name));
      continue;
    }
    const Status removed = sys::unlink_at(level.fd.get(), entry.name);
    if (!is_gone(removed)) TRY(removed);
    ++removed_;
  }
  return {};
}

// A tree may be deeper than descriptors reach: what lies too deep is lifted to the top first, and removed there.
Status Remover::descend(const std::string& name) {
  const int parent = levels_.back().fd.get();
  if (levels_.size() >= kTreeLevelsMax) {
    // A directory is renamed only by who may write it.
    if (closed_ == Closed::kIsOpened) (void)sys::open_up(parent, name);
    const std::string lifted = cat({".hutch-remove-", std::to_string(++lifted_)});
    const Status moved = sys::rename_at(parent, name, levels_.front().fd.get(), lifted, sys::Replacing::kRefused);
    if (!is_gone(moved)) TRY(moved);
    return {};
  }
  Status entered = enter(parent, name);
  if (entered) return {};
  // Replaced by something else meanwhile: the level is looked through again.
  const int error = entered.error().sys_errno;
  return error == ENOENT || error == ENOTDIR || error == ELOOP ? Status() : std::move(entered);
}

// An existing directory takes the source into it.
Result<Target> find_move_target(const wire::MoveFile& request, const std::string& name) {
  const wire::FilePlace& place = request.destination;
  const Root root = TRY(open_root(place));
  auto into = open_below(root, place.path, sys::Beneath::kDirectory);
  if (into) {
    std::string path = place.path;
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return Target{std::move(*into), name, {place.root, path == "." ? name : cat({path, "/", name})}};
  }
  const int error = into.error().sys_errno;
  if (error != ENOENT && error != ENOTDIR) return fail(std::move(into).error());
  const SplitPath path = TRY(split_path(place.path));
  return Target{TRY(make_directories(root, path.parent)), path.name, place};
}

}  // namespace

}  // namespace hutch::guest
