// The index of a git repository: from it "git restore" and "git checkout" write files, by the names that it gives them.
// git takes those names as they are, without the look that it has at the names in a commit (verify_path() of its
// read-cache.c).
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

// Bytes of an object's name, by extensions.objectFormat of git-config(1).
enum class GitHash : std::uint8_t { kSha1 = 20, kSha256 = 32 };

struct GitIndexEntry {
  std::string_view name;
  std::uint32_t mode = 0;
  std::string_view object;  // its name, in bytes
};

// Reads gitformat-index(5), versions 2 to 4, entry by entry. What git could read in another way than this is an error:
// entries that their own offsets (EOIE, IEOT) would have it find elsewhere, names that hold a zero byte.
class GitIndexReader {
 public:
  // `bytes` has to outlive it.
  static Result<GitIndexReader> open(std::string_view bytes, GitHash hash);

  // Absent at the end. The views hold until the next call.
  Result<std::optional<GitIndexEntry>> next();

  // Once all entries were read: the object name in hexadecimal of the index that this one is a part of, which lies
  // beside it as "sharedindex.NAME"; empty where it is whole.
  Result<std::string> shared() const;

 private:
  GitIndexReader(std::string_view bytes, std::size_t hash) : bytes_(bytes), hash_(hash) {}
  Status check_offsets(std::string_view table) const;

  std::string_view bytes_;  // without the sum at its end
  std::size_t hash_;
  std::uint32_t version_ = 0;
  std::uint32_t count_ = 0;
  std::size_t at_ = 0;
  std::string name_;  // of version 4, where an entry's name continues the one before
  struct Begin {
    std::size_t at = 0;
    bool alone = true;  // its name does not continue another one
  };
  std::vector<Begin> begins_;
};

struct GitStaged {
  std::string name;
  std::uint32_t mode = 0;
  std::string object;  // its name, in bytes
};

struct GitIndexLook {
  std::string outside;  // the first name that git would write out of the work tree, or into its own directory
  std::vector<GitStaged> staged;
  std::string shared;  // see GitIndexReader::shared()
};

// `counts`: whether a name is to be among `staged`. An error: git may read what this could not.
Result<GitIndexLook> look_at_git_index(std::string_view bytes, GitHash hash,
                                       const std::function<bool(std::string_view name)>& counts);

// Takes out of `staged` what another index has as well. An error leaves it as it is.
Status drop_staged_in(std::string_view index, GitHash hash, std::vector<GitStaged>& staged);

// Whether git would write, or read, a file of the work tree by that name (verify_path()); `mode` is that of an entry.
bool is_work_tree_name(std::string_view name, std::uint32_t mode = 0);

// Whether what is written by an entry of that mode is a file, and no symbolic link.
bool is_file_mode(std::uint32_t mode);

// Whether git would refuse the file, which then does nothing.
bool is_no_git_index(std::string_view bytes);

}  // namespace hutch::plan
