// What has changed in a directory of a sandbox between two looks at it.
#include "server/e2b/directory_watch.h"

#include <algorithm>

#include "base/text.h"
#include "server/e2b/costs.h"

namespace hutch::server {

namespace {

constexpr std::uint32_t kTreeDepth = 32;

bool is_written(const wire::FileStat& before, const wire::FileStat& after) {
  if (after.kind == wire::FileKind::kDirectory) return false;  // what is in it tells for itself
  return before.version.size != after.version.size || before.modified_ns != after.modified_ns ||
         before.target != after.target;
}

}  // namespace

std::vector<WatchEvent> changes_between(const Listing& before, const Listing& after) {
  std::vector<WatchEvent> events;
  std::map<std::uint64_t, std::string> arrived;  // files that were under another name
  for (const auto& [name, stat] : after) {
    const auto old = before.find(name);
    if (old == before.end() || old->second.version.inode != stat.version.inode) arrived[stat.version.inode] = name;
  }
  for (const auto& [name, stat] : before) {
    if (after.contains(name)) continue;
    events.push_back({name, arrived.contains(stat.version.inode) ? FileChange::kRenamed : FileChange::kRemoved});
  }
  std::map<std::uint64_t, const wire::FileStat*> known;
  for (const auto& [name, stat] : before) known[stat.version.inode] = &stat;
  for (const auto& [name, stat] : after) {
    const auto old = before.find(name);
    const wire::FileStat* same = old != before.end() ? &old->second : nullptr;
    if (same == nullptr || same->kind != stat.kind) {
      events.push_back({name, FileChange::kCreated, stat});
      const auto moved = known.find(stat.version.inode);
      const bool is_moved = moved != known.end() && !is_written(*moved->second, stat);
      if (stat.kind == wire::FileKind::kRegular && stat.version.size > 0 && !is_moved) {
        events.push_back({name, FileChange::kWritten, stat});
      }
      continue;
    }
    if (same->version.inode != stat.version.inode || is_written(*same, stat)) {
      events.push_back({name, FileChange::kWritten, stat});
    }
    if (same->mode != stat.mode) events.push_back({name, FileChange::kMode, stat});
  }
  return events;
}

Result<DirectoryWatch> DirectoryWatch::begin(const Ask& ask, wire::FilePlace place, Depth depth) {
  DirectoryWatch watch(std::move(place), depth);
  watch.seen_ = TRY(watch.list(ask));
  return watch;
}

Result<std::vector<WatchEvent>> DirectoryWatch::look(const Ask& ask) {
  Listing now = TRY(list(ask));
  std::vector<WatchEvent> events = changes_between(seen_, now);
  seen_ = std::move(now);
  return events;
}

// It is cut where it has the most entries that there may be, or before, by the bytes of their names.
Status check_whole(const wire::FileEntries& listing, std::string_view instead) {
  if (listing.found <= listing.entries.size()) return {};
  if (listing.entries.size() >= wire::kFileEntriesMax) {
    return fail(Error::invalid(cat({"more than ", std::to_string(wire::kFileEntriesMax), " entries: ", instead})));
  }
  return fail(Error::invalid(
      cat({"the names of ", std::to_string(listing.found), " entries, with what their links say, ",
           "are more than one answer holds (", std::to_string(listing.entries.size()), " of them): ", instead})));
}

Result<Listing> DirectoryWatch::list(const Ask& ask) {
  const std::uint32_t depth = depth_ == Depth::kTree ? kTreeDepth : 1;
  wire::FileReply reply = TRY(ask(wire::ListDirectory{place_, depth, wire::kFileEntriesMax}));
  auto* entries = std::get_if<wire::FileEntries>(&reply);
  if (entries == nullptr) return fail({Code::kSystem, 0, "the sandbox answered something else"});
  TRY(check_whole(*entries, "watch a directory below it"));
  bytes_ = e2b::cost_of(*entries);
  Listing listing;
  for (wire::FileEntry& entry : entries->entries) listing.emplace(std::move(entry.path), std::move(entry.stat));
  return listing;
}

}  // namespace hutch::server
