// Reading and replacing one file.
#include "guest/file/content.h"

#include <cerrno>
#include <optional>
#include <utility>

#include "base/put_content.h"
#include "base/text.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/io.h"
#include "sys/process/process.h"

namespace hutch::guest {

namespace {

constexpr std::uint32_t kNewFileMode = 0644;

Result<UniqueFd> open_regular(const wire::FilePlace& place, sys::FileStatus& status);
Status check_regular(const wire::FilePlace& place, const sys::FileStatus& status);
using Expected = std::optional<wire::FileVersion>;
Status check_replaceable(const wire::FilePlace& place, const Expected& expected, const Found& found);
Status check_version(const wire::FilePlace& place, const Expected& expected,
                     const std::optional<sys::FileStatus>& status);
std::string temporary_name();
std::uint32_t written_mode(const Found& found, std::optional<std::uint32_t> wanted);
Result<std::optional<wire::FileWritten>> put_at_once(const wire::WriteFile& request, Unsettled& unsettled);
Error changed(std::string_view path);

}  // namespace

Result<wire::FileStat> stat_file(const wire::FilePlace& place) {
  const Root root = TRY(open_root(place));
  const UniqueFd file = TRY(open_below(root, place.path, sys::Beneath::kLink));
  wire::FileStat stat = to_wire(TRY(sys::file_status(file.get(), "")));
  if (stat.kind == wire::FileKind::kSymlink) stat.target = TRY(sys::link_text(file.get(), ""));
  return stat;
}

Result<wire::FileContent> read_file(const wire::ReadFile& request) {
  sys::FileStatus status;
  const UniqueFd file = TRY(open_regular(request.place, status));
  wire::FileContent content;
  // What was there before the reading: whoever writes meanwhile makes it another version.
  content.stat = to_wire(status);
  content.bytes = TRY(sys::read_at(file.get(), request.offset, request.bytes_max));
  return content;
}

Result<wire::FileWritten> write_file(const wire::WriteFile& request, Unsettled& unsettled) {
  if (auto written = TRY(put_at_once(request, unsettled))) return *written;
  Replacement file = TRY(Replacement::begin(request.place, request.mode, request.expected));
  TRY(file.append(request.content));
  return file.put(unsettled);
}

Result<Replacement> Replacement::begin(const wire::FilePlace& place, std::optional<std::uint32_t> mode,
                                       std::optional<wire::FileVersion> expected) {
  Found found = TRY(find_target(place, Parents::kMade));
  TRY(check_replaceable(place, expected, found));
  const std::uint32_t wanted = written_mode(found, mode);
  Temporary file = TRY(Temporary::make_file(found.directory.get(), wanted & 0777U));
  return Replacement(place, wanted, expected, std::move(found), std::move(file));
}

Status Replacement::append(std::string_view bytes) { return sys::write_all(file_.fd(), bytes); }

Result<wire::FileWritten> Replacement::put(Unsettled& unsettled) {
  // Most often it has that mode: a change of it waits for the supervisor's word, the look at it does not.
  if (TRY(sys::file_status(file_.fd(), "")).mode != mode_) TRY(sys::set_mode(file_.fd(), mode_));
  if (expected_) {
    auto now = sys::file_status(found_.directory.get(), found_.name);
    TRY(check_version(place_, expected_, now ? std::optional(*now) : std::nullopt));
  }
  const bool created = !found_.status;
  TRY(created ? file_.put(found_.name) : file_.exchange(found_.name));
  wire::FileWritten written{to_wire(TRY(sys::file_status(file_.fd(), ""))), created};
  if (!created) unsettled.add(file_.finish());
  return written;
}

void Unsettled::add(UniqueFd file, UniqueFd replaced) {
  static constexpr std::size_t kFilesMax = 32;
  if (files_.size() == kFilesMax) settle();
  files_.push_back(std::move(file));
  replaced_.push_back(std::move(replaced));
}

void Unsettled::settle() {
  for (const UniqueFd& file : files_) sys::start_writing_out(file.get());
  files_.clear();
  replaced_.clear();
}

Result<Temporary> Temporary::make_file(int directory, unsigned mode) {
  static constexpr int kTriesMax = 100;
  for (int tries = 1;; ++tries) {
    const std::string name = temporary_name();
    auto fd = sys::make_file(directory, name, mode);
    if (fd) return Temporary(directory, name, std::move(*fd));
    if (fd.error().sys_errno != EEXIST || tries == kTriesMax) return fail(std::move(fd).error());
  }
}

Result<Temporary> Temporary::make_directory(int directory) {
  static constexpr int kTriesMax = 100;
  for (int tries = 1;; ++tries) {
    const std::string name = temporary_name();
    const Status made = sys::make_directory(directory, name, 0700);
    if (made) return Temporary(directory, name, TRY(sys::open_beneath(directory, name, sys::Beneath::kListing)));
    if (made.error().sys_errno != EEXIST || tries == kTriesMax) return fail(made.error());
  }
}

Temporary::~Temporary() { (void)finish(); }

UniqueFd Temporary::finish() {
  if (!fd_ || name_.empty()) return std::move(fd_);
  // One of them: the other kind is refused by the kernel. A directory goes when what was put into it has gone.
  if (!sys::unlink_at(directory_, name_)) (void)sys::remove_directory_at(directory_, name_);
  name_.clear();
  return std::move(fd_);
}

Status Temporary::put(const std::string& name) {
  TRY(sys::rename_at(directory_, name_, directory_, name, sys::Replacing::kAllowed));
  name_.clear();
  return {};
}

Status Temporary::exchange(const std::string& name) {
  const Status exchanged = sys::rename_at(directory_, name_, directory_, name, sys::Replacing::kExchanged);
  const int error = exchanged ? 0 : exchanged.error().sys_errno;
  // It was removed meanwhile, or the file system cannot.
  if (error == ENOENT || error == EINVAL || error == ENOSYS) return put(name);
  TRY(exchanged);
  const auto old = sys::file_status(directory_, name_);
  if (!old || old->kind == sys::EntryKind::kFile) return {};
  // Something else took the name since it was looked at: it gets it back.
  TRY(sys::rename_at(directory_, name_, directory_, name, sys::Replacing::kExchanged));
  return fail(changed(name));
}

namespace {

// By the supervisor of file changes in one call, where there is one. Absent: the long way has to be gone, which also
// says what is wrong.
Result<std::optional<wire::FileWritten>> put_at_once(const wire::WriteFile& request, Unsettled& unsettled) {
  if (request.content.size() > kPutContentBytesMax) return std::optional<wire::FileWritten>();
  const Found found = TRY(find_target(request.place, Parents::kMade));
  TRY(check_replaceable(request.place, request.expected, found));
  const std::uint32_t mode = written_mode(found, request.mode) & 0777U;
  // It is opened for reading, to be looked at.
  if ((mode & 0400U) == 0) return std::optional<wire::FileWritten>();
  auto replaced = found.status ? sys::open_beneath(found.directory.get(), found.name, sys::Beneath::kLink) : UniqueFd();
  const auto inode = sys::put_content(found.directory.get(), found.name, request.content, mode);
  if (!inode && inode.error().sys_errno == ESTALE) return fail(changed(found.name));
  if (!inode) return std::optional<wire::FileWritten>();
  UniqueFd file = TRY(sys::open_beneath(found.directory.get(), found.name, sys::Beneath::kReadExact));
  const sys::FileStatus status = TRY(sys::file_status(file.get(), ""));
  if ((status.inode & static_cast<std::uint64_t>(INT64_MAX)) != *inode) return fail(changed(found.name));
  if (found.status) unsettled.add(std::move(file), std::move(replaced).value_or(UniqueFd()));
  return wire::FileWritten{to_wire(status), !found.status};
}

// Without the bits that give rights, which a write takes away as well.
std::uint32_t written_mode(const Found& found, std::optional<std::uint32_t> wanted) {
  return wanted.value_or(found.status ? found.status->mode & 0777U : kNewFileMode);
}

Error changed(std::string_view path) {
  return {Code::kConflict, 0, cat({printable(path), ": was changed by somebody else"})};
}

// Looked at before it is opened, since opening a device may already do something, and after, since it may be another
// by then.
Result<UniqueFd> open_regular(const wire::FilePlace& place, sys::FileStatus& status) {
  const Root root = TRY(open_root(place));
  const UniqueFd path = TRY(open_below(root, place.path, sys::Beneath::kPath));
  const sys::FileStatus seen = TRY(sys::file_status(path.get(), ""));
  TRY(check_regular(place, seen));
  UniqueFd file = TRY(open_below(root, place.path, sys::Beneath::kRead));
  status = TRY(sys::file_status(file.get(), ""));
  TRY(check_regular(place, status));
  return file;
}

Status check_regular(const wire::FilePlace& place, const sys::FileStatus& status) {
  if (status.kind == sys::EntryKind::kFile) return {};
  const std::string path = printable(place.path);
  if (status.kind == sys::EntryKind::kDirectory) return fail(Error::invalid(cat({path, ": is a directory"})));
  return fail(Error::invalid(cat({path, ": is not a regular file"})));
}

Status check_replaceable(const wire::FilePlace& place, const Expected& expected, const Found& found) {
  TRY(check_version(place, expected, found.status));
  if (!found.status) return {};
  TRY(check_regular(place, *found.status));
  // A rename asks for no right to the file itself: one that is read-only would be gone all the same. Its owner's right
  // is in its mode (path_resolution(7), acl(5)); to ask costs a word of the supervisor, which the rename asks as well.
  if (found.status->owner == sys::user_id() && (found.status->mode & 0200U) != 0) return {};
  return sys::check_writable_at(found.directory.get(), found.name);
}

Status check_version(const wire::FilePlace& place, const Expected& expected,
                     const std::optional<sys::FileStatus>& status) {
  if (!expected || (status && to_wire(*status).version == *expected)) return {};
  return fail(changed(place.path));
}

std::string temporary_name() {
  static std::uint64_t count = 0;
  return cat({".hutch-", std::to_string(sys::own_pid()), "-", std::to_string(++count)});
}

}  // namespace

}  // namespace hutch::guest
