// What is below a directory.
#include "sandbox/tree/listing.h"

#include <algorithm>
#include <utility>

#include "sys/files/beneath.h"

namespace hutch::sandbox {

namespace {

using ListingClock = std::chrono::steady_clock;

class Walk {
 public:
  explicit Walk(const ListingLimits& limits) : limits_(limits), until_(ListingClock::now() + limits.time_max) {}
  Result<TreeListing> run(const std::string& directory);

 private:
  void enter(int directory, std::uint32_t at, std::size_t depth);
  void add_names(int directory, std::uint32_t at, std::vector<sys::TreeEntry> names);

  const ListingLimits& limits_;
  const ListingClock::time_point until_;
  std::uint64_t device_ = 0;
  TreeListing listing_{};
};

ListedFile listed(std::string name, const sys::FileStatus& status) {
  return {.name = std::move(name),
          .kind = status.kind,
          .inode = status.inode,
          .size = status.size,
          .modified_ns = status.modified_ns,
          .changed_ns = status.changed_ns};
}

Result<TreeListing> Walk::run(const std::string& directory) {
  const UniqueFd top = TRY(sys::open_listing(directory));
  const sys::FileStatus status = TRY(sys::file_status(top.get(), ""));
  device_ = status.device;
  listing_.files.push_back(listed("", status));
  enter(top.get(), 0, 0);
  return std::move(listing_);
}

// A name at a time, beneath a descriptor: there is no path in which a link could be put.
void Walk::enter(int directory, std::uint32_t at, std::size_t depth) {
  const std::size_t left = limits_.entries_max - std::min(limits_.entries_max, listing_.files.size());
  auto names = sys::first_names(directory, left);
  listing_.files[at].whole = names && names->size() < left && ListingClock::now() < until_;
  if (!names) return;
  add_names(directory, at, std::move(*names));
  const std::uint32_t first = listing_.files[at].first;
  for (std::uint32_t child = first; child < first + listing_.files[at].count; ++child) {
    if (listing_.files[child].kind != sys::EntryKind::kDirectory) continue;
    listing_.files[child].whole = false;
    if (depth + 1 >= limits_.depth_max || ListingClock::now() >= until_) continue;
    const auto below = sys::open_listing_at(directory, listing_.files[child].name);
    if (!below) continue;
    const auto status = sys::file_status(below->get(), "");
    if (status && status->device == device_) enter(below->get(), child, depth + 1);
  }
}

void Walk::add_names(int directory, std::uint32_t at, std::vector<sys::TreeEntry> names) {
  std::ranges::sort(names, {}, &sys::TreeEntry::name);
  listing_.files[at].first = static_cast<std::uint32_t>(listing_.files.size());
  for (sys::TreeEntry& entry : names) {
    const auto status = sys::file_status(directory, entry.name);
    // It has gone since its name was read.
    if (!status) continue;
    listing_.files.push_back(listed(std::move(entry.name), *status));
  }
  listing_.files[at].count = static_cast<std::uint32_t>(listing_.files.size()) - listing_.files[at].first;
}

}  // namespace

Result<TreeListing> list_tree(const std::string& directory, const ListingLimits& limits) {
  return Walk(limits).run(directory);
}

}  // namespace hutch::sandbox
