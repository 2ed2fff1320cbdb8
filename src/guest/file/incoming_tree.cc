// A tree that comes from the host, entry by entry.
#include "guest/file/incoming_tree.h"

#include <cerrno>
#include <ranges>
#include <utility>

#include "base/text.h"
#include "guest/file/place.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"

namespace hutch::guest {

namespace {

constexpr std::size_t kDirectoriesMax = 500'000;

// The directories on the way to a place, opened name by name, so that none is a symbolic link.
struct Way {
  UniqueFd directory;
  std::string name;  // in it
  std::size_t made = 0;
};
enum class Missing { kLeft, kMade };
Result<std::optional<Way>> go(const Root& root, const wire::FilePlace& place, Missing missing);
void unmake(const Root& root, const wire::FilePlace& place, std::size_t count);
Status check_free(const Way& way, const wire::FilePlace& place);
Error explain_way(Error error, const std::string& path);
Error is_link() { return Error::from_errno("openat2", ELOOP); }

}  // namespace

Result<wire::FileReply> IncomingTree::begin(const wire::BeginTree& request) {
  if (root_) return fail({Code::kConflict, 0, "another tree is on its way"});
  Root root = TRY(open_root({request.place.root, "."}));
  const auto way = TRY(go(root, request.place, Missing::kLeft));
  if (way) TRY(check_free(*way, request.place));
  if (sys::file_status(root.fd.get(), request.temporary)) {
    return fail({Code::kConflict, 0, cat({printable(request.temporary), ": there is something already"})});
  }
  // For reading: names are made in it.
  root.fd = TRY(sys::open_beneath(root.fd.get(), ".", sys::Beneath::kListing));
  root_ = std::move(root);
  place_ = request.place;
  temporary_ = request.temporary;
  return wire::FileDone{};
}

Result<wire::FileReply> IncomingTree::add(const wire::AddToTree& request) {
  if (!root_) return fail(Error::not_found("there is no tree on its way"));
  const std::string path = cat({temporary_, request.path.empty() ? "" : "/", request.path});
  TRY(explained(add_entry(request), {root_->path, path}));
  return wire::FileDone{};
}

Result<wire::FileReply> IncomingTree::end(const wire::EndTree& request) {
  if (!root_) return fail(Error::not_found("there is no tree on its way"));
  Status done;
  if (request.then == wire::EndTree::Then::kPut) done = put();
  drop();
  TRY(done);
  return wire::FileDone{};
}

Status IncomingTree::add_entry(const wire::AddToTree& request) {
  TRY(settle_file());
  std::string parent = ".";
  std::string name = temporary_;
  if (!request.path.empty()) {
    SplitPath split = TRY(split_path(request.path));
    parent = split.parent == "." ? temporary_ : cat({temporary_, "/", split.parent});
    name = std::move(split.name);
  }
  if (!parent_ || parent_path_ != parent) {
    parent_ = TRY(sys::open_beneath(root_->fd.get(), parent, sys::Beneath::kListing));
    parent_path_ = parent;
  }
  if (request.kind == wire::FileKind::kSymlink) return sys::make_symlink(request.target, parent_.get(), name);
  Entry entry{parent == "." ? name : cat({parent, "/", name}), request.mode, request.modified_ns};
  if (request.kind == wire::FileKind::kDirectory) {
    if (directories_.size() == kDirectoriesMax) return fail(Error::invalid("too many directories"));
    TRY(sys::make_directory(parent_.get(), name, 0700));
    directories_.push_back(std::move(entry));
    return {};
  }
  file_ = TRY(sys::make_file(parent_.get(), name, 0600));
  file_entry_ = std::move(entry);
  return {};
}

Status IncomingTree::settle_file() {
  if (!file_) return {};
  const UniqueFd file = std::move(file_);
  TRY(sys::set_mode(file.get(), file_entry_.mode));
  return sys::set_modified(file.get(), file_entry_.modified_ns);
}

// What is below first: one that may not be passed through hides it.
Status IncomingTree::settle_directories() {
  for (const Entry& entry : std::views::reverse(directories_)) {
    if (entry.path == temporary_) continue;
    const UniqueFd directory = TRY(sys::open_beneath(root_->fd.get(), entry.path, sys::Beneath::kListing));
    TRY(sys::set_mode(directory.get(), entry.mode));
    TRY(sys::set_modified(directory.get(), entry.modified_ns));
  }
  return {};
}

Status IncomingTree::put() {
  TRY(settle_file());
  TRY(settle_directories());
  parent_.reset();
  const bool is_directory = !directories_.empty() && directories_.front().path == temporary_;
  UniqueFd top;
  if (is_directory) top = TRY(sys::open_beneath(root_->fd.get(), temporary_, sys::Beneath::kListing));
  const auto way = TRY(go(*root_, place_, Missing::kMade));
  Status moved = check_free(*way, place_);
  if (moved) {
    moved = sys::rename_at(root_->fd.get(), temporary_, way->directory.get(), way->name, sys::Replacing::kRefused);
    if (!moved) moved = fail(explain_way(moved.error(), place_.path));
  }
  if (!moved) {
    unmake(*root_, place_, way->made);
    return moved;
  }
  temporary_.clear();
  // A directory that may not be written is not moved from one to another: it is the last to get its mode.
  if (is_directory) {
    TRY(sys::set_mode(top.get(), directories_.front().mode));
    TRY(sys::set_modified(top.get(), directories_.front().modified_ns));
  }
  return {};
}

void IncomingTree::drop() {
  file_.reset();
  parent_.reset();
  if (root_ && !temporary_.empty()) {
    // A directory, or a file.
    if (!sys::remove_tree_at(root_->fd.get(), temporary_)) (void)sys::unlink_at(root_->fd.get(), temporary_);
  }
  root_.reset();
  directories_.clear();
  temporary_.clear();
}

namespace {

// Nothing: a directory on the way is missing, and was left so.
Result<std::optional<Way>> go(const Root& root, const wire::FilePlace& place, Missing missing) {
  Way way{TRY(sys::open_beneath(root.fd.get(), ".", sys::Beneath::kListing)), {}, 0};
  const auto names = split(place.path, '/');
  std::string path;
  for (std::size_t at = 0; at + 1 < names.size(); ++at) {
    const std::string name(names[at]);
    path += cat({path.empty() ? "" : "/", name});
    auto next = sys::open_beneath(way.directory.get(), name, sys::Beneath::kListing);
    if (!next && next.error().sys_errno == ENOENT) {
      if (missing == Missing::kLeft) return std::optional<Way>();
      const Status made = sys::make_directory(way.directory.get(), name, 0755);
      if (made) ++way.made;
      if (!made && made.error().sys_errno != EEXIST) return fail(explain_way(made.error(), path));
      next = sys::open_beneath(way.directory.get(), name, sys::Beneath::kListing);
    }
    if (!next) {
      // Of a directory that was wanted the kernel does not tell a link from a file (openat2(2), O_NOFOLLOW).
      const auto status = sys::file_status(way.directory.get(), name);
      if (status && status->kind == sys::EntryKind::kSymlink) return fail(explain_way(is_link(), path));
      return fail(explain_way(std::move(next).error(), path));
    }
    way.directory = std::move(*next);
  }
  way.name = std::string(names.back());
  return std::optional(std::move(way));
}

// The last directories that were made, as far as nothing is in them.
void unmake(const Root& root, const wire::FilePlace& place, std::size_t count) {
  std::string path = place.path;
  for (; count > 0; --count) {
    path.resize(path.rfind('/'));
    const std::size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash);
    const auto directory = sys::open_beneath(root.fd.get(), parent, sys::Beneath::kListing);
    if (!directory || !sys::remove_directory_at(directory->get(), path.substr(slash + 1))) return;
  }
}

Status check_free(const Way& way, const wire::FilePlace& place) {
  const auto status = sys::file_status(way.directory.get(), way.name);
  if (!status && status.error().sys_errno == ENOENT) return {};
  TRY(status);
  return fail({Code::kConflict, 0, cat({printable(place.path), ": there is something already"})});
}

Error explain_way(Error error, const std::string& path) {
  const std::string shown = printable(path);
  if (error.sys_errno == ELOOP) return Error::invalid(cat({shown, ": is a symbolic link, and none is followed"}));
  if (error.sys_errno == EXDEV) return Error::invalid(cat({shown, ": lies on another file system than the home"}));
  return explained(std::move(error), {"/", path});
}

}  // namespace

}  // namespace hutch::guest
