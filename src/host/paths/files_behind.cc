// Links and second names of the files in a protected directory.
#include "host/paths/files_behind.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/text.h"
#include "sys/files/beneath.h"
#include "sys/files/delegate.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"

namespace hutch::host {

namespace {

constexpr int kBehindLevelsMax = 3;
constexpr std::size_t kBehindMax = 1024;
constexpr std::string_view kPackages = "node_modules";  // holds no protected names
constexpr std::string_view kSample = ".sample";  // git runs none of these

Status look(const std::string& directory, int levels, FilesBehind& found) {
  const auto opened = sys::open_listing(directory);
  if (!opened) return {};
  for (const sys::TreeEntry& entry : TRY(sys::first_names(opened->get(), kBehindMax))) {
    std::string path = cat({directory, "/", entry.name});
    if (entry.kind == sys::EntryKind::kSymlink) {
      found.links.push_back(std::move(path));
    } else if (entry.kind == sys::EntryKind::kDirectory && levels < kBehindLevelsMax && entry.name != kPackages) {
      TRY(look(path, levels + 1, found));
    } else if (entry.kind == sys::EntryKind::kFile && !entry.name.ends_with(kSample)) {
      if (auto linked = linked_file(path)) found.linked.push_back(std::move(*linked));
    }
  }
  return {};
}

}  // namespace

Result<FilesBehind> files_behind(const std::string& directory) {
  FilesBehind found;
  TRY(look(directory, 1, found));
  return found;
}

bool obeys_directories(std::string_view directory) {
  static constexpr std::array<std::string_view, 6> kOfFiles = {"/hooks", "/.vscode", "/.idea",
                                                               "/.zed",  "/.fleet",  "/.husky"};
  return std::ranges::none_of(kOfFiles, [&](std::string_view name) { return directory.ends_with(name); });
}

std::optional<plan::LinkedFile> linked_file(const std::string& path) {
  // The supervisor asks for the numbers in the same way.
  const auto what = sys::look_at_name(sys::kCwd, path);
  const bool has_more = what && S_ISREG(what->mode) && what->links > 1;
  return has_more ? std::optional(plan::LinkedFile{what->device, what->inode, path}) : std::nullopt;
}

}  // namespace hutch::host
