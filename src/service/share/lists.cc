// Attributes to lists and back.
#include "service/share/lists.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "sys/files/acl.h"

namespace hutch::service {

namespace {

const std::string kItself;
constexpr unsigned kAnyExecute = 0111;

Result<plan::Acl> read_list(int file, sys::AclKind kind) {
  const std::string attribute = TRY(sys::acl_attribute(file, kItself, kind));
  return attribute.empty() ? plan::Acl() : plan::parse_acl(attribute);
}

}  // namespace

Result<plan::SharedFile> read_lists(int file, const sys::FileStatus& status) {
  plan::SharedFile found{.is_directory = status.kind == sys::EntryKind::kDirectory,
                         .mode = status.mode,
                         .of = {.owner = status.owner, .group = status.group}};
  found.access = TRY(read_list(file, sys::AclKind::kAccess));
  const bool is_program = status.kind == sys::EntryKind::kFile && (status.mode & kAnyExecute) != 0;
  if (is_program) found.has_capabilities = TRY(sys::has_capabilities(file));
  if (found.is_directory) found.defaults = TRY(read_list(file, sys::AclKind::kDefault));
  return found;
}

Status write_lists(int file, const plan::AclChange& change) {
  if (change.access) {
    TRY(sys::set_acl_attribute(file, kItself, sys::AclKind::kAccess, plan::encode_acl(*change.access)));
  }
  if (!change.defaults) return {};
  if (change.defaults->empty()) return sys::remove_acl_attribute(file, kItself, sys::AclKind::kDefault);
  return sys::set_acl_attribute(file, kItself, sys::AclKind::kDefault, plan::encode_acl(*change.defaults));
}

Error list_error(Error error, const std::string& path) {
  if (error.code == Code::kUnsupported) {
    error.message = cat({printable(path), " is on a file system without access control lists; give a copy instead"});
    return error;
  }
  return std::move(error).with_context(printable(path));
}

bool names_user(const plan::SharedFile& file, std::uint32_t uid) {
  const auto is_theirs = [uid](const plan::AclEntry& entry) {
    return entry.tag == plan::AclTag::kUser && entry.id == uid;
  };
  return std::ranges::any_of(file.access, is_theirs) || std::ranges::any_of(file.defaults, is_theirs);
}

}  // namespace hutch::service
