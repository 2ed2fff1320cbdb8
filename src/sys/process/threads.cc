// Starts threads, where a failure is a value.
#include "sys/process/threads.h"

#include <malloc.h>

#include <system_error>
#include <utility>

namespace hutch::sys {

Result<std::thread> start_thread(std::move_only_function<void()> work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error& error) {
    return fail(Error::from_errno("start a thread", error.code().value()));
  }
}

void release_free_memory() { ::malloc_trim(0); }

}  // namespace hutch::sys
