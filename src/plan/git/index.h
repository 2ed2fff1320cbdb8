// The index of a git repository: "git restore" and "git checkout" write files by the names in it. git trusts those
// names, and does not check them as it checks the names in a commit (verify_path() of its read-cache.c).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hutch::plan {

// Bytes of an object's name, as extensions.objectFormat of git-config(1) sets it.
enum class GitHash : std::uint8_t { kSha1 = 20, kSha256 = 32 };

struct GitIndexEntry {
  std::string_view name;
  std::uint32_t mode = 0;
  std::string_view object;  // its name, in bytes
};

// Reads gitformat-index(5), versions 2 to 4, entry by entry. Content that git could read in another way is an error:
// entries that git would find elsewhere by its offsets (EOIE, IEOT), names that contain a zero byte.
class GitIndexReader {
 public:
  // `bytes` must outlive the reader.
  static Result<GitIndexReader> open(std::string_view bytes, GitHash hash);

  // Absent at the end. The views are valid until the next call.
  Result<std::optional<GitIndexEntry>> next();

  // Call this once all entries are read. The trees that git commits for directories without looking at their entries
  // (gitformat-index(5), "Cache tree"), the outermost of each.
  struct CachedTree {
    std::string path;    // "" or "a/b/"
    std::string object;  // its name, in bytes
    bool operator==(const CachedTree&) const = default;
  };
  Result<std::vector<CachedTree>> cached_trees() const;

  // Call this once all entries are read. Returns the object name, in hexadecimal, of the shared index that a split
  // index is a part of; it lies beside this one as "sharedindex.NAME". Empty for a whole index.
  Result<std::string> shared() const;

 private:
  GitIndexReader(std::string_view bytes, std::size_t hash) : bytes_(bytes), hash_(hash) {}
  Status check_offsets(std::string_view table) const;
  enum class Covered { kNo, kYes };  // by the tree of a directory above
  Status add_cached(std::string_view& tree, const std::string& above, Covered covered,
                    std::vector<CachedTree>& trees) const;

  std::string_view bytes_;  // without the checksum at its end
  std::size_t hash_;
  std::uint32_t version_ = 0;
  std::uint32_t count_ = 0;
  std::size_t at_ = 0;
  std::string name_;  // for version 4, where an entry's name continues the previous one
  struct Begin {
    std::size_t at = 0;
    bool alone = true;  // its name does not continue the previous one
  };
  std::vector<Begin> begins_;
};

struct GitStaged {
  std::string name;
  std::uint32_t mode = 0;
  std::string object;  // its name, in bytes
};

struct GitIndexLook {
  std::string outside;  // the first name that git would write outside of the work tree, or into its own directory
  std::vector<GitStaged> staged;
  std::string shared;  // see GitIndexReader::shared()
};

// `counts` tells whether a name belongs into `staged`. An error: git may read something that this reader cannot.
Result<GitIndexLook> look_at_git_index(std::string_view bytes, GitHash hash,
                                       const std::function<bool(std::string_view name)>& counts);

// Removes from `staged` each entry that the other index has too. An error leaves `staged` unchanged.
Status drop_staged_in(std::string_view index, GitHash hash, std::vector<GitStaged>& staged);

// Whether git would write, or read, a file of the work tree by that name (verify_path()). `mode` is the entry's mode.
bool is_work_tree_name(std::string_view name, std::uint32_t mode = 0);

// Whether an entry with that mode is a regular file, not a symbolic link.
bool is_file_mode(std::uint32_t mode);

// Whether git would refuse the file, so that it has no effect.
bool is_no_git_index(std::string_view bytes);

}  // namespace hutch::plan
