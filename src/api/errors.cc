// hutch's own errors as those of the public API.
#include "api/errors.h"

namespace hutch::api {

namespace {

ErrorCode public_code(Code code) {
  switch (code) {
    case Code::kInvalidArgument: return ErrorCode::kInvalidArgument;
    case Code::kNotFound: return ErrorCode::kNotFound;
    case Code::kPermissionDenied: return ErrorCode::kPermissionDenied;
    case Code::kConflict: return ErrorCode::kConflict;
    case Code::kUnsupported: return ErrorCode::kUnsupported;
    case Code::kTimeout: return ErrorCode::kTimeout;
    case Code::kSystem: return ErrorCode::kSystem;
  }
  return ErrorCode::kSystem;
}

}  // namespace

SandboxError to_public(const Error& error) { return {public_code(error.code), error.sys_errno, error.message}; }

}  // namespace hutch::api
