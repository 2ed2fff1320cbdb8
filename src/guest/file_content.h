// Reading and replacing one file.
#pragma once

#include <optional>

#include "base/result.h"
#include "base/unique_fd.h"
#include "guest/file_place.h"
#include "wire/files.h"

namespace hutch::guest {

Result<wire::FileStat> stat_file(const wire::FilePlace& place);
Result<wire::FileContent> read_file(const wire::ReadFile& request);

// A new file or directory beside the one that it is to become; removed unless it was put there.
class Temporary {
 public:
  // An empty file of mode 0600, open for writing.
  static Result<Temporary> make_file(int directory);
  // A directory of mode 0700, open for reading.
  static Result<Temporary> make_directory(int directory);

  Temporary(Temporary&&) = default;
  Temporary& operator=(Temporary&&) = delete;
  ~Temporary();

  int fd() const { return fd_.get(); }
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

// What is left to do of a write once it has been answered.
class Afterwards {
 public:
  void take(UniqueFd directory, Temporary written);
  ~Afterwards();

 private:
  UniqueFd directory_;
  std::optional<Temporary> written_;
};

Result<wire::FileWritten> write_file(const wire::WriteFile& request, Afterwards& afterwards);

}  // namespace hutch::guest
