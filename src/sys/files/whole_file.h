// Files that are only ever there whole: written beside, synced, renamed. fsync(2), rename(2), rename's directory.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hutch::sys {

// `path` holds `text` afterwards, or what it held before, whenever this process or the machine ends. A file that is
// there keeps its mode; a new one gets 0600. Its directory has to be there.
Status replace_file(const std::string& path, std::string_view text);

}  // namespace hutch::sys
