// An archive becomes files below a directory. The archive is hostile; the process is confined before it reads of it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace hutch::unpack {

// Whether the files belong to whom the archive says, or all to the one user that there is.
enum class Owners { kAsArchived, kOne };

// Whether the archive is all that there is, or a layer over what is there: then it may replace what it did not make
// itself, and take it away.
enum class Over { kNothing, kLayers };

struct Limits {
  std::uint64_t entries_max = 2'000'000;
  std::uint64_t bytes_max = 32ULL << 30;
};

struct Report {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t special = 0;    // devices, pipes and sockets that were left out
  std::uint64_t privileged = 0;  // files that lost a set-user-ID or set-group-ID bit
};

// Reads the archive to its end, and past it to the end of the stream.
Result<Report> unpack_archive(int archive, int root, Owners owners, Over over, const Limits& limits);

}  // namespace hutch::unpack
