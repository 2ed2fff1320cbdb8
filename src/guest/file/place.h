// Where a file of a request is: directories and names below its root, by descriptor.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "guest/file/root.h"
#include "sys/files/beneath.h"
#include "wire/files.h"

namespace hutch::guest {

// A name in a directory that was found, and what is there, if anything.
struct Found {
  UniqueFd directory;
  std::string name;
  std::optional<sys::FileStatus> status;
};

enum class Parents { kExpected, kMade };

// The last name of the place, itself not followed.
Result<Found> find_name(const wire::FilePlace& place, Parents parents);

// The file that the place means: symbolic links are followed, to one that is not there yet as well.
Result<Found> find_target(const wire::FilePlace& place, Parents parents);

// A directory, made with all that leads to it where it is missing.
Result<UniqueFd> make_directories(const Root& root, const std::string& path);

// "a/b" of "a/b/c" and "c"; refuses a path whose end is no name ("a/..").
struct SplitPath {
  std::string parent;
  std::string name;
};
Result<SplitPath> split_path(std::string path);

wire::FileStat to_wire(const sys::FileStatus& status);

// An error of the kernel about this place, in words; others are left as they are.
Error explained(Error error, const wire::FilePlace& place);

template <class T>
Result<T> explained(Result<T> result, const wire::FilePlace& place) {
  if (result) return result;
  return fail(explained(std::move(result).error(), place));
}

}  // namespace hutch::guest
