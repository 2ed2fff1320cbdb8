// Ways, by their lists.
#include "service/share/ways.h"

#include <array>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "service/share/lists.h"
#include "sys/files/files.h"

namespace hutch::service {

Result<std::vector<ClosedWay>> ways_to_open(const std::string& path, const host::OsUser& user, std::uint32_t sharer) {
  std::vector<ClosedWay> closed;
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string name = path.substr(0, slash);
    ClosedWay way{.directory = {.path = name, .agent = user.uid}, .file = TRY(sys::open_exact(name)), .status = {}};
    way.status = TRY(sys::file_status(way.file.get(), ""));
    const auto file = read_lists(way.file.get(), way.status);
    if (!file && file.error().code != Code::kUnsupported) return fail(list_error(file.error(), name));
    // A directory whose file system keeps no lists lets through whom its mode lets through.
    const plan::SharedFile by_mode{.mode = way.status.mode,
                                   .of = {.owner = way.status.owner, .group = way.status.group}};
    const plan::SharedFile& found = file ? *file : by_mode;
    const plan::Acl access = plan::access_of(found);
    if ((plan::rights_of(access, found.of, user.uid, user.groups) & plan::kAclExecute) != 0) continue;
    if (!file) return fail(list_error(file.error(), name));
    if (sharer != 0 && way.status.owner != sharer) {
      return fail(Error{.code = Code::kPermissionDenied,
                        .message = cat({user.name, " cannot pass through ", printable(name),
                                        ", which is not yours; its owner, or root, can share what is below it"})});
    }
    way.directory.before = found.access;
    closed.push_back(std::move(way));
  }
  return closed;
}

Status open_way(const ClosedWay& way) {
  const plan::SharedFile file = TRY(read_lists(way.file.get(), way.status));
  const plan::AclChange change{.access = plan::with_user(plan::access_of(file), way.directory.agent, plan::kAclExecute),
                               .defaults = {}};
  return write_lists(way.file.get(), change);
}

Status close_way(const store::OpenedDirectory& directory, std::span<const std::uint32_t> others) {
  const auto opened = sys::open_exact(directory.path);
  if (!opened) {
    const int reason = opened.error().sys_errno;
    const bool is_gone = reason == ENOENT || reason == ENOTDIR || reason == ELOOP;
    return is_gone ? Status() : fail(Error(opened.error()));
  }
  const sys::FileStatus status = TRY(sys::file_status(opened->get(), ""));
  if (status.kind != sys::EntryKind::kDirectory) return {};
  const plan::SharedFile file = TRY(read_lists(opened->get(), status));
  if (file.access.empty()) return {};
  const std::array users = {directory.agent};
  const plan::Acl access = directory.before.empty() ? plan::without_users(file.access, users)
                                                    : plan::restored(file.access, directory.before, users, others);
  if (access == file.access) return {};
  return write_lists(opened->get(), {.access = access, .defaults = {}});
}

}  // namespace hutch::service
