// The file server of a sandbox: a process beside the init that answers the host's requests for files.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::guest {

struct StartedFileServer {
  UniqueFd stream;  // the host's end: the server ends with it
  pid_t pid = -1;
};

// Starts it as a child of this process, which is locked down and under the filter of system calls by then: it can do no
// more than a command of the sandbox. It ends with this process.
Result<StartedFileServer> start_file_server();

// Answers one request after another until the other end closes. A frame that breaks a rule is an error.
Status serve_files(UniqueFd socket);

}  // namespace hutch::guest
