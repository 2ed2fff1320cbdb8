// Access control lists as attributes, by way of the descriptor of the directory.
#include "sys/files/acl.h"

#include <sys/xattr.h>

#include <array>
#include <span>

#include "base/text.h"
#include "sys/call.h"
#include "sys/files/files.h"

namespace hutch::sys {

namespace {

// 8192 entries of eight bytes, the most that a list may have.
constexpr std::size_t kSmall = 4096;
constexpr std::size_t kLargest = 65536 + 4;

const char* attribute_name(AclKind kind) {
  return kind == AclKind::kAccess ? "system.posix_acl_access" : "system.posix_acl_default";
}

// Calls that take a directory's descriptor and a name, setxattrat(2), came with Linux 6.13. The last component alone is
// looked up by name, and a symbolic link there is not followed.
std::string way_to(int directory, const std::string& name) {
  return cat({"/proc/self/fd/", std::to_string(directory), "/", name});
}

// fgetxattr(2) and the like refuse a descriptor of O_PATH. What it is of has no other name that stays.
std::string way_to_itself(int file) { return cat({"/proc/self/fd/", std::to_string(file)}); }

bool is_held_as_path(long answer) { return answer < 0 && errno == EBADF; }

// What one call answered, and which of the three forms of it was made.
struct Called {
  long answer = 0;
  const char* call = "";
};

Called get(int directory, const std::string& name, AclKind kind, std::span<char> into) {
  const char* key = attribute_name(kind);
  if (!name.empty()) {
    return {::lgetxattr(way_to(directory, name).c_str(), key, into.data(), into.size()), "lgetxattr"};
  }
  const ssize_t length = ::fgetxattr(directory, key, into.data(), into.size());
  if (!is_held_as_path(length)) return {length, "fgetxattr"};
  return {::getxattr(way_to_itself(directory).c_str(), key, into.data(), into.size()), "getxattr"};
}

Called set(int directory, const std::string& name, AclKind kind, std::string_view attribute) {
  const char* key = attribute_name(kind);
  const char* data = attribute.data();
  if (!name.empty()) {
    return {::lsetxattr(way_to(directory, name).c_str(), key, data, attribute.size(), 0), "lsetxattr"};
  }
  const int answer = ::fsetxattr(directory, key, data, attribute.size(), 0);
  if (!is_held_as_path(answer)) return {answer, "fsetxattr"};
  return {::setxattr(way_to_itself(directory).c_str(), key, data, attribute.size(), 0), "setxattr"};
}

Called remove(int directory, const std::string& name, AclKind kind) {
  const char* key = attribute_name(kind);
  if (!name.empty()) return {::lremovexattr(way_to(directory, name).c_str(), key), "lremovexattr"};
  const int answer = ::fremovexattr(directory, key);
  if (!is_held_as_path(answer)) return {answer, "fremovexattr"};
  return {::removexattr(way_to_itself(directory).c_str(), key), "removexattr"};
}

Status check_call(const Called& called, int directory, const std::string& name, AclKind kind) {
  if (called.answer >= 0) return {};
  const int err = errno;
  const std::string itself = way_to_itself(directory);
  const std::string of = printable(name.empty() ? read_link(itself).value_or(itself) : name);
  Error error = Error::from_errno(cat({called.call, "(", of, ", ", attribute_name(kind), ")"}), err);
  if (err == EOPNOTSUPP) error.code = Code::kUnsupported;
  return fail(std::move(error));
}

}  // namespace

Result<std::string> acl_attribute(int directory, const std::string& name, AclKind kind) {
  std::array<char, kSmall> small;
  const Called first = get(directory, name, kind, small);
  if (first.answer >= 0) return std::string(small.data(), static_cast<std::size_t>(first.answer));
  if (errno == ENODATA) return std::string();
  if (errno != ERANGE) TRY(check_call(first, directory, name, kind));
  std::string large(kLargest, '\0');
  const Called whole = get(directory, name, kind, large);
  TRY(check_call(whole, directory, name, kind));
  large.resize(static_cast<std::size_t>(whole.answer));
  return large;
}

Status set_acl_attribute(int directory, const std::string& name, AclKind kind, std::string_view attribute) {
  return check_call(set(directory, name, kind, attribute), directory, name, kind);
}

Status remove_acl_attribute(int directory, const std::string& name, AclKind kind) {
  const Called removed = remove(directory, name, kind);
  if (removed.answer < 0 && errno == ENODATA) return {};
  return check_call(removed, directory, name, kind);
}

Result<bool> has_capabilities(int file) {
  static constexpr const char* kName = "security.capability";
  ssize_t length = ::fgetxattr(file, kName, nullptr, 0);
  if (is_held_as_path(length)) length = ::getxattr(way_to_itself(file).c_str(), kName, nullptr, 0);
  if (length < 0 && (errno == ENODATA || errno == EOPNOTSUPP)) return false;
  TRY(check(length, {"fgetxattr(", kName, ")"}));
  return true;
}

}  // namespace hutch::sys
