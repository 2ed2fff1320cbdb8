// Access control lists of files, and their capabilities, as the kernel's attributes: fgetxattr(2), fsetxattr(2),
// fremovexattr(2), acl(5).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hutch::sys {

enum class AclKind {
  kAccess,
  kDefault,  // of a directory: what is made in it gets
};

// Of `name` in the directory that is open on `directory`, a symbolic link not followed; of what is open itself when
// `name` is empty, which takes a third of the time unless it is open as O_PATH.
// Empty where there is none. Code::kUnsupported where the file system keeps no such lists.
Result<std::string> acl_attribute(int directory, const std::string& name, AclKind kind);

// A list of the three entries of a mode becomes the mode, and no list is kept. Whoever does not own the file gets
// EPERM.
Status set_acl_attribute(int directory, const std::string& name, AclKind kind, std::string_view attribute);

// One that is not there is removed already.
Status remove_acl_attribute(int directory, const std::string& name, AclKind kind);

// Whether running the file gives capabilities (capabilities(7), "File capabilities"). Of a file system without them:
// no.
Result<bool> has_capabilities(int file);

}  // namespace hutch::sys
