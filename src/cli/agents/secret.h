// hutch secret.
#pragma once

#include "cli/options/host_arguments.h"

namespace hutch::cli {

// The exit code: of check 1 where there is none.
int secret(const SecretArguments& arguments);

}  // namespace hutch::cli
