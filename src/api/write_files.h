// Files that a user of the library has written, as requests to the sandbox's file server.
#pragma once

#include <hutch/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "wire/files.h"

namespace hutch::api {

// A place whose root is empty is below the working directory as the sandbox has it.
Result<std::vector<wire::WriteFile>> write_requests(const std::vector<FileInput>& files,
                                                    const std::string& working_directory);

}  // namespace hutch::api
