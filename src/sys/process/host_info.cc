// The wrappers of host_info.h.
#include "sys/process/host_info.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>

#include "sys/call.h"

namespace hutch::sys {

namespace {

// Small, so that the first answer for /proc holds few processes; each costs the kernel an inode.
constexpr std::size_t kBufferBytes = 1024;

EntryType entry_type(int directory, const dirent64& entry);

}  // namespace

Result<SystemName> system_name() {
  utsname name = {};
  TRY(check(::uname(&name), {"uname()"}));
  return SystemName{name.release, name.machine};
}

std::uint64_t memory_of_machine() {
  struct sysinfo info = {};
  if (::sysinfo(&info) < 0) return 0;
  return std::uint64_t{info.totalram} * info.mem_unit;
}

Result<std::vector<DirectoryEntry>> list_directory(const std::string& path, Listing listing) {
  const int raw = retry([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  const UniqueFd fd = TRY(check_fd(raw, {"open(", path, ")"}));
  std::vector<DirectoryEntry> entries;
  alignas(dirent64) std::array<char, kBufferBytes> buffer;
  for (;;) {
    const auto size = retry([&] { return ::getdents64(fd.get(), buffer.data(), buffer.size()); });
    TRY(check(size, {"getdents64(", path, ")"}));
    if (size == 0) return entries;
    for (std::ptrdiff_t at = 0; at < size;) {
      const auto& entry = *reinterpret_cast<const dirent64*>(buffer.data() + at);
      at += entry.d_reclen;
      const std::string_view name = entry.d_name;
      if (name == "." || name == "..") continue;
      if (listing == Listing::kStopAtNumbers && name.front() >= '0' && name.front() <= '9') return entries;
      entries.push_back({std::string(name), entry_type(fd.get(), entry)});
    }
  }
}

Result<std::string> canonical_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> answer(::realpath(path.c_str(), nullptr), &std::free);
  TRY(check(answer ? 0 : -1, {"realpath(", path, ")"}));
  return std::string(answer.get());
}

Result<std::string> working_directory() {
  std::array<char, 4096> buffer;
  TRY(check(::getcwd(buffer.data(), buffer.size()) ? 0 : -1, {"getcwd()"}));
  std::string path = buffer.data();
  // getcwd(3): the kernel answers "(unreachable)/..." for a directory outside of the root.
  if (!path.starts_with('/')) return fail(Error::not_found("getcwd(): the current directory cannot be reached"));
  return path;
}

std::optional<std::string> environment_variable(const char* name) {
  const char* value = ::getenv(name);
  if (!value) return std::nullopt;
  return value;
}

bool is_executable_file(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0;
}

namespace {

EntryType entry_type(int directory, const dirent64& entry) {
  switch (entry.d_type) {
    case DT_REG: return EntryType::kFile;
    case DT_DIR: return EntryType::kDirectory;
    case DT_LNK: return EntryType::kSymlink;
    case DT_UNKNOWN: break;  // some file systems do not say (readdir(3))
    default: return EntryType::kOther;
  }
  struct stat status = {};
  if (::fstatat(directory, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return EntryType::kOther;
  if (S_ISREG(status.st_mode)) return EntryType::kFile;
  if (S_ISDIR(status.st_mode)) return EntryType::kDirectory;
  return S_ISLNK(status.st_mode) ? EntryType::kSymlink : EntryType::kOther;
}

}  // namespace

}  // namespace hutch::sys
