// The lists of a file that is held by a descriptor, O_PATH or not: read, written.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "plan/setup/sharing.h"
#include "sys/files/beneath.h"

namespace hutch::service {

Result<plan::SharedFile> read_lists(int file, const sys::FileStatus& status);
Status write_lists(int file, const plan::AclChange& change);

// Code::kUnsupported says what to do instead.
Error list_error(Error error, const std::string& path);

// Whether either list has an entry of that user's.
bool names_user(const plan::SharedFile& file, std::uint32_t uid);

}  // namespace hutch::service
