// Reading and writing that do not wait, at an end that others use as it is: no flag of it is changed. preadv2(2).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/result.h"

namespace hutch::sys {

// As read_some() and write_some() of one that is open with O_NONBLOCK. Where the kernel cannot (pipes before Linux 6.4)
// they are for right after poll(2) said that something is there, or room; of a pipe's room no more is taken than it has
// for sure (pipe(7), PIPE_BUF).
Result<std::size_t> read_now(int fd, std::span<char> into);
Result<std::size_t> write_now(int fd, std::string_view bytes);

}  // namespace hutch::sys
