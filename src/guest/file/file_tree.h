// Removing and moving whole trees, and making directories.
#pragma once

#include <functional>

#include "base/result.h"
#include "wire/files.h"

namespace hutch::guest {

// Asked now and then by what may take long: an error ends it.
using GoOn = std::function<Status()>;

Result<wire::FileRemoved> remove_file(const wire::RemoveFile& request, const GoOn& go_on);
// Its errors are explained already.
Result<wire::FileMoved> move_file(const wire::MoveFile& request, const GoOn& go_on);
Status make_directory(const wire::FilePlace& place);

// Everything of the name in the directory; how many entries that were.
Result<std::uint64_t> remove_tree(int directory, const std::string& name, const GoOn& go_on);

}  // namespace hutch::guest
