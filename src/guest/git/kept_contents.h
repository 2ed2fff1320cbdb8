// Keeps contents that are about to be lost in the quarantine of hutch's data
// directory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::guest {

class KeptContents {
 public:
  explicit KeptContents(UniqueFd directory) : directory_(std::move(directory)) {}

  // In a new file, whose name begins with that one, and is returned. An error:
  // it is not kept.
  Result<std::string> keep(const std::string& name, std::string_view bytes);

 private:
  static constexpr std::size_t kFilesMax = 256;
  static constexpr std::uint64_t kBytesMax = 64 << 20;

  UniqueFd directory_; // absent: nothing can be kept
  std::size_t files_ = 0;
  std::uint64_t bytes_ = 0;
};

} // namespace hutch::guest
