// Which names of an archive may be made, and how they are called below the target directory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hutch::unpack {

// The name without "./", doubled and last slashes; empty for the top directory itself. An absolute name, one with ".."
// and one that is too long or too deep is an error.
Result<std::string> plain_name(std::string_view name);

// "a/b" of "a/b/c", "" of "a"; and the last part.
std::string directory_of(const std::string& name);
std::string last_part(const std::string& name);

// A name of a layer that takes away what layers below it have (OCI image layer specification, "Whiteouts"):
// "a/.wh.b" takes "a/b", "a/.wh..wh..opq" all that is in "a".
struct Whiteout {
  enum class What : std::uint8_t { kEntry, kContent } what = What::kEntry;
  std::string name;  // of the entry, or of the directory
};
// None: an ordinary name. An error: a whiteout of nothing that has a name, or something below one.
Result<std::optional<Whiteout>> whiteout_of(const std::string& name);

}  // namespace hutch::unpack
