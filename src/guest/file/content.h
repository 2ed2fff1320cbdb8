// Reading and replacing one file.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "guest/file/place.h"
#include "wire/files.h"

namespace hutch::guest {

Result<wire::FileStat> stat_file(const wire::FilePlace& place);
Result<wire::FileContent> read_file(const wire::ReadFile& request);

// A new file or directory beside the one that it is to become; removed unless it was put there.
class Temporary {
 public:
  // An empty file, open for writing, of that mode but what the umask takes.
  static Result<Temporary> make_file(int directory, unsigned mode);
  // A directory of mode 0700, open for reading.
  static Result<Temporary> make_directory(int directory);

  Temporary(Temporary&&) = default;
  Temporary& operator=(Temporary&&) = delete;
  ~Temporary();

  int fd() const { return fd_.get(); }
  // Removes what is a temporary still, and gives up the descriptor.
  UniqueFd finish();
  // In place of whatever had the name.
  Status put(const std::string& name);
  // The same for a name that a regular file has: that one is now the temporary, and is removed.
  Status exchange(const std::string& name);

 private:
  Temporary(int directory, std::string name, UniqueFd fd) : directory_(directory), name_(name), fd_(std::move(fd)) {}
  int directory_;
  std::string name_;  // empty once it was put
  UniqueFd fd_;
};

// Files that took the place of others and are to be written out while nobody waits. A rename over a file makes ext4 do
// so at once, so that a crash of the machine leaves the one or the other and not an empty one (ext4(5), auto_da_alloc);
// the exchange by which files are replaced here does not. What had the name before is held until then as well: the
// kernel gives up the blocks of a file with its last descriptor, and waits for those that are on their way to the disk.
class Unsettled {
 public:
  void add(UniqueFd file, UniqueFd replaced = UniqueFd());
  bool empty() const { return files_.empty(); }
  void settle();

 private:
  std::vector<UniqueFd> files_;
  std::vector<UniqueFd> replaced_;
};

// A file on its way: written beside its place, which it takes whole.
class Replacement {
 public:
  // Makes the directories on the way.
  static Result<Replacement> begin(const wire::FilePlace& place, std::optional<std::uint32_t> mode,
                                   std::optional<wire::FileVersion> expected);
  const wire::FilePlace& place() const { return place_; }
  Status append(std::string_view bytes);
  Result<wire::FileWritten> put(Unsettled& unsettled);

 private:
  Replacement(wire::FilePlace place, std::uint32_t mode, std::optional<wire::FileVersion> expected, Found found,
              Temporary file)
      : place_(std::move(place)), mode_(mode), expected_(expected), found_(std::move(found)), file_(std::move(file)) {}
  wire::FilePlace place_;
  std::uint32_t mode_;
  std::optional<wire::FileVersion> expected_;
  Found found_;  // its directory outlives the temporary in it
  Temporary file_;
};

Result<wire::FileWritten> write_file(const wire::WriteFile& request, Unsettled& unsettled);

}  // namespace hutch::guest
