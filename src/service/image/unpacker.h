// Starting hutch-unpack: files of an image are made and removed by it alone.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "plan/id_map.h"

namespace hutch::service {

struct Unpacked {
  std::string digest;  // "sha256:..." of every byte of the archive
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t special = 0;     // devices and the like that were left out
  std::uint64_t privileged = 0;  // files that lost a set-user-ID or set-group-ID bit
};

// The archive (a descriptor that can be read) becomes files in `directory`, which is there and empty.
Result<Unpacked> unpack(int archive, const std::string& directory, const plan::IdMap& ids);
// A layer of an image over what the layers below it have made there.
Result<Unpacked> unpack_layer(int archive, const std::string& directory, const plan::IdMap& ids);

// Removes a directory with all that is in it, whichever of the ids it belongs to. Nothing there is no error.
Status remove_files(const std::string& directory, const plan::IdMap& ids);

}  // namespace hutch::service
