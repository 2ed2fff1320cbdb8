// Error construction and context.
#include "base/result.h"

#include <cstring>

namespace hutch {

namespace {

Code code_of(int err) {
  switch (err) {
    case ENOENT: return Code::kNotFound;
    case EACCES:
    case EPERM: return Code::kPermissionDenied;
    case EEXIST:
    case EBUSY: return Code::kConflict;
    case ENOSYS:
    case EOPNOTSUPP: return Code::kUnsupported;
    case ETIMEDOUT: return Code::kTimeout;
    case EINVAL: return Code::kInvalidArgument;
    default: return Code::kSystem;
  }
}

}  // namespace

Error Error::from_errno(std::string_view what, int err) {
  std::string message(what);
  message += ": ";
  message += std::strerror(err);
  return {code_of(err), err, std::move(message)};
}

Error Error::with_context(std::string_view context) && {
  message.insert(0, ": ").insert(0, context);
  return std::move(*this);
}

}  // namespace hutch
