// Reads commits, trees and tags where git keeps objects: single files and packs (gitrepository-layout(5),
// gitformat-pack(5)). Whoever writes there says what the bytes are; nothing here checks a sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "plan/git/objects.h"

namespace hutch::guest {

class GitStore {
 public:
  // `objects` is an "objects" directory, open for reading names or by O_PATH. Its alternates are followed.
  explicit GitStore(UniqueFd objects);

  // `name` in bytes. kUnreadable: it is larger than any such object should be, or cannot be read, or may be in a pack
  // or another store that only git can read; with kAllAlike also if two copies differ, of which git could read either.
  // Blobs come without their content.
  enum class Copies { kFirst, kAllAlike };
  plan::GitObjectAnswer read(std::string_view name, Copies copies = Copies::kFirst);

 private:
  struct Pack {
    UniqueFd index;
    UniqueFd data;
    std::uint32_t count = 0;
    std::vector<std::uint32_t> fan_out;
  };
  struct Raw {
    int type = 0;  // as a pack has it
    std::string bytes;
  };
  void add_alternates();
  void find_packs();
  enum class Added { kYes, kNo };
  Added add_pack(int directory, const std::string& name);
  static std::optional<plan::GitObject> read_single(int file);
  std::vector<plan::GitObjectAnswer> copies_of(std::string_view name, Copies copies);
  struct Chain {
    std::size_t name_bytes = 0;
    std::size_t length = 0;  // so far
  };
  std::optional<Raw> raw_of(std::string_view name, std::size_t depth);
  std::optional<Raw> raw_at(const Pack& pack, std::uint64_t at, const Chain& chain);
  static std::optional<std::uint64_t> place_of(const Pack& pack, std::string_view name);

  std::vector<UniqueFd> directories_;
  std::vector<Pack> packs_;
  std::vector<std::string> pack_names_;
  bool is_whole_ = true;
};

}  // namespace hutch::guest
