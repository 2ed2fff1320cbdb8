// Walks below a directory.
#include "guest/file/walk.h"

#include <fnmatch.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "guest/file/place.h"
#include "sys/files/beneath.h"

namespace hutch::guest {

namespace {

// A walk ends early, whatever was asked for: names looked at, bytes of directories that wait, bytes of an answer.
constexpr std::size_t kNamesMax = 500'000;
constexpr std::size_t kWaitingBytesMax = 64 << 20;
constexpr std::size_t kAnswerBytesMax = 6 << 20;

struct Walk {
  UniqueFd top;
  const std::string* pattern = nullptr;  // of regular files; none: everything
  std::uint32_t depth_max = 1;
  std::uint32_t entries_max = 0;
};

// Keeps no descriptor for a level, so that no depth is too deep: each directory is opened by its path from the top on,
// without any symbolic link, and gone through in one go.
class Walker {
 public:
  explicit Walker(Walk walk) : walk_(std::move(walk)) {}
  Result<wire::FileEntries> run();

 private:
  struct Waiting {
    std::string path;  // empty: the top
    std::uint32_t depth = 0;
  };
  Status look_into(const Waiting& directory);
  Status see(int directory, sys::TreeEntry entry, const Waiting& in);
  void add(int directory, const std::string& name, std::string path, const sys::FileStatus& status);

  Walk walk_;
  std::deque<Waiting> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::size_t names_left_ = kNamesMax;
  std::size_t answer_bytes_ = 0;
  wire::FileEntries found_;
};

Result<UniqueFd> open_top(const wire::FilePlace& place);

}  // namespace

Result<wire::FileEntries> list_directory(const wire::ListDirectory& request) {
  return Walker({TRY(open_top(request.place)), nullptr, request.depth_max, request.entries_max}).run();
}

Result<wire::FileEntries> find_files(const wire::FindFiles& request) {
  constexpr auto kAnyDepth = std::numeric_limits<std::uint32_t>::max();
  return Walker({TRY(open_top(request.place)), &request.pattern, kAnyDepth, request.entries_max}).run();
}

namespace {

Result<wire::FileEntries> Walker::run() {
  // Of the top an error is told; what disappears further down is passed over, and what is closed is counted.
  TRY(look_into({}));
  while (!waiting_.empty() && names_left_ > 0) {
    const Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= next.path.size();
    const Status looked = look_into(next);
    if (!looked && looked.error().sys_errno == EACCES) ++found_.unread;
  }
  return std::move(found_);
}

Status Walker::look_into(const Waiting& directory) {
  const std::string path = directory.path.empty() ? "." : directory.path;
  const UniqueFd fd = TRY(sys::open_beneath(walk_.top.get(), path, sys::Beneath::kListing));
  auto names = TRY(sys::first_names(fd.get(), names_left_));
  names_left_ -= names.size();
  std::ranges::sort(names, {}, &sys::TreeEntry::name);
  for (sys::TreeEntry& entry : names) (void)see(fd.get(), std::move(entry), directory);
  return {};
}

// Counting needs the kind alone, which the directory mostly tells by itself.
Status Walker::see(int directory, sys::TreeEntry entry, const Waiting& in) {
  std::optional<sys::FileStatus> status;
  if (entry.kind == sys::EntryKind::kUnknown) {
    status = TRY(sys::file_status(directory, entry.name));
    entry.kind = status->kind;
  }
  std::string path = in.path.empty() ? entry.name : cat({in.path, "/", entry.name});
  const bool is_directory = entry.kind == sys::EntryKind::kDirectory;
  const bool goes_on = is_directory && in.depth + 1 < walk_.depth_max && path.size() <= limits::kPathBytesMax;
  if (goes_on && waiting_bytes_ < kWaitingBytesMax) {
    waiting_bytes_ += path.size();
    waiting_.push_back({path, in.depth + 1});
  }
  if (walk_.pattern != nullptr) {
    if (entry.kind != sys::EntryKind::kFile) return {};
    if (::fnmatch(walk_.pattern->c_str(), entry.name.c_str(), 0) != 0) return {};
  }
  ++found_.found;
  if (found_.entries.size() >= walk_.entries_max || answer_bytes_ >= kAnswerBytesMax) return {};
  if (path.size() > limits::kPathBytesMax) return {};
  if (!status) status = TRY(sys::file_status(directory, entry.name));
  add(directory, entry.name, std::move(path), *status);
  return {};
}

void Walker::add(int directory, const std::string& name, std::string path, const sys::FileStatus& status) {
  wire::FileEntry entry{std::move(path), to_wire(status)};
  if (status.kind == sys::EntryKind::kSymlink) {
    auto text = sys::link_text(directory, name);
    if (text) entry.stat.target = std::move(*text);
  }
  static constexpr std::size_t kFixedBytes = 64;
  answer_bytes_ += kFixedBytes + entry.path.size() + entry.stat.target.size();
  found_.entries.push_back(std::move(entry));
}

Result<UniqueFd> open_top(const wire::FilePlace& place) {
  const Root root = TRY(open_root(place));
  return open_below(root, place.path, sys::Beneath::kDirectory);
}

}  // namespace

}  // namespace hutch::guest
