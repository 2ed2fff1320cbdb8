// The file server of a sandbox: a process beside the init that answers the host's requests for files.
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::guest {

// Starts it as a child of this process, which is locked down and under the filter of system calls by then: it can do no
// more than a command of the sandbox. The answer is the host's end; the server ends with it, and with this process.
Result<UniqueFd> start_file_server();

// Answers one request after another until the other end closes. A frame that breaks a rule is an error.
Status serve_files(UniqueFd socket);

}  // namespace hutch::guest
