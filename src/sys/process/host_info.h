// What this machine and this process's surroundings are: uname(2), getdents64(2), realpath(3), getcwd(3), getenv(3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace hutch::sys {

struct SystemName {
  std::string kernel;   // the release, "6.1.0-18-amd64"
  std::string machine;  // "x86_64"
};
Result<SystemName> system_name();

// Bytes, as sysinfo(2) reports; 0 if it does not.
std::uint64_t memory_of_machine();

enum class EntryType { kFile, kDirectory, kSymlink, kOther };

struct DirectoryEntry {
  std::string name;
  EntryType type = EntryType::kOther;
};

// kStopAtNumbers ends at the first name that begins with a digit: /proc lists its own names before the processes, of
// which there may be thousands.
enum class Listing { kAll, kStopAtNumbers };

// The names in a directory except "." and "..", as the kernel orders them.
Result<std::vector<DirectoryEntry>> list_directory(const std::string& path, Listing listing);

// Absolute, existing, and without symlinks, "." and "..".
Result<std::string> canonical_path(const std::string& path);

// Absolute and canonical; an error where the current directory is gone or outside of this process's root.
Result<std::string> working_directory();

// The variable's value; none where it is not set.
std::optional<std::string> environment_variable(const char* name);

// Whether this process may execute the regular file at `path`.
bool is_executable_file(const std::string& path);

}  // namespace hutch::sys
