// Keeps the contents of directories, with the time of their last change.
#include "host/paths/listings.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>

namespace hutch::host {

namespace {

// A sandbox can rename directories for ever, and each name would be kept. Beyond this limit all are dropped and read
// again.
constexpr std::size_t kListingsMax = 1 << 14;
constexpr std::size_t kEntriesMax = 1 << 16;

// A change within the same tick of the kernel's clock gets the same time (at 100 ticks a second; inode(7)).
constexpr std::int64_t kTickNs = 20'000'000;

bool is_of_no_repository(const sys::TreeEntry& entry) {
  const bool may_be_directory = entry.kind == sys::EntryKind::kDirectory || entry.kind == sys::EntryKind::kUnknown;
  return !may_be_directory && !tells_repository(entry.name);
}

std::int64_t now_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

bool tells_repository(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kNames = {".git", "HEAD", "objects", "refs", "hooks", "config"};
  return std::ranges::find(kNames, name) != kNames.end();
}

Result<std::vector<sys::TreeEntry>> Listings::of_repositories(int directory, const std::string& path) {
  const auto kept = listings_.find(path);
  const std::int64_t began = now_ns();
  const sys::FileStatus status = TRY(sys::file_status(directory, ""));
  const bool is_same = kept != listings_.end() && kept->second.device == status.device &&
                       kept->second.inode == status.inode && kept->second.changed_ns == status.changed_ns;
  if (is_same) return kept->second.entries;
  std::vector<sys::TreeEntry> entries = TRY(sys::names_in(directory, path));
  std::erase_if(entries, is_of_no_repository);
  keep(path, status, began, entries);
  return entries;
}

Result<std::vector<sys::TreeEntry>> Listings::read(int directory, const std::string& path) {
  const std::int64_t began = now_ns();
  const sys::FileStatus status = TRY(sys::file_status(directory, ""));
  std::vector<sys::TreeEntry> entries = TRY(sys::names_in(directory, path));
  std::vector<sys::TreeEntry> kept;
  std::ranges::remove_copy_if(entries, std::back_inserter(kept), is_of_no_repository);
  keep(path, status, began, std::move(kept));
  return entries;
}

void Listings::keep(const std::string& path, const sys::FileStatus& status, std::int64_t began_ns,
                    std::vector<sys::TreeEntry> entries) {
  const auto kept = listings_.find(path);
  if (kept != listings_.end()) {
    entries_ -= kept->second.entries.size();
    listings_.erase(kept);
  }
  if (listings_.size() >= kListingsMax || entries_ + entries.size() > kEntriesMax) {
    listings_.clear();
    entries_ = 0;
  }
  if (status.changed_ns >= began_ns - kTickNs || entries.size() > kEntriesMax) return;
  entries_ += entries.size();
  listings_.emplace(path, Listing{status.device, status.inode, status.changed_ns, std::move(entries)});
}

}  // namespace hutch::host
