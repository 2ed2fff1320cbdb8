// Walks below a directory: what is in it, level by level, and files by a pattern of their names.
#pragma once

#include "base/result.h"
#include "wire/files.h"

namespace hutch::guest {

Result<wire::FileEntries> list_directory(const wire::ListDirectory& request);
Result<wire::FileEntries> find_files(const wire::FindFiles& request);

}  // namespace hutch::guest
