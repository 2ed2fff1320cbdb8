// Starts threads, where a failure is a value.
#pragma once

#include <functional>
#include <thread>

#include "base/result.h"

namespace hutch::sys {

// An error where the machine has no more, or no memory for one (pthread_create(3), EAGAIN): std::thread throws then.
Result<std::thread> start_thread(std::move_only_function<void()> work);

// To the kernel, whole pages of it (malloc_trim(3)).
void release_free_memory();

}  // namespace hutch::sys
