// hutch secret answer: asks whoever types for the secrets that agents ask for.
#pragma once

namespace hutch::cli {

// Until it is ended; the exit code.
int secret_answer();

}  // namespace hutch::cli
