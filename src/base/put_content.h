// One call by which a program asks the supervisor of file changes for a whole file: renameat2(2) with a flag that no
// kernel knows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hutch {

// renameat2(x, &PutContent, directory, name, kPutContentFlag): `name`, if it is there a regular file, becomes a new
// file of that content and mode in the same moment. It answers with the inode; ESTALE, with all as it was, where
// something else has the name. A kernel, and so a mount that nobody supervises, answers EINVAL: what the structure
// begins with is a path to it.
struct PutContent {
  std::array<char, 8> path = {"content"};
  std::uint64_t address = 0;
  std::uint64_t size = 0;  // at most kPutContentBytesMax
  std::uint64_t mode = 0;  // permission bits; no mask is taken from them
};

inline constexpr unsigned kPutContentFlag = 1U << 31U;
// The supervisor keeps it while somebody is asked about the call.
inline constexpr std::size_t kPutContentBytesMax = 64 << 10;

}  // namespace hutch
